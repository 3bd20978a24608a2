"""The machine code of units, to be compared."""

from __future__ import annotations

import re
import struct
import subprocess

from raygrove.gpu.target import host_compiler
from raygrove.gpu.target.translation_unit import ROOT
from tests.waiting import PROCESS_S


def code_of(image: bytes) -> dict[str, bytes]:
    """The code of every kernel in a cubin, an ELF file, by the name of its section."""
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", image, table + i * size) for i in range(count)]
    found = {}
    for name_at, _, _, _, first, length in sections:
        start = sections[names][4] + name_at
        name = image[start : image.index(b"\0", start)].decode()
        if name.startswith(".text."):
            found[name] = image[first : first + length]
    assert found, "the cubin has no code"
    return found


def assembly_of(text: str) -> str:
    """What the host's compiler makes of a unit at its full level, in the flags of the host target; labels have no
    numbers."""
    flags = [host_compiler.FULL, *(flag for flag in host_compiler._FLAGS if flag != "-shared")]
    command = [*host_compiler.find_compiler(), *flags, f"-I{ROOT}", "-x", "c++", "-", "-S", "-o", "-"]
    made = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=PROCESS_S)
    return re.sub(r"\.L\w*\d+", ".L", made.stdout)
