"""Points of VTK's XML files (.vtp, and .vtu without its cells) with the data of their points: text, base64 and appended
data, raw or base64, plain or packed by zlib or LZMA.

https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
"""

from __future__ import annotations

import base64
import binascii
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np

from .columns import frame_of, numbers
from .frame import Frame, ParticleError, Source

TYPES = {
    "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2", "Int32": "i4", "UInt32": "u4", "Int64": "i8",
    "UInt64": "u8", "Float32": "f4", "Float64": "f8",
}  # fmt: skip
APPENDED = re.compile(rb"<AppendedData\b([^>]*)>\s*_")
UNPACKERS: dict[str, Callable[[], Any]] = {
    "": zlib.decompressobj, "vtkZLibDataCompressor": zlib.decompressobj, "vtkLZMADataCompressor": lzma.LZMADecompressor,
}  # fmt: skip
PLACES = ("PolyData", "UnstructuredGrid", "StructuredGrid")


def read(source: Source) -> Iterator[Frame]:
    """One frame: the points of all pieces."""
    document = _Document(source)
    pieces = [piece for place in PLACES for piece in document.root.findall(f"{place}/Piece")]
    if not pieces:
        raise ParticleError("it has no piece with points")
    parts = [document.piece(piece) for piece in pieces]
    parts = [part for part in parts if len(part["points"])]
    if not parts:
        is_lost = any(piece.get("NumberOfPoints", "0").strip() != "0" for piece in pieces)
        raise ParticleError("the array of its points is not there as a whole" if is_lost else "no points are in it")
    shared = [name for name in parts[0] if all(name in part for part in parts)]
    widths = {name: {part[name].shape[1:] for part in parts} for name in shared}
    columns = {name: np.concatenate([part[name] for part in parts]) for name in shared if len(widths[name]) == 1}
    yield frame_of(columns)


class _Document:
    """The XML, and how its arrays are written."""

    def __init__(self, source: Source) -> None:
        self.source = source
        data = source.read()
        match = APPENDED.search(data)
        self.appended = b""
        self.is_raw = False
        if match is not None:
            self.is_raw = b'"raw"' in match[1] or b"'raw'" in match[1]
            end = data.rfind(b"</AppendedData>")
            self.appended = data[match.end() : end if end > match.end() else len(data)]
            data = data[: match.start()] + b"</VTKFile>"
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise ParticleError("it declares entities, which no VTK file does")
        try:
            self.root = ElementTree.fromstring(data)
        except ElementTree.ParseError as error:
            self.root = _before_the_cut(data, error)
            source.remark("The file is cut short: the arrays that are whole were read.")
        self.order = ">" if self.root.get("byte_order") == "BigEndian" else "<"
        self.counts = "u8" if self.root.get("header_type") == "UInt64" else "u4"
        packer = self.root.get("compressor", "")
        if packer not in UNPACKERS:
            raise ParticleError(f"its arrays are packed by {packer!r}, which is not known")
        self.packer = packer
        self.unpacked = 0

    def piece(self, piece: ElementTree.Element) -> dict[str, np.ndarray]:
        """The points and the data of the points of one piece."""
        points = piece.find("Points/DataArray")
        count = _whole(piece.get("NumberOfPoints", "0"))
        if points is None and count:
            self.source.remark(f"A piece of the file lacks its {count:,} points.")
        if points is None or not count:
            return {"points": np.zeros((0, 3))}
        self.source.expect(count)
        if any(_whole(piece.get(name, "0")) for name in ("NumberOfPolys", "NumberOfStrips", "NumberOfCells")):
            if self.root.get("type") != "UnstructuredGrid" or piece.find("Cells") is not None:
                self.source.remark("Only the points of the file are shown, not its cells.")
        result = {"points": self._array(points, count, 3)}
        for entry in piece.findall("PointData/DataArray"):
            name, width = entry.get("Name", "data"), _whole(entry.get("NumberOfComponents", "1"))
            try:
                values = self._array(entry, count, max(width, 1))
            except ParticleError as error:
                self.source.remark(f"The array {name!r} was left out: {error}.")
                continue
            result.setdefault(name, values[:, 0] if width <= 1 else values)
        return result

    def _array(self, entry: ElementTree.Element, count: int, width: int) -> np.ndarray:
        kind, form, name = TYPES.get(entry.get("type", "")), entry.get("format", "ascii"), entry.get("Name", "Points")
        if kind is None:
            raise ParticleError(f"the array {name!r} has the type {entry.get('type')!r}")
        try:
            if form == "ascii":
                values = numbers((entry.text or "").encode("utf-8", "replace").split())
            else:
                values = np.frombuffer(self._bytes(entry, form), f"{self.order}{kind}")
        except (ValueError, binascii.Error, zlib.error, lzma.LZMAError) as error:
            raise ParticleError(f"the array {name!r} is damaged ({error})") from error
        if len(values) != count * width:
            raise ParticleError(
                f"the array {name!r} should have {count * width:,} numbers, and {len(values):,} are there"
            )
        return values.reshape(count, width)

    def _bytes(self, entry: ElementTree.Element, form: str) -> bytes:
        if form == "binary":
            return self._unpacked("".join((entry.text or "").split()).encode("ascii", "replace"), False)
        offset = _whole(entry.get("offset", "0"))
        if form != "appended" or offset > len(self.appended):
            raise ParticleError(f"the array {entry.get('Name')!r} lies outside the file")
        return self._unpacked(self.appended[offset:], self.is_raw)

    def _unpacked(self, data: bytes, is_raw: bool) -> bytes:
        """The bytes behind a head that tells their length, or of packed blocks their count and lengths."""
        item = np.dtype(self.counts).itemsize
        if not self.packer:
            head, body = self._split(data, item, is_raw, self._length)
            return body[: int(head[0])]
        (blocks,) = self._numbers(data, 1, is_raw)
        if blocks * item > len(data):
            raise ParticleError("the head of its packed arrays is damaged")
        head, body = self._split(data, item * (3 + int(blocks)), is_raw, lambda head: int(head[3:].sum()))
        at, parts = 0, []
        for length in head[3:]:
            parts.append(self._block(body[at : at + int(length)]))
            at += int(length)
        return b"".join(parts)

    def _block(self, packed: bytes) -> bytes:
        """What a block unpacks to, and no more than the whole file may."""
        unpacker = UNPACKERS[self.packer]()
        plain: bytes = unpacker.decompress(packed, self.source.unpacked_most() - self.unpacked + 1)
        self.unpacked += len(plain)
        self.source.expect_unpacked(self.unpacked)
        if not unpacker.eof:
            raise zlib.error("a block ends before its end")
        return plain

    @staticmethod
    def _length(head: np.ndarray) -> int:
        return int(head[0])

    def _numbers(self, data: bytes, count: int, is_raw: bool) -> np.ndarray:
        size = count * np.dtype(self.counts).itemsize
        plain = data[:size] if is_raw else base64.b64decode(data[: _base64_size(size)])
        if len(plain) < size:
            raise ParticleError("an array has no head")
        return np.frombuffer(plain, f"{self.order}{self.counts}", count).astype(np.int64)

    def _split(
        self, data: bytes, size: int, is_raw: bool, length: Callable[[np.ndarray], int]
    ) -> tuple[np.ndarray, bytes]:
        """The head of `size` bytes as numbers, and what follows. In base64 the head of packed data is encoded by
        itself, that of plain data together with them."""
        head = self._numbers(data, size // np.dtype(self.counts).itemsize, is_raw)
        needed = length(head)
        if needed < 0 or (head < 0).any():
            raise ParticleError("an array has a length below 0")
        if is_raw:
            body = data[size : size + needed]
        elif self.packer:
            start = _base64_size(size)
            body = base64.b64decode(data[start : start + _base64_size(needed)])
        else:
            body = base64.b64decode(data[: _base64_size(size + needed)])[size:]
            if len(body) < needed and data[: _base64_size(size)].endswith(b"="):  # some writers encode the head alone
                body = base64.b64decode(data[_base64_size(size) :][: _base64_size(needed)])
        if len(body) < needed:
            raise ParticleError(f"an array should have {needed:,} bytes, and {len(body):,} are there")
        return head, body[:needed]


def _before_the_cut(data: bytes, error: ElementTree.ParseError) -> ElementTree.Element:
    """The elements that are whole of an XML that ends too early; a sentence with the `error` where it is damaged."""
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    try:
        parser.feed(data)
        events: list[tuple[str, ElementTree.Element]] = list(parser.read_events())
    except ElementTree.ParseError:
        events = []
    whole = {id(element) for what, element in events if what == "end"}
    parents = [element for what, element in events if what == "start" and id(element) not in whole]
    if not parents:
        raise ParticleError(f"its XML is damaged or cut short ({error})") from error
    for parent in parents:
        for child in [child for child in parent if child.tag == "DataArray" and id(child) not in whole]:
            parent.remove(child)
    return parents[0]


def _base64_size(size: int) -> int:
    return -(-size // 3) * 4


def _whole(text: str) -> int:
    text = text.strip()
    if not text.isdigit() or len(text) > 12:
        raise ParticleError(f"a count should stand where {text[:40]!r} is")
    return int(text)
