"""Structs that Python and kernels share are laid out alike: generated ones where kernels derive from them or take them
by value, and nodes, which kernels draw byte by byte, against the numpy types that read them."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from typing import Annotated

import numpy as np
import pytest

from raygrove.gpu.hierarchy.bvh.layouts import layout_classes
from raygrove.gpu.hierarchy.bvh.tree import NODE_DTYPE
from raygrove.gpu.primitive_views import LongLeaves, MixedView, RecordRows, SphereView, TriangleView
from raygrove.gpu.rows import Int, Struct, declaration
from raygrove.gpu.target.arguments import ArgumentBlock
from raygrove.gpu.target.base import TargetError, UnitSource
from raygrove.gpu.target.checks import ARRAYS_AT, REPORT, STATE
from raygrove.gpu.target.host_compiler import find_compiler
from raygrove.gpu.target.structs import address, pack, pack_behind
from raygrove.gpu.target.translation_unit import read_source, signatures, write_unit
from tests.waiting import PROCESS_S

BVH = "gpu/hierarchy/bvh/"
SCALARS = {
    "float": ("f4", 1),
    "int": ("i4", 1),
    "unsigned": ("u4", 1),
    "uint8": ("u1", 1),
    "int64": ("i8", 1),
    "uint64": ("u8", 1),
}
VECTORS = {"float3": ("f4", 3), "float4": ("f4", 4)}


def fields_of(path: str, name: str) -> list[tuple[str, str, int, int]]:
    """Name, type of a number, where it begins and how many there are, of every field of a struct that is written in
    CUDA without gaps."""
    found = re.search(rf"^struct (?:alignas\(16\) )?{name} {{\n(.*?)^}};", read_source(path), re.MULTILINE | re.DOTALL)
    assert found is not None, f"{path} has no struct {name}"
    fields, place = [], 0
    for line in found[1].splitlines():
        told = re.match(r"    (\w+) ([\w\[\], ]+);", line)
        if told is None or told[1] not in SCALARS | VECTORS:
            continue
        kind, width = (SCALARS | VECTORS)[told[1]]
        for one in told[2].split(", "):
            field, *lengths = re.findall(r"\w+", one)
            count = int(np.prod([width, *map(int, lengths)]))
            fields.append((field, kind, place, count))
            place += np.dtype(kind).itemsize * count
    return fields


def fields_in_numpy(dtype: np.dtype) -> list[tuple[str, str, int, int]]:
    """The same of a numpy type."""
    assert dtype.fields is not None
    return [
        (name, part.base.str[1:], place, int(np.prod(part.shape)))
        for name, (part, place, *_) in sorted(dtype.fields.items(), key=lambda item: item[1][1])
    ]


def planes_together(fields: list[tuple[str, str, int, int]]) -> list[tuple[str, str, int, int]]:
    """x, y and z, which kernels call planes."""
    axes = [one for one in fields if one[0] in ("x", "y", "z")]
    assert [one[0] for one in axes] == ["x", "y", "z"] and axes == fields[:3]
    return [("planes", axes[0][1], axes[0][2], sum(one[3] for one in axes)), *fields[3:]]


@pytest.mark.parametrize(
    ("path", "name", "dtype"),
    [
        (BVH + "canonical.cuh", "CanonicalNode", NODE_DTYPE),
        (BVH + "layouts/bvh2.cuh", "Bvh2Node", layout_classes()["bvh2"].node_dtype),
        (BVH + "layouts/cwbvh.cuh", "CwbvhNode", layout_classes()["cwbvh"].node_dtype),
        ("gpu/device/checks.cuh", "CheckReport", REPORT),
        (BVH + "layouts/bvh4.cuh", "Bvh4Node", layout_classes()["bvh4"].node_dtype),
        (BVH + "layouts/bvh8.cuh", "Bvh8Node", layout_classes()["bvh8"].node_dtype),
    ],
)
def test_numpy_reads_what_kernels_write(path: str, name: str, dtype: np.dtype) -> None:
    told = fields_in_numpy(dtype)
    assert fields_of(path, name) == (planes_together(told) if "x" in (dtype.names or ()) else told)


def test_what_stands_behind_a_report_is_where_kernels_look_for_it() -> None:
    """CheckState names one array of the many; its first field is the report."""
    report, *behind = fields_in_numpy(STATE)
    told = fields_of("gpu/device/checks.cuh", "CheckState")
    assert told == [(name, kind, place - ARRAYS_AT, min(count, 2)) for name, kind, place, count in behind]
    assert (report[0], ARRAYS_AT) == ("report", STATE.fields["array_count"][1])  # type: ignore[index]


def test_a_field_in_another_place_is_seen() -> None:
    swapped = np.dtype([("lower", "f4", 3), ("right", "i4"), ("upper", "f4", 3), ("left", "i4")])
    assert fields_of(BVH + "canonical.cuh", "CanonicalNode") != fields_in_numpy(swapped)


def test_kinds_of_primitives_are_templates_of_what_kernels_call_them() -> None:
    declared = declaration("MixedView", MixedView)
    assert declared.startswith(
        "template <class Triangles, class Spheres> struct MixedView { Triangles triangles; Spheres spheres; int count; "
        "int point_count; int first_sphere_id; static_assert(sizeof(Triangles) == sizeof(TriangleView), "
    )
    assert declared.endswith(
        'static_assert(sizeof(MixedView<TriangleView, SphereView>) == 72, "as raygrove.gpu.primitive_views has it");'
    )
    assert MixedView.needs() == (TriangleView, SphereView)


def test_what_a_struct_holds_is_not_filled_by_position() -> None:
    """numpy would put four fields into four others, whatever they are called."""
    spheres = pack(SphereView(None, None, 1, 2))
    other = np.zeros((), np.dtype([("radii", "u8"), ("centres", "u8"), ("count", "i4"), ("point_count", "i4")]))
    triangles = TriangleView(None, None, None, 3, 4)
    assert pack(MixedView(triangles, spheres, 4, 6, 3))["spheres"]["point_count"] == 2
    with pytest.raises(TypeError, match=r"The struct's spheres has the fields \('centres', 'radii'"):
        pack(MixedView(triangles, other, 4, 6, 3))


def test_a_struct_behind_another_one_has_its_fields_there() -> None:
    rows, leaves = np.zeros(4, "f4"), np.zeros(2, "i4")
    both = pack_behind(pack(RecordRows(rows)), LongLeaves(leaves))
    assert both.dtype.names == ("records", "long_leaves")
    assert both.tobytes() == np.array([address(rows), address(leaves)], "u8").tobytes()


# -- launches ---------------------------------------------------------------------------------------------------------
COPY = UnitSource(BVH + "builders/two_level/copy_triangles.cu", ("gpu/device/triangle.cuh",))


def test_a_launch_with_another_struct_is_refused() -> None:
    (kernel,) = signatures(COPY).values()
    (name,) = (one.name for one in kernel.parameters if one.type_name == "Triangles")
    arguments = {one.name: None if one.is_pointer else 0 for one in kernel.parameters}
    packed, right = ArgumentBlock(kernel, address), pack(TriangleView(None, None, None, 1, 3))
    for _ in range(3):  # the first launch, and those that follow it quickly
        packed.pack({**arguments, name: right})
        for wrong in (
            pack(SphereView(None, None, 1, 3)),
            right.view(np.dtype([(field, "V8") for field in "abcd"])),
            np.zeros((), np.dtype([(field, right.dtype[field]) for field in reversed(right.dtype.names or ())])),
        ):
            with pytest.raises(TargetError, match="a struct Triangles was expected, with the fields positions"):
                packed.pack({**arguments, name: wrong})


@dataclasses.dataclass(frozen=True)
class Pair(Struct):
    """Two numbers."""

    first: Int
    second: Int


@dataclasses.dataclass(frozen=True)
class Holding(Struct):
    """A pair that kernels call Named, and one behind it."""

    pair: Annotated[Pair, "class Named"]
    behind: Int


@pytest.mark.parametrize("own", ["", "int own;"])
def test_a_type_that_adds_a_field_does_not_compile(own: str) -> None:
    """What derives from a struct of Python's may only add functions: else what lies behind it would move."""
    text = "\n".join(
        (
            declaration("Pair", Pair),
            declaration("Holding", Holding),
            f"struct Named : Pair {{ {own} int sum() const {{ return first + second; }} }};",
            "struct Held : Holding<Named> {};",
            "int sum_of(const Held& held) { return held.pair.sum() + held.behind; }",
        )
    )
    command = [*find_compiler(), "-std=c++17", "-fsyntax-only", "-x", "c++", "-"]
    said = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=PROCESS_S)
    assert (said.returncode != 0) == bool(own) and ("Named adds no field to Pair" in said.stderr) == bool(own)


def test_units_assert_what_they_take_by_value() -> None:
    text = write_unit(COPY, "cuda", 1).text
    assert 'static_assert(sizeof(Triangles) == 32, "Triangles is laid out by TriangleView");' in text
