"""What Python writes and kernels read by name: places, structs, names that are numbered, and what is refused."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated

import numpy as np
import pytest

from raygrove.gpu.rows import Float, Floats, Int, Row, Struct, Vector, declaration
from raygrove.gpu.target.structs import pack


@dataclasses.dataclass(frozen=True)
class Base(Row):
    below: Vector
    share: float


@dataclasses.dataclass(frozen=True)
class Longer(Base):
    is_on: bool = True
    pair: tuple[float, float] = (5.0, 6.0)


@dataclasses.dataclass(frozen=True)
class View(Struct):
    values: Floats
    count: Int
    scale: Float


@dataclasses.dataclass(frozen=True)
class Cell(Struct):
    edges: Annotated[np.ndarray, "float3[3]"]
    first: Annotated[int, "int64"]


@dataclasses.dataclass(frozen=True)
class ViewOfCells(View):
    nodes: Annotated[np.ndarray, "const Node*"]
    cell: Cell


class Kind(enum.IntEnum):
    ROUND = 1
    FLAT = 4


def test_a_row_says_where_its_fields_begin() -> None:
    assert Longer.places() == {"below": 0, "share": 3, "is_on": 4, "pair": 5, "FLOATS": 7}
    assert Longer((1.0, 2.0, 3.0), 4.0).numbers() == (1.0, 2.0, 3.0, 4.0, 1.0, 5.0, 6.0)
    assert Base.floats() == 4


def test_a_row_that_holds_too_few_numbers_is_refused() -> None:
    with pytest.raises(AssertionError, match="Base holds 3 numbers"):
        Base((1.0, 2.0), 3.0).numbers()  # type: ignore[arg-type]


def test_kernels_have_the_places_by_their_names() -> None:
    assert declaration("Base", Base) == "struct Base { enum : int { below = 0, share = 3, FLOATS = 4 }; };"
    assert declaration("Kind", Kind) == "struct Kind { enum : int { ROUND = 1, FLAT = 4 }; };"
    assert declaration("WAYS", ("up", "down")) == "struct WAYS { enum : int { up = 0, down = 1 }; };"
    assert declaration("WAYS", {"up": 3}) == "struct WAYS { enum : int { up = 3 }; };"
    assert declaration("COUNT", 7) == "constexpr int COUNT = 7;"
    assert declaration("IS_ON", True) == "constexpr bool IS_ON = true;"
    assert declaration("SHARE", 0.5) == "constexpr float SHARE = 0.5f;"


def test_a_struct_is_laid_out_as_kernels_have_it() -> None:
    assert View.dtype() == np.dtype([("values", "u8"), ("count", "i4"), ("scale", "f4")], align=True)
    assert declaration("View", View).startswith(
        "struct View { Pointer<const float> values; int count; float scale; }; static_assert(sizeof(View) == 16,"
    )


def test_a_struct_derives_from_others_and_holds_them() -> None:
    assert ViewOfCells.needs() == (View, Cell)
    assert ViewOfCells.dtype() == np.dtype(
        [
            *(("values", "u8"), ("count", "i4"), ("scale", "f4"), ("nodes", "u8")),
            ("cell", np.dtype([("edges", "f4", (3, 3)), ("first", "i8")], align=True)),
        ],
        align=True,
    )
    assert declaration("ViewOfCells", ViewOfCells).startswith(
        "struct Node; struct ViewOfCells : View { Pointer<const Node> nodes; Cell cell; }; static_assert"
    )
    assert declaration("Cell", Cell).startswith("struct Cell { float3 edges[3]; int64 first; };")


def test_structs_are_packed_with_what_they_hold() -> None:
    values, edges = np.arange(3, dtype=np.float32), np.arange(9, dtype=np.float32).reshape(3, 3)
    packed = pack(ViewOfCells(values, 3, 0.5, None, Cell(edges, 1 << 40)))
    assert packed["values"] == values.ctypes.data and packed["nodes"] == 0
    assert (packed["count"], packed["scale"], packed["cell"]["first"]) == (3, 0.5, 1 << 40)
    assert np.array_equal(packed["cell"]["edges"], edges)


def test_what_is_not_annotated_by_its_type_is_refused() -> None:
    @dataclasses.dataclass(frozen=True)
    class Untold(Struct):
        count: int

    with pytest.raises(TypeError, match="count is not annotated"):
        Untold.dtype()


@pytest.mark.parametrize("thing", [object(), "text", {"up": "there"}, ("two words",)])
def test_what_kernels_cannot_have_is_refused(thing: object) -> None:
    with pytest.raises(TypeError):
        declaration("NAME", thing)
