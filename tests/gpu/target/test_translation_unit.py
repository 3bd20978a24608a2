"""Units: what is written, what the digest covers, how signatures are parsed."""

from __future__ import annotations

import collections

import pytest

from raygrove.gpu.target import translation_unit
from raygrove.gpu.target.base import CompileError, UnitSource
from raygrove.gpu.target.translation_unit import (
    MOST_THREADS,
    include_closure,
    launch_bound,
    parse_kernels,
    write_unit,
)

KERNELS = "tests/gpu/target/kernels_for_tests.cu"


def test_constants_come_before_headers_and_aliases_after() -> None:
    source = UnitSource(
        KERNELS,
        ("gpu/device/vec.cuh",),
        (("Node", "float4"),),
        (("STACK_DEPTH", 54), ("EPSILON", 0.5), ("IS_WIDE", True)),
    )
    lines = write_unit(source, "cuda", 1).text.splitlines()
    assert lines[0] == "#define RAYS_PER_THREAD 1"
    assert lines[1:4] == [
        "constexpr int STACK_DEPTH = 54;",
        "constexpr float EPSILON = 0.5f;",
        "constexpr bool IS_WIDE = true;",
    ]
    assert lines[4:] == ['#include "gpu/device/vec.cuh"', "using Node = float4;", f'#include "{KERNELS}"']


def test_the_host_unit_ends_with_an_entry_a_kernel() -> None:
    text = write_unit(UnitSource(KERNELS, rays_per_thread=0), "host", 8).text
    assert "#define RAYS_PER_THREAD 8" in text
    assert text.index("cuda_on_host.cuh") < text.index(KERNELS) < text.index("HOST_ENTRY(evaluate_line)")


def test_the_digest_covers_every_included_file(monkeypatch: pytest.MonkeyPatch) -> None:
    before = write_unit(UnitSource(KERNELS), "cuda", 1).digest
    read = translation_unit.read_source
    monkeypatch.setattr(
        translation_unit, "read_source", lambda path: read(path) + ("// edited" if path.endswith("types.cuh") else "")
    )
    assert "gpu/device/types.cuh" in include_closure((KERNELS,))
    assert write_unit(UnitSource(KERNELS), "cuda", 1).digest != before


def test_each_file_is_looked_at_once_while_a_unit_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 50 of them, several times each, were a third of what a picture waits for that loads a unit."""
    read, looked_at = translation_unit.read_source, collections.Counter[str]()

    def noted(path: str) -> str:
        looked_at[path] += 1
        return read(path)

    monkeypatch.setattr(translation_unit, "read_source", noted)
    write_unit(UnitSource(KERNELS), "host", 8, checks=True)
    assert looked_at[KERNELS] == looked_at["gpu/device/types.cuh"] == 1 and set(looked_at.values()) == {1}


def test_signatures_are_parsed() -> None:
    comment = '// extern "C" __global__ void commented(int n) {\n'
    text = (
        comment + 'extern "C" __global__ void __launch_bounds__(128, 4) f(const float* __restrict__ a,\n  unsigned n) {'
    )
    signature = parse_kernels(text, "x.cu")
    assert list(signature) == ["f"]
    assert [(p.name, p.type_name, p.is_pointer) for p in signature["f"].parameters] == [
        ("a", "float", True),
        ("n", "unsigned", False),
    ]
    assert signature["f"].most_threads == 128


@pytest.mark.parametrize(
    ("bounds", "most"),
    [("256, 4", 256), ("WARPS * 32", 64), ("BLOCK", 2 * 3 * 32), ("Shape::SIZE", None), ("A", None), ("B + 1", None)],
)
def test_launch_bounds_are_read(bounds: str, most: int | None) -> None:
    counts = {"WARPS": 2, "BLOCK": "SIDE*SIDES", "SIDE": "3", "SIDES": "WARPS * 32", "A": "B", "B": "A"}
    assert launch_bound(bounds.partition(",")[0], counts) == most
    text = f'extern "C" __global__ void __launch_bounds__({bounds}) f(int n) {{'
    assert parse_kernels(text, "x.cu", lambda: counts)["f"].most_threads == (MOST_THREADS if most is None else most)


def test_a_unit_begins_with_what_its_files_read_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    read, text = translation_unit.read_source, ["// from gpu.scene import ALPHA_MODES, LIGHT_KINDS\n"]
    monkeypatch.setattr(
        translation_unit, "read_source", lambda path: (text[0] if path.endswith("types.cuh") else "") + read(path)
    )
    written = write_unit(UnitSource(KERNELS), "cuda", 1).text.splitlines()
    assert written[1].startswith("struct ALPHA_MODES { enum : int { opaque = 0,")
    assert written[2].startswith("struct LIGHT_KINDS { enum : int { point = 0,")
    for text[0], complaint in (
        ("// from gpu.scene import NOTHING\n", r"types\.cuh cannot read NOTHING of gpu\.scene: "),
        ("// from gpu.nowhere import LIGHT_KINDS\n", r"cannot read LIGHT_KINDS of gpu\.nowhere: "),
        ("// from gpu.scene import Light\n", r"Light is neither a row"),
        ("// from gpu.scene import LIGHT_KINDS\n// from gpu.animate.tables import LIGHT_KINDS\n", r"gpu\.scene's"),
    ):
        with pytest.raises(CompileError, match=complaint):
            write_unit(UnitSource(KERNELS), "cuda", 1)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(CompileError, match=r"gpu/nowhere\.cu cannot be read"):
        write_unit(UnitSource("gpu/nowhere.cu"), "host", 8)
