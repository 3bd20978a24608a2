"""Words of a Collada file that libassimp knows in one spelling alone: names of columns (it takes the first number of a
row for each that has none of its names) and the axis that points upwards (Y for each that it does not know)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .collada_damage import without_unread
from .text_blocks import line_of

AXES = ("X_UP", "Y_UP", "Z_UP")
UP = re.compile(rb"<up_axis\b[^<>]*>([^<]*)</up_axis")
NAMES = {b"POSITION": b"XYZ", b"NORMAL": b"XYZ", b"COLOR": b"RGB", b"TEXCOORD": b"ST"}
"""What columns of a list are called, by what it means."""
NEEDED = (b"POSITION", b"NORMAL")
"""Lists that are nothing with fewer columns."""
KNOWN = ({b"X", b"R", b"S", b"U"}, {b"Y", b"G", b"T", b"V"}, {b"Z", b"B", b"P"})
"""What libassimp takes for the first, second and third number."""
MOST_COLUMNS = 16
INPUT, SOURCE = re.compile(rb"<input\b[^<>]*>"), re.compile(rb"<source\b([^<>]*[^<>/])>")
ACCESSOR = re.compile(rb"(<accessor\b[^<>]*?)(?:/>|>(.*?)</accessor\s*>)", re.DOTALL)
PARAM = re.compile(rb"<param\b([^<>]*?)/?>")
IN_ORDER = (
    "Lists whose columns have other names than Collada's (X Y Z, R G B, S T) were read in the order of their columns."
)
NO_AXIS = (
    "Its up_axis is {}, none of X_UP, Y_UP and Z_UP: Y points upwards, as where it is not said. If the model lies on "
    "its side, choose another axis by camera.up_axis."
)


class ColladaWordError(ValueError):
    """A list whose columns no reading fits; the text says which."""


class Change(NamedTuple):
    """What comes in the place of a piece of the file, and whether a person should hear that columns were taken by
    their order alone."""

    begin: int
    end: int
    text: bytes
    in_order: bool = False


def in_known_words(data: bytes) -> tuple[bytes, list[tuple[int, str]]]:
    """The file in words that libassimp knows, and what a person should be told, with a count; `ColladaWordError` where
    it cannot be."""
    seen = without_unread(data)
    changes, said = list(_columns(seen)), []
    if count := sum(one.in_order for one in changes):
        said.append((count, IN_ORDER))
    if found := UP.search(seen):  # the file's own stands before those of its parts
        word = found[1].decode("utf-8", "replace").strip()
        if word.upper() in AXES:
            changes.append(Change(*found.span(1), word.upper().encode()))
        else:
            said.append((1, NO_AXIS.format(repr(word[:40]))))
    return _with(data, sorted(changes)), said


def _with(data: bytes, changes: list[Change]) -> bytes:
    """The file with its changes, in rising order, copied once."""
    pieces, done = list[bytes](), 0
    for one in changes:
        pieces += (data[done : one.begin], one.text)
        done = one.end
    return b"".join([*pieces, data[done:]]) if pieces else data


def _attribute(words: bytes, name: bytes) -> bytes:
    found = re.search(rb"\b" + name + rb"\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", words)
    return (found[1] or found[2] or b"") if found else b""


def _columns(data: bytes) -> Iterator[Change]:
    """Accessors whose columns libassimp would not tell apart."""
    meant: dict[bytes, bytes] = {}
    for one in INPUT.finditer(data):
        if (semantic := _attribute(one[0], b"semantic")) in NAMES:
            meant[_attribute(one[0], b"source").removeprefix(b"#")] = semantic
    for source in SOURCE.finditer(data):
        semantic = meant.get(_attribute(source[1], b"id"), b"")
        end = data.find(b"</source", source.end())
        accessor = ACCESSOR.search(data, source.end(), end) if semantic and end > 0 else None
        if accessor is None:
            continue
        width = len(NAMES[semantic])
        names = [_attribute(one[1], b"name") for one in PARAM.finditer(accessor[2] or b"")]
        if all(known & {*names} for known in KNOWN[:width]):
            continue
        new, in_order = _names(names, accessor[1], NAMES[semantic])
        if new:
            params = b"".join(b'<param name="%s" type="float"/>' % name for name in new)
            yield Change(*accessor.span(), accessor[1] + b">" + params + b"</accessor>", in_order)
        elif semantic in NEEDED:
            what, told = semantic.decode().lower(), b", ".join(name or b"no name" for name in names) or b"none"
            place = f"<accessor> at line {line_of(data, accessor.start()):,}"
            theirs = told[:60].decode("utf-8", "replace")
            raise ColladaWordError(f"{place} is for {what}s, which have the columns X, Y and Z; its own: {theirs}")


def _names(names: list[bytes], head: bytes, wanted: bytes) -> tuple[list[bytes], bool]:
    """Names for the columns by their letters in another case, else by their order, and whether it was by that; none for
    fewer columns than are wanted."""
    letters, upper = [bytes([letter]) for letter in wanted], [name.upper() for name in names]
    if {*letters} <= {*upper}:
        return upper, False
    stride = _attribute(head, b"stride")
    count = len(names) or (int(stride) if stride.isdigit() else 1)
    if not len(letters) <= count <= MOST_COLUMNS:
        return [], False
    return [*letters, *[b""] * (count - len(letters))], True
