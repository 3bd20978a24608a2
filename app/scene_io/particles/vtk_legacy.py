"""Points of legacy VTK files (.vtk), as text and in binary (big-endian), with the data of their points:
https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html. Cells are passed over."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import numpy as np

from .columns import frame_of, numbers, shown
from .frame import Frame, ParticleError, Source

TYPES = {
    "bit": "", "unsigned_char": "u1", "char": "i1", "unsigned_short": "u2", "short": "i2", "unsigned_int": "u4",
    "int": "i4", "unsigned_long": "u8", "long": "i8", "float": "f4", "double": "f8", "vtkidtype": "i4",
    "vtktypeint64": "i8",
    "vtktypeuint64": "u8",
}  # fmt: skip
WIDTHS = {"VECTORS": 3, "NORMALS": 3, "TENSORS": 9, "TENSORS6": 6}
CELLS = ("VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS", "CELLS")
SHAPES = ("POLYGONS", "TRIANGLE_STRIPS", "CELLS")
SETS = ("POLYDATA", "UNSTRUCTURED_GRID", "STRUCTURED_GRID")
MAX_LINE = 1 << 20


def read(source: Source) -> Iterator[Frame]:
    """One frame; of a file that is cut after its points, what of their data is whole."""
    reader = _Reader(source)
    try:
        reader.read()
    except ParticleError as error:
        if "points" not in reader.columns:
            raise
        source.remark(f"The file is cut or damaged after its points: {error}.")
    if "points" not in reader.columns:
        raise ParticleError("it has no POINTS")
    yield frame_of(reader.columns)


class _Reader:
    """One pass over the file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.file = io.BytesIO(source.read())
        self.columns: dict[str, np.ndarray] = {}
        self.count, self.is_left_out = 0, False
        head = [self.file.readline(MAX_LINE) for _ in range(3)]
        if not head[0].startswith(b"# vtk DataFile"):
            raise ParticleError("it does not begin with # vtk DataFile")
        form = head[2].strip().upper()
        if form not in (b"ASCII", b"BINARY"):
            raise ParticleError(f"its third line is {head[2][:40]!r}, not ASCII or BINARY")
        self.is_text = form == b"ASCII"
        version = re.search(rb"Version\s+(\d+)", head[0])
        self.has_offsets = version is not None and int(version[1]) >= 5

    def read(self) -> None:
        """Keyword after keyword, until the file ends or says what is not known."""
        what = ""
        while line := self.file.readline(MAX_LINE):
            words = line.decode("latin-1").split()
            if not words:
                continue
            key = words[0].upper()
            if key == "POINTS" and len(words) > 2:
                self.count = self._number(words[1])
                self.source.expect(self.count)
                self.columns["points"] = self._values(words[2], self.count, 3)
            elif key in CELLS and len(words) > 2:
                self._skip_cells(key, words)
            elif key == "CELL_TYPES" and len(words) > 1:
                self._array("int", self._number(words[1]), "its cell types")
            elif key in ("POINT_DATA", "CELL_DATA"):
                what = key
                if what == "POINT_DATA" and words[1:2] != [str(self.count)]:
                    said = shown(" ".join(words[1:]).encode())
                    raise ParticleError(f"data of {self.count:,} points should follow, and POINT_DATA says {said}")
            elif key == "FIELD" and len(words) > 2:
                self._fields(self._number(words[2]), what == "POINT_DATA")
            elif key == "METADATA":
                while self.file.readline(MAX_LINE).strip():
                    pass
            elif what and key in ("SCALARS", *WIDTHS, "COLOR_SCALARS", "LOOKUP_TABLE", "TEXTURE_COORDINATES"):
                self._attribute(key, words, what == "POINT_DATA")
            elif key == "DATASET" and len(words) > 1:
                if words[1].upper() not in SETS:
                    raise ParticleError(f"its data set is {words[1]}, which has no points of its own")
            elif key != "DIMENSIONS" and not self.is_left_out:
                self.is_left_out = True
                said = shown(line)
                self.source.remark(f"Lines that are not read in a VTK file were left out, the first is {said}.")

    def _attribute(self, key: str, words: list[str], is_kept: bool) -> None:
        count = self.count if is_kept else -1
        if key == "LOOKUP_TABLE":
            if len(words) > 2:
                self._array("float" if self.is_text else "unsigned_char", 4 * self._number(words[2]), "a colour table")
            return
        if count < 0:
            raise ParticleError("data of cells follow, which are not read")
        if key == "SCALARS":
            width = self._number(words[3]) if len(words) > 3 else 1
            place = self.file.tell()
            if not self.file.readline(MAX_LINE).upper().startswith(b"LOOKUP_TABLE"):
                self.file.seek(place)
            kind = words[2]
        elif key == "COLOR_SCALARS":
            width, kind = self._number(words[2]), "float" if self.is_text else "unsigned_char"
        elif key == "TEXTURE_COORDINATES":
            width, kind = self._number(words[2]), words[3]
        else:
            width, kind = WIDTHS[key], words[2] if len(words) > 2 else "float"
        values = self._values(kind, count, width)
        self.columns.setdefault(words[1], values[:, 0] if width == 1 else values)

    def _fields(self, arrays: int, is_kept: bool) -> None:
        for _ in range(arrays):
            words = self._words()
            if words[:1] == ["METADATA"]:
                while self.file.readline(MAX_LINE).strip():
                    pass
                words = self._words()
            if len(words) < 4:
                raise ParticleError("an array of a FIELD is missing")
            width, count = self._number(words[1]), self._number(words[2])
            if words[3].lower() == "string":
                raise ParticleError("a FIELD holds texts, which are not read")
            values = self._values(words[3], count, width)
            if is_kept and count == self.count:
                self.columns.setdefault(words[0], values[:, 0] if width == 1 else values)

    def _words(self) -> list[str]:
        while line := self.file.readline(MAX_LINE):
            if line.strip():
                return line.decode("latin-1").split()
        return []

    def _skip_cells(self, key: str, words: list[str]) -> None:
        first, second = self._number(words[1]), self._number(words[2])
        if key in SHAPES and first:
            self.source.remark("Only the points of the file are shown, not its cells.")
        if not self.has_offsets:
            self._array("int", second, "its cells")
            return
        for count in (first, second):
            line = self._words()
            if len(line) < 2 or line[0].upper() not in ("OFFSETS", "CONNECTIVITY"):
                raise ParticleError("the cells have no OFFSETS and CONNECTIVITY")
            self._array(line[1], count, "its cells")

    def _values(self, kind: str, count: int, width: int) -> np.ndarray:
        return self._array(kind, count * width, "its values").reshape(count, width)

    def _array(self, kind: str, count: int, what: str) -> np.ndarray:
        code = TYPES.get(kind.lower())
        if not code:
            raise ParticleError(f"the type {kind[:40]!r} is not known")
        if not self.is_text:
            size = count * np.dtype(code).itemsize
            data = self.file.read(size)
            if len(data) < size:
                raise ParticleError(f"{what} should have {size:,} bytes, and {len(data):,} are there")
            return np.frombuffer(data, f">{code}").astype(code)
        return self._text_numbers(count, what)

    def _text_numbers(self, count: int, what: str) -> np.ndarray:
        """The next `count` words as numbers."""
        words: list[bytes] = []
        while len(words) < count:
            line = self.file.readline(MAX_LINE)
            if not line:
                raise ParticleError(f"{what} should be {count:,} numbers, and {len(words):,} are there")
            words += line.split()
        if len(words) > count:
            raise ParticleError(f"{what} should be {count:,} numbers, and their last line has more")
        try:
            return numbers(words) if words else np.zeros(0)
        except ValueError as error:
            raise ParticleError(f"{what} hold what is no number ({error})") from error

    @staticmethod
    def _number(word: str) -> int:
        if not word.isdigit() or len(word) > 12:
            raise ParticleError(f"a count should stand where {word[:40]!r} is")
        return int(word)
