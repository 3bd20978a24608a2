"""Points that faces of an OFF or a 3DS name and that are not there: libassimp takes the last one in their stead and
says nothing, so that another triangle is drawn. Also what else of these two formats no reader can take, for a
sentence where libassimp has refused them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from .number_rows import numbers_of, rows_fault, shown
from .text_blocks import Text, blocks

LONGEST = 60
COUNTS = 3
"""Numbers of an OFF's vertices, faces and edges; the last is often left out."""
OFF_WIDTH = 3
"""Numbers of a vertex at least; a normal or a colour may stand behind."""
CHUNK = struct.Struct("<HI")
MAIN, EDITOR, OBJECT, MESH, POINTS, FACES = 0x4D4D, 0x3D3D, 0x4000, 0x4100, 0x4110, 0x4120
FOLDERS = (MAIN, EDITOR, MESH)
"""Chunks of a 3DS that hold others; in an object they stand behind its name."""
POINT_BYTES, FACE_BYTES = 12, 8


def index_damage(data: Text, extension: str) -> str:
    """The first face that names a point that is not there, with its place; "" where there is none."""
    if extension == "off":
        return _off(data)[0]
    return next((why for why, is_index in _of_3ds(data[:]) if is_index), "") if extension == "3ds" else ""


def fault_of(data: bytes, extension: str) -> str:
    """The first thing that no reader of the format can take, with its place; "" where none is found."""
    if extension == "off":
        return next(filter(None, _off(data)), "")
    return next((why for why, _ in _of_3ds(data)), "") if extension == "3ds" else ""


# OFF ---------------------------------------------------------------------------------------------------------------


def _off(text: Text) -> tuple[str, str]:
    """The first face that names a point that is not there; what else is wrong."""
    rows = _Rows(text)
    number, line = rows.one()
    head = line.split()
    if not head or not head[0].upper().endswith(b"OFF") or b"BINARY" in (word.upper() for word in head):
        return "", ""
    if len(head) == 1:
        number, line = rows.one()
    counts = head[1:] if len(head) > 1 else line.split()
    if not all(word.isdigit() for word in counts[:COUNTS]) or len(counts) < COUNTS - 1:
        return "", f"line {number:,} should say how many vertices, faces and edges there are"
    vertices, count = int(counts[0]), int(counts[1])
    for some in rows.take(vertices):
        if wrong := rows_fault(some, OFF_WIDTH, is_least=True):
            return wrong, ""
    for some in rows.take(count):
        if not _are_alike(some, vertices):
            for at, row in some:
                if why := _face_fault(row.split(), vertices):
                    return f"line {at:,}, {shown(row)}: {why}", ""
    if rows.taken < vertices + count:
        said = f"line {number:,} says {vertices:,} vertices and {count:,} faces"
        return "", f"{said}, and {rows.taken:,} lines of data are there"
    return "", ""


class _Rows:
    """Lines with words, numbered from 1, without comments, some at a time; `taken` of them."""

    def __init__(self, text: Text) -> None:
        self._held: list[tuple[int, bytes]] = []
        self._more, self.taken = self._read(text), 0

    def _read(self, text: Text) -> Iterator[list[tuple[int, bytes]]]:
        first = 1
        for _, block in blocks(text):
            lines = [line.partition(b"#")[0] for line in block.splitlines()]
            yield [(number, line) for number, line in enumerate(lines, first) if line and not line.isspace()]
            first += len(lines)

    def one(self) -> tuple[int, bytes]:
        """The next one, which is none of those that are `taken`; an empty one at the end."""
        while not self._held:
            more = next(self._more, None)
            if more is None:
                return 1, b""
            self._held = more
        return self._held.pop(0)

    def take(self, count: int) -> Iterator[list[tuple[int, bytes]]]:
        """The next `count`, or as many as there are."""
        end = self.taken + count
        while self.taken < end:
            some, self._held = self._held[: end - self.taken], self._held[end - self.taken :]
            if some:
                self.taken += len(some)
                yield some
                continue
            more = next(self._more, None)
            if more is None:
                return
            self._held = more


def _are_alike(faces: list[tuple[int, bytes]], vertices: int) -> bool:
    """Whether all faces have as many corners, all of which are there, and nothing else; as long lists are looked at."""
    numbers = numbers_of(b" ".join(line for _, line in faces))
    if numbers is None or not faces or len(numbers) % len(faces):
        return False
    table = numbers.reshape(len(faces), -1)
    return bool((table[:, 0] == table.shape[1] - 1).all() and (table >= 0).all() and (table[:, 1:] < vertices).all())


def _face_fault(words: list[bytes], vertices: int) -> str:
    if not words[0].isdigit() or len(words) <= int(words[0]):
        return "a face has a number of corners and as many vertices"
    for word in words[1 : 1 + int(words[0])]:
        if not word.isdigit():
            return f"{word.decode('ascii', 'backslashreplace')[:LONGEST]} is not the number of a vertex"
        if int(word) >= vertices:
            return f"there is no vertex {int(word):,}, only {vertices:,} are there, counted from 0"
    return ""


# 3DS ---------------------------------------------------------------------------------------------------------------


def _of_3ds(data: bytes) -> Iterator[tuple[str, bool]]:
    """What is wrong, in the order of the file, and whether it is a face's point."""
    if len(data) < CHUNK.size or CHUNK.unpack_from(data)[0] != MAIN:
        yield "it does not begin as a 3DS", False
        return
    stack, points, faces = [(0, len(data))], 0, np.zeros((0, 3), np.uint16)
    while stack:
        place, end = stack.pop()
        if end - place < CHUNK.size:
            continue
        kind, length = CHUNK.unpack_from(data, place)
        begin, after = place + CHUNK.size, place + length
        if length < CHUNK.size or after > end:
            yield f"its part at byte {place:,} should have {length:,} bytes, and {end - place:,} are there", False
            return
        stack.append((after, end))
        if kind == MESH:
            points = 0
        if kind in FOLDERS:
            stack.append((begin, after))
        elif kind == OBJECT:
            name = data.find(b"\0", begin, after)
            stack += [(name + 1, after)] if name >= 0 else []
        elif kind in (POINTS, FACES):
            size = POINT_BYTES if kind == POINTS else FACE_BYTES
            count = int.from_bytes(data[begin : begin + 2], "little")
            there = max(after - begin - 2, 0) // size
            if there < count:
                yield f"its list at byte {place:,} should have {count:,} entries, and {there:,} are there", False
                return
            if kind == POINTS:
                points = count
            else:
                faces = np.frombuffer(data, "<u2", 4 * count, begin + 2).reshape(count, 4)[:, :3]
            if kind == FACES and points and (wrong := np.flatnonzero((faces >= points).any(axis=1))).size:
                named = int(faces[wrong[0]].max())
                why = f"face {int(wrong[0]):,} of its list at byte {place:,} names the point {named:,}"
                yield f"{why}, and {points:,} are there, counted from 0", True
