"""Files changed at random, but never twice alike without its number: mutant `number` of a seed is always the same."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from raygrove.app.scene_io.gltf_texts import GLB, parts_of, put_together

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
EXTREMES = (b"0", b"-1", b"1e39", b"nan", b"inf", b"2147483648", b"4294967295", b"-9223372036854775809", b"1e-46", b"")
WORDS = (b"\0", b"\xff\xfe", b"\x1b[2J", b"../../x", b"/dev/zero", b"%n", b"\n", b"}" * 9, b"[" * 40, b"\xe2\x80\xae")
VALUES: tuple[Any, ...] = (None, -1, 0, 1 << 31, 1 << 63, 1e308, "", "../x", [], {}, True, [[[]]])


def mutant(data: bytes, ending: str, generator: random.Random) -> bytes:
    """The file changed in one to four ways."""
    for _ in range(generator.choice((1, 1, 2, 4))):
        changes = [_cut, _flip, _repeat, _remove, _insert]
        changes += [_number] * 4 if ending not in ("glb", "png", "fbx") else []
        changes += [_document] * 8 if ending in ("glb", "gltf") else []
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
