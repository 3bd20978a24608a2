"""Every kernel of the project, compiled for NVIDIA GPUs without one: it compiles, spills nothing, and stays under a
ceiling of registers.

What "every" means is found by running the project (every_unit.py): the units that a host target is asked for while
primitives and whole frames run are compiled here, and a kernel file of which no unit was seen is an error. What NVRTC
made of a unit is kept (kept_units.py) and counts until its text is another one. `-m full` compiles each unit, and one
or two that are alike for every architecture.
"""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import pytest

from raygrove.gpu.target import nvrtc, translation_unit
from raygrove.gpu.target.base import CompileError, NoDeviceError, UnitSource
from raygrove.gpu.target.nvrtc import (
    ARCHITECTURES,
    architecture_for,
    compile_options,
    compile_text,
    compile_unit,
    parse_report,
)
from raygrove.gpu.target.translation_unit import ROOT, parse_kernels, read_source, write_unit

from . import every_unit, kept_units
from .every_unit import Job, Launched
from .kept_units import Resources

pytestmark = pytest.mark.first

REGISTERS = 128  # two blocks of 256 threads a multiprocessor, whatever the kernel
CEILINGS = {  # the first that fits
    "gpu/hierarchy/bvh/overlap": 96,  # in double precision, on request
    "gpu/hierarchy/bvh/quality": 96,
    "gpu/hierarchy/kdtree/overlap": 112,  # the same, and a way through the tree
    "gpu/hierarchy/kdtree/quality": 96,
    "gpu/hierarchy/octree/overlap": 112,
    "gpu/hierarchy/octree/quality": 96,
    "gpu/trace/": 96,
    "gpu/hierarchy/bvh/builders/agglomerative/": 72,  # a search and a merge of one block
    "gpu/hierarchy/bvh/builders/sbvh/": 128,  # a set's whole choice in one kernel, of 128 threads or of a warp
    "gpu/hierarchy/bvh/clusters": 80,  # one thread that reads all it needs before it writes
    # three axes' planes and a set's parts; two blocks of 256 a multiprocessor
    "gpu/hierarchy/bvh/builders/hploc_sah/sweep_groups": 120,
    "gpu/hierarchy/bvh/builders/hploc_sah/": 96,  # the same as hploc's
    "gpu/hierarchy/bvh/builders/hploc/": 96,  # a warp's whole search and merge in one kernel
    "gpu/hierarchy/bvh/builders/ploc/": 72,  # its last kernel has one block of 512
    "gpu/hierarchy/bvh/optimisers/": 96,
    "gpu/hierarchy/bvh/refit": 120,  # a chunk, and in its last block a group; two generations above chunks
    "gpu/hierarchy/bvh/sorted_lists": 72,  # a sweep holds the boxes before, in and behind a segment
    "gpu/hierarchy/kdtree/builders/sah_events/": 80,  # eight events per thread, all asked for at once
    # the last block that counts makes a level's children; a small tree in one kernel
    "gpu/hierarchy/kdtree/builders/median_sah/": 96,
    "gpu/hierarchy/octree/builders/": 96,  # a primitive against eight cells, of whichever kind it is
    "gpu/hierarchy/grid/": 128,  # one thread chooses in double precision; a glyph is cut at each cell
    "gpu/hierarchy/octree/cell_keys": 80,  # the same against the cells of a level
    "gpu/hierarchy/runs": 80,  # a list's references, of whichever kind they are, on the oldest architecture
    "gpu/hierarchy/": 64,
    "gpu/animate/deform": 80,
    "gpu/animate/attributes": 80,  # four attributes of an object at once
    "gpu/animate/glyphs": 80,  # both ends of a link, turned and placed
    "gpu/animate/": 72,
    "gpu/primitives/": 96,
}

TREES = {
    "gpu/hierarchy/grid/traversals/dda.cuh": 128,
    "gpu/hierarchy/octree/traversals/parametric.cuh": 128,  # with glyphs
    "gpu/hierarchy/grid/traversals/two_level_dda.cuh": 168,  # a walk within a walk
}
"""What units that go through a tree may take at least."""
SPILLS = {
    "gpu/hierarchy/grid/traversals/dda.cuh": 240,
    "gpu/hierarchy/octree/traversals/parametric.cuh": 320,
    "gpu/hierarchy/grid/traversals/two_level_dda.cuh": 64,
}
"""Bytes that units may spill which share long lists (shared_lists.cuh). What goes on behind the first is a function of
its own: registers are given up around the call of it, which most rays do not come to, and for one test of triangles in
a walk within a walk."""


PROVED = 24
"""Every so many of the units that are kept are compiled in every run, too."""


@pytest.fixture(scope="module")
def launched() -> Launched:
    return every_unit.launched()


@pytest.fixture(scope="module")
def everything_launched(launched: Launched) -> Launched:
    return every_unit.with_every_query(launched)


@pytest.fixture(scope="module")
def kept() -> dict[str, Resources]:
    return kept_units.read(kept_units.LIST.read_text(encoding="utf-8"))


def complaints(job: Job, resources: Resources) -> list[str]:
    """What is wrong with a unit's machine code."""
    source, architecture = job
    ceiling = next((most for room, most in CEILINGS.items() if source.path.startswith(room)), REGISTERS)
    ceiling = max([ceiling, *(TREES[header] for header in source.headers if header in TREES)])
    kernels = parse_kernels(read_source(source.path), source.path)
    found = [f"{name} is not in the report" for name in kernels if name not in resources]
    spills = max((SPILLS[header] for header in source.headers if header in SPILLS), default=0)
    found += [f"{name} spills {r.spill_bytes} bytes" for name, r in resources.items() if r.spill_bytes > spills]
    found += [
        f"{name} takes {r.registers} registers, {ceiling} are allowed"
        for name, r in resources.items()
        if r.registers > ceiling
    ]
    return [f"sm_{architecture} {source.path} {dict(source.aliases)}: {complaint}" for complaint in found]


def check_all(found: dict[Job, Resources]) -> None:
    wrong = [complaint for job, resources in found.items() for complaint in complaints(job, resources)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.broad("units compile on the host in the default run; what NVRTC makes of all of them takes a minute")
def test_jobs_ask_for_the_units_that_are_kept_of_them() -> None:
    """Of those that are kept the ones whose turn it is."""
    kept, anew = every_unit.valid(), every_unit.found_anew()
    assert {name: anew[name].launched for name in anew if name in kept} == {
        name: kept[name].launched for name in anew if name in kept
    }
    if len(anew) > len(every_unit.jobs()) // 10:
        warnings.warn(f"{len(anew)} jobs are not kept: python -m {kept_units.__name__}", stacklevel=1)


@pytest.mark.broad("as above")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_units_compile_without_spills_under_their_ceilings(
    launched: Launched, kept: dict[str, Resources], architecture: int
) -> None:
    jobs = [job for job in every_unit.usual_jobs(launched) if job[1] == architecture]
    assert len(jobs) > 50
    keys = {job: kept_units.key_of(kept_units.text_of(job), architecture) for job in jobs}
    new = [job for job in jobs if keys[job] not in kept]
    check_all({job: kept[keys[job]] for job in jobs if keys[job] in kept})
    check_all(dict(zip(new, kept_units.all_compiled(new), strict=True)))
    if len(new) > len(jobs) // 10:
        warnings.warn(f"{len(new)} of {len(jobs)} units are not kept: python -m {kept_units.__name__}", stacklevel=1)


@pytest.mark.broad("as above")
def test_what_is_kept_is_what_nvrtc_makes(launched: Launched, kept: dict[str, Resources]) -> None:
    """Of some: those whose turn it is by their keys."""
    jobs = {kept_units.key_of(kept_units.text_of(job), job[1]): job for job in every_unit.usual_jobs(launched)}
    some = [key for key in sorted(jobs) if key in kept and int(key, 16) % PROVED == 0]
    for key, found in zip(some, kept_units.all_compiled([jobs[key] for key in some]), strict=True):
        assert found == kept[key], jobs[key]


def test_another_text_another_architecture_and_another_compiler_are_another_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = write_unit(UnitSource("tests/gpu/target/contract.cu"), "cuda", 1)
    other = write_unit(UnitSource("tests/gpu/target/contract.cu", constants=(("SIZE", 3),)), "cuda", 1)
    keys = {kept_units.key_of(text, 90), kept_units.key_of(text, 75), kept_units.key_of(other, 90)}
    monkeypatch.setattr(kept_units, "nvrtc_version", lambda: (99, 0))
    keys.add(kept_units.key_of(text, 90))
    monkeypatch.undo()
    monkeypatch.setattr(kept_units, "compile_options", lambda architecture: ("--std=c++17", f"sm_{architecture}"))
    keys.add(kept_units.key_of(text, 90))
    assert len(keys) == 5


def test_what_is_kept_is_read_as_it_was_written() -> None:
    unit = UnitSource("tests/gpu/target/contract.cu")
    some = {"one": nvrtc.KernelResources(40, 16, 12, 96), "two": nvrtc.KernelResources(255, 0, 0, 1024)}
    lines = [kept_units.line_of((unit, 90), some), kept_units.line_of((unit, 75), {})]
    keys = [kept_units.key_of(kept_units.text_of((unit, architecture)), architecture) for architecture in (90, 75)]
    assert kept_units.read("\n".join(lines)) == {keys[0]: some, keys[1]: {}}
    assert complaints((unit, 90), some)[-2:] == [
        "sm_90 tests/gpu/target/contract.cu {}: one spills 12 bytes",
        "sm_90 tests/gpu/target/contract.cu {}: two takes 255 registers, 128 are allowed",
    ], "what is kept is judged like what is compiled"


@pytest.mark.full
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_unit_compiles_without_spills_under_its_ceiling(
    everything_launched: Launched, kept: dict[str, Resources], architecture: int
) -> None:
    units = everything_launched
    jobs = every_unit.all_jobs(units)
    assert {source for source, _ in jobs} == set(units)
    mine = [job for job in jobs if job[1] == architecture]
    assert {source.path for source, _ in mine} == {source.path for source in units}, (
        "a kernel file has no unit for this architecture"
    )
    usual = [job for job in every_unit.usual_jobs(units) if job[1] == architecture]
    asked = list(dict.fromkeys(mine + usual))
    found = dict(zip(asked, kept_units.all_compiled(asked), strict=True))
    check_all(found)
    keys = {job: kept_units.key_of(kept_units.text_of(job), architecture) for job in usual}
    assert all(found[job] == kept[key] for job, key in keys.items() if key in kept)


@pytest.mark.broad("as above")
def test_every_kernel_of_the_project_is_among_them(launched: Launched) -> None:
    ran = {(source.path, kernel) for source, kernels in launched.items() for kernel in kernels}
    paths = sorted(str(path.relative_to(ROOT)) for path in pathlib.Path(ROOT, "gpu").rglob("*.cu"))
    missing = [
        f"{path}: {kernel}"
        for path in paths
        for kernel in parse_kernels(read_source(path), path)
        if (path, kernel) not in ran
    ]
    assert len(paths) > 4
    assert not missing, "never launched by tests/gpu/sanitizers/scenario.py:\n" + "\n".join(missing)


@pytest.mark.broad("as above")
def test_every_launch_bound_is_known_on_both_targets(launched: Launched, monkeypatch: pytest.MonkeyPatch) -> None:
    read, known = translation_unit.launch_bound, []

    def recorded(text: str, counts: dict[str, Any], depth: int = 8) -> int | None:
        known.append((text, read(text, counts, depth)))
        return known[-1][1]

    monkeypatch.setattr(translation_unit, "launch_bound", recorded)
    for source in launched:
        translation_unit.signatures(source)
    assert len(known) > 20
    assert not {text for text, most in known if most is None or not 32 <= most <= translation_unit.MOST_THREADS}


# -- the compiler itself -------------------------------------------------------------------------------------------

HEAD = 'extern "C" __global__ void '
KERNEL = (
    HEAD + "twice(const float* values, int n, float* out) { if (threadIdx.x < n) out[threadIdx.x] = 2.0f * "
    "values[threadIdx.x]; }"
)


def test_a_cubin_is_for_its_architecture() -> None:
    images = {architecture: compile_text(KERNEL, compile_options(architecture)).image for architecture in ARCHITECTURES}
    assert all(image[:4] == b"\x7fELF" for image in images.values())
    assert len(set(images.values())) == len(ARCHITECTURES)


def test_the_report_names_registers_shared_memory_and_stack() -> None:
    shares = (
        "shares(float* out) { __shared__ float tile[256]; tile[threadIdx.x] = out[threadIdx.x]; "
        "__syncthreads(); out[0] = tile[7]; }"
    )
    stacks = (
        "stacks(const int* in, int* out) { int local[100]; for (int i = 0; i < 100; ++i) local[in[i]] = i; "
        "out[0] = local[in[0]]; }"
    )
    text = HEAD + shares + HEAD + stacks
    resources = compile_text(text, compile_options(90)).resources
    assert resources["shares"].shared_bytes == 1024 and resources["shares"].stack_bytes == 0
    assert resources["stacks"].stack_bytes >= 400 and resources["stacks"].shared_bytes == 0
    assert all(0 < found.registers < 64 and found.spill_bytes == 0 for found in resources.values())


def test_a_kernel_that_spills_is_found_out() -> None:
    body = "".join(f"float v{i} = in[threadIdx.x + {i}] * in[{i}];" for i in range(90))
    total = "+".join(f"v{i} * v{(i * 7 + 1) % 90}" for i in range(90))
    text = (
        HEAD + f"__launch_bounds__(1024, 2) spills(const float* in, float* out) {{ {body} __syncthreads(); "
        f"out[threadIdx.x] = {total}; }}"
    )
    assert compile_text(text, compile_options(90)).resources["spills"].spill_bytes > 0


@pytest.mark.parametrize("start", ["    ", "ptxas         .     "])
def test_reports_of_older_and_newer_assemblers_are_read(start: str) -> None:
    lines = (
        "ptxas info    : Compiling entry function 'traversal' for 'sm_90'",
        f"{start}16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads",
    )
    report = "\n".join([*lines, "ptxas info    : Used 40 registers, used 1 barriers, 96 bytes smem"])
    assert parse_report(report) == {"traversal": nvrtc.KernelResources(40, 16, 12, 96)}


def test_a_text_that_does_not_compile_is_an_error_with_its_place() -> None:
    with pytest.raises(CompileError, match=r"broken.*sm_90(.|\n)*undeclared_thing"):
        compile_text(HEAD + "f() { undeclared_thing(); }", compile_options(90), "broken")


def test_constants_of_a_unit_can_be_used_by_reference() -> None:
    text = (
        "constexpr int TILE = 4; template <class T> __device__ T least(const T& a, const T& b) { return a < b ? a "
        ": b; }\n"
    )
    text += HEAD + "f(int n, int* out) { out[0] = least(TILE, n); }"
    assert "f" in compile_text(text, compile_options(90)).resources


def test_a_unit_is_compiled_once_for_each_architecture_and_contraction(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path))
    text = write_unit(UnitSource("tests/gpu/target/contract.cu"), "cuda", 1)
    compiled: list[tuple[str, ...]] = []

    def counting(unit: str, options: tuple[str, ...], name: str = "unit") -> nvrtc.Cubin:
        compiled.append(options)
        return compile_text(unit, options, name)

    monkeypatch.setattr(nvrtc, "compile_text", counting)
    first = compile_unit(text, 90)
    again = compile_unit(text, 90)
    apart = compile_unit(text, 90, contraction=False)
    other = compile_unit(text, 75)
    assert len(compiled) == 3
    assert (
        again.image == first.image and again.resources == first.resources and len(first.resources) == len(text.kernels)
    )
    assert len({first.image, apart.image, other.image}) == 3
    assert not [path for path in tmp_path.iterdir() if path.suffix not in (".cubin", ".txt")]


def test_a_device_gets_the_newest_code_that_runs_on_it() -> None:
    assert architecture_for(90) == 90
    assert architecture_for(89) == 89
    assert architecture_for(75) == 75
    with pytest.raises(NoDeviceError, match=r"compute capability 6\.1"):
        architecture_for(61)


def test_a_library_that_cannot_be_loaded_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("No such file: libnvrtc.so.13,\n  nor libnvrtc.so.12\n")

    monkeypatch.setattr("cuda.bindings.nvrtc.nvrtcVersion", fail)
    with pytest.raises(NoDeviceError) as caught:
        architecture_for(90)
    assert "loaded (No such file: libnvrtc.so.13, nor libnvrtc.so.12). Install" in str(caught.value)
