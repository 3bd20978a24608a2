"""Files changed at random, but never twice alike without its number: mutant `number` of a seed is always the same."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import zipfile
from typing import Any

import numpy as np

from raygrove.app.scene_io.gltf_texts import GLB, parts_of, put_together

CRATES = ("usdc", "usdz", "tipsy", "xtc", "trr", "dcd", "nc", "gsd", "las", "laz")
"""Endings of files without a word of text."""
BINARY_FBX = b"Kaydara"
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
EXTREMES = (b"0", b"-1", b"1e39", b"nan", b"inf", b"2147483648", b"4294967295", b"-9223372036854775809", b"1e-46", b"")
WORDS = (b"\0", b"\xff\xfe", b"\x1b[2J", b"../../x", b"/dev/zero", b"%n", b"\n", b"}" * 9, b"[" * 40, b"\xe2\x80\xae")
BINARY = (bytes(4), b"\xff" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\0\0\xc0\x7f", b"\0\0\x80\x7f", b"\1\0\0\0")
"""Words of binary files: none, -1, the largest and the least number, not a number, infinite, one."""
VALUES: tuple[Any, ...] = (None, -1, 0, 1 << 31, 1 << 63, 1e308, "", "../x", [], {}, True, [[[]]])


def mutant(data: bytes, ending: str, generator: random.Random) -> bytes:
    """The file changed in one to four ways."""
    for _ in range(generator.choice((1, 1, 2, 4))):
        changes = [_cut, _flip, _repeat, _remove, _insert]
        changes += (
            [_number] * 4 if ending not in ("glb", "png", "3ds", *CRATES) and not data.startswith(BINARY_FBX) else []
        )
        changes += [_document] * 8 if ending in ("glb", "gltf") else []
        changes += (
            [_word] * 6 if ending in ("glb", "fbx", "3ds", "bin", "stl", "ply", "rgtree", "pcd", "vtk", *CRATES) else []
        )
        changes += [_arrays] * 10 if ending == "npz" else []
        changes += [_line] * 4 if ending == "toml" else []
        data = generator.choice(changes)(data, generator)
    return data


def _place(data: bytes, generator: random.Random) -> int:
    return generator.randrange(len(data) + 1)


def _cut(data: bytes, generator: random.Random) -> bytes:
    return data[: _place(data, generator)]


def _flip(data: bytes, generator: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(generator.choice((1, 4, 32)) if data else 0):
        changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
    return bytes(changed)


def _repeat(data: bytes, generator: random.Random) -> bytes:
    start = _place(data, generator)
    return (
        data[:start] + data[start : start + generator.choice((1, 16, 200))] * generator.choice((2, 30)) + data[start:]
    )


def _remove(data: bytes, generator: random.Random) -> bytes:
    start = _place(data, generator)
    return data[:start] + data[start + generator.choice((1, 4, 64, 1000)) :]


def _insert(data: bytes, generator: random.Random) -> bytes:
    start = _place(data, generator)
    return data[:start] + generator.choice(WORDS) + data[start:]


def _number(data: bytes, generator: random.Random) -> bytes:
    """One of the text's numbers becomes an extreme one."""
    found = list(NUMBER.finditer(data[:200_000]))
    if not found:
        return data
    one = generator.choice(found)
    return data[: one.start()] + generator.choice(EXTREMES) + data[one.end() :]


def _word(data: bytes, generator: random.Random) -> bytes:
    """One of the 4-byte words of a binary file becomes an extreme one, or another word of it."""
    count = len(data) // 4
    if not count:
        return data
    at, other = 4 * generator.randrange(count), 4 * generator.randrange(count)
    word = generator.choice((*BINARY, data[other : other + 4]))
    return data[:at] + word + data[at + 4 :]


def _line(data: bytes, generator: random.Random) -> bytes:
    """Of two lines of a table of keys and values, one gets the other's value, so that each is well written."""
    lines = data.split(b"\n")
    pairs = [index for index, line in enumerate(lines) if b" = " in line]
    if pairs:
        at, other = generator.choice(pairs), generator.choice(pairs)
        lines[at] = lines[at].split(b" = ")[0] + b" = " + lines[other].split(b" = ", 1)[1]
    return b"\n".join(lines)


UNFIT = (ValueError, TypeError, RuntimeError)
"""Texts and dates that are no numbers, for NumPy."""


def _arrays(data: bytes, generator: random.Random) -> bytes:
    """An archive of arrays with one of them in another shape or type, or with other values: well written, but wrong."""
    try:
        with np.load(io.BytesIO(data)) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile):
        return data
    name = generator.choice(sorted(arrays)) if arrays else "none"
    array = arrays.get(name, np.zeros(3))
    random_numbers = np.random.default_rng(generator.randrange(1 << 30))
    kind = generator.randrange(6)
    if kind == 0:
        array = array[..., :-1] if array.ndim else array
    elif kind == 1:
        array = array.reshape(-1)
    elif kind == 2:
        with np.errstate(all="ignore"), contextlib.suppress(*UNFIT):
            array = array.astype(generator.choice(("f8", "f2", "i8", "u1", "c8", "S3")))
    elif kind == 3 and array.size:
        array = array.copy()
        extreme = generator.choice((np.nan, np.inf, -1, 2**31 - 1, 1e30))
        with np.errstate(all="ignore"), contextlib.suppress(*UNFIT):
            array.reshape(-1)[random_numbers.integers(0, array.size, 3)] = np.array(extreme).astype(array.dtype)
    elif kind == 4:
        array = array[:0] if array.ndim else array
    else:
        array = np.repeat(array, 3, axis=0) if array.ndim else array
    made = io.BytesIO()
    np.savez(made, **{**arrays, name: array})
    return made.getvalue()


def _document(data: bytes, generator: random.Random) -> bytes:
    """One value of a glTF's JSON becomes another."""
    try:
        text, body = parts_of(data)
        document = json.loads(text or b"")
    except (ValueError, RecursionError):
        return data
    places = list(_places(document))
    if not places:
        return data
    container, key = generator.choice(places)
    value = container[key]
    if isinstance(value, int) and generator.random() < 0.5:
        container[key] = value + generator.choice((-1, 1, 1000, 1 << 32))
    else:
        container[key] = generator.choice(VALUES)
    return put_together(document, body, data[:4] == GLB)


def _places(value: Any) -> Any:
    """Every place of a document: what holds it, and its key there."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)
