"""What libassimp leaves out of an OBJ's materials and says nothing of: of one that no library has it makes a plain one
of that name, and it skips pictures of what is reflected."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from raygrove.gpu.scene import Remark

from .text_blocks import Text

USED = re.compile(rb"\nusemtl[ \t]+([^\r\n]*)")
MADE = re.compile(rb"^[ \t]*newmtl[ \t]+([^\r\n]*)", re.MULTILINE)
REFLECTED = re.compile(rb"^[ \t]*(?:map_)?refl[ \t]", re.MULTILINE | re.IGNORECASE)
REFLECTIONS = "Pictures of what materials reflect (refl) are not drawn."
SHOWN, LONGEST = 3, 60
"""So many are named, by so many letters at most."""


def remarks_of(text: Text, libraries: Iterable[str]) -> list[Remark]:
    """Both, of an OBJ whose libraries were opened."""
    contents = [Path(path).read_bytes() for path in libraries]
    unknown, reflections = unknown_materials(text, contents), sum(len(REFLECTED.findall(one)) for one in contents)
    said = [Remark(len(unknown), said_of(unknown))] if unknown else []
    return [*said, Remark(reflections, REFLECTIONS)] if reflections else said


def unknown_materials(text: Text, libraries: Iterable[bytes]) -> list[str]:
    """The names that `usemtl` has and none of the libraries' texts, in the order of their first use."""
    first = re.match(rb"usemtl[ \t]+([^\r\n]*)", text[:4096])
    used = dict.fromkeys([first[1].strip()] if first else [])
    used |= dict.fromkeys(one[1].strip() for one in USED.finditer(text))
    if not used:
        return []
    for library in libraries:
        for one in MADE.finditer(library):
            used.pop(one[1].strip(), None)
    return [name.decode("utf-8", "replace") for name in used if name]


def said_of(names: list[str]) -> str:
    """What is told of them."""
    listed = ", ".join(name[:LONGEST] for name in names[:SHOWN])
    listed += f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"Materials that no library of the model has are drawn plain: {listed}. Export it with its materials."
