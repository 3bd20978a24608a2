"""Traversals tell every step of their way: the same hits as the trace, as many nodes and tests as the steps, and
nothing at all where nobody hears it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.analysis.ray_log import Event, log_arrays
from raygrove.gpu.hierarchy.base import Traversal
from raygrove.gpu.hierarchy.registry import structures, telling_layouts
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.target.nvrtc import compile_options, compile_text
from raygrove.gpu.target.translation_unit import write_unit
from raygrove.gpu.trace.trace import TRACE_BLOCK, BufferRays, CameraRays, Tracer, upload_rays
from tests.gpu.target.recording import RecordingTarget

from .machine_code import assembly_of, code_of
from .scenes import built, random_rays, soup

HEADER = "gpu/device/traversal_events.cuh"
CAPACITY = 700
TRAVERSALS = [
    (name, layout, traversal)
    for name in ("brute_force", "grid", "lbvh", "median_sah", "octree_top_down")
    for layout in telling_layouts(name)
    for traversal in structures()[name].traversals(layout)
]
over_traversals = pytest.mark.parametrize("traversal", TRAVERSALS, ids="-".join)
BINARY = ("bvh2", "bvh2_soa", "bvh2_compact", "kd8")


@dataclasses.dataclass(frozen=True)
class Told:
    """What was told of each ray: kinds, ids and entries (rays, CAPACITY), -1 behind the last; and what was hit."""

    kinds: np.ndarray
    ids: np.ndarray
    entries: np.ndarray
    prim_id: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        """Where an event of that name is."""
        return self.kinds == Event[name]

    def count(self, *names: str) -> np.ndarray:
        """How many events of these names each ray has."""
        return np.sum([self[name].sum(axis=1) for name in names], axis=0)

    def nearest(self) -> tuple[np.ndarray, np.ndarray]:
        """Distance and primitive of the nearest hit that was told; of equal ones the smallest primitive."""
        t = np.where(self["PRIMITIVE_HIT"], self.entries, np.inf)
        nearest = t.min(axis=1)
        tied = np.where(t == nearest[:, None], self.ids, np.iinfo(np.int32).max).min(axis=1)
        return nearest, np.where(np.isfinite(nearest), tied, -1)


def tell(target: Target, traversal: Traversal, rays: BufferRays, hits: str, is_asked: bool) -> Told:
    """The events of all rays: a ray at a time in the order that all targets share (`is_asked`), or as the target traces
    them."""
    tracer = Tracer(target, traversal)
    width = 1 if is_asked else 0
    constants = (("IS_ASKED", is_asked),)
    unit, view = tracer.unit("gpu/analysis/ray_log.cu", rays, (("OnPrimitive", hits),), constants, width=width)
    padded, packs = rays.padded_count, rays.padded_count // (width or tracer.lanes)
    arrays = log_arrays(target, padded, CAPACITY)
    target.fill(arrays["events"], -1)
    target.launch(
        unit,
        "write_down_rays",
        packs,
        input=view,
        pack_count=packs,
        capacity=CAPACITY,
        **arrays,
        block=TRACE_BLOCK,
    )
    held = {name: target.download(array)[: rays.count] for name, array in arrays.items()}
    assert held["counts"].max() <= CAPACITY
    return Told(held["events"][..., 0], held["events"][..., 1], held["entries"], held["prim_id"])


def traced(target: Target, traversal: Traversal, rays: BufferRays, kind: str) -> dict[str, np.ndarray]:
    """What the trace itself finds and counts."""
    hits = Tracer(target, traversal).trace(rays, kind)
    names = ("t", "prim_id", *(("steps", "tests") if kind == "steps" else ()))
    return {name: target.download(getattr(hits, name))[: rays.count] for name in names}


@over_traversals
def test_events_tell_the_hits_and_the_steps(target: Target, traversal: tuple[str, str, str]) -> None:
    made = built(target, soup(4, 120), *traversal)
    rays = upload_rays(target, *random_rays(5, 128))
    told = tell(target, made.traversal(), rays, "ClosestHit", True)
    steps = traced(target, made.traversal(), rays, "steps")
    assert 20 < (steps["prim_id"] >= 0).sum() < 128
    t, prim_id = told.nearest()
    np.testing.assert_array_equal(prim_id, steps["prim_id"])
    np.testing.assert_array_equal(t[prim_id >= 0], steps["t"][prim_id >= 0])
    np.testing.assert_array_equal(told.prim_id, steps["prim_id"])
    np.testing.assert_array_equal(told.count("NODE_ENTERED", "LEAF_ENTERED"), steps["steps"])
    np.testing.assert_array_equal(told.count("PRIMITIVE_TESTED"), steps["tests"])


@over_traversals
def test_every_child_is_accounted_for(target: Target, traversal: tuple[str, str, str]) -> None:
    """What is popped or dropped was pushed; of a binary node both children are entered, pushed or culled; what is
    culled as too far lies behind the hit."""
    name, layout, _ = traversal
    made = built(target, soup(6, 120), *traversal)
    rays = upload_rays(target, *random_rays(7, 128))
    told = tell(target, made.traversal(), rays, "ClosestHit", True)
    t = np.where(told.prim_id >= 0, told.nearest()[0], np.inf)[:, None]
    pushed, popped = told.count("CHILD_PUSHED"), told.count("CHILD_POPPED")
    if "restart" in traversal or "short_stack" in traversal:
        assert (popped + told.count("CHILD_DROPPED") >= pushed).all()  # what is culled at the root was not pushed
    else:
        assert (popped + told.count("CHILD_DROPPED") == pushed).all()
        for ray in range(128):
            ways_out = np.sort(told.ids[ray, told["CHILD_POPPED"][ray] | told["CHILD_DROPPED"][ray]])
            np.testing.assert_array_equal(ways_out, np.sort(told.ids[ray, told["CHILD_PUSHED"][ray]]))
        if layout in BINARY:
            entered, culled = told.count("NODE_ENTERED", "LEAF_ENTERED"), told.count("CHILD_MISSED", "CHILD_BEYOND")
            has_entered = entered > 0
            chosen = entered - popped - 1  # children entered as soon as they were met
            children = 2 * told.count("NODE_ENTERED")
            np.testing.assert_array_equal((chosen + pushed + culled)[has_entered], children[has_entered])
    if name not in ("brute_force", "grid"):  # a grid's steps meet only what they enter
        assert told["CHILD_MISSED"].any()
        assert (told["CHILD_BEYOND"] | told["CHILD_DROPPED"]).any()
    for event in ("CHILD_BEYOND", "CHILD_DROPPED"):
        assert (told.entries >= t)[told[event]].all()


@pytest.mark.covers("traversal", "hits")
@pytest.mark.parametrize("hits", ["ClosestHit", "AnyHit"])
@over_traversals
def test_packs_tell_the_hits_of_their_lanes(target: Target, traversal: tuple[str, str, str], hits: str) -> None:
    """As the target traces them: packs on the host, whose rays are interleaved where they are incoherent."""
    made = built(target, soup(8, 200), *traversal)
    rays = upload_rays(target, *random_rays(9, 192))
    told = tell(target, made.traversal(), rays, hits, False)
    expected = traced(target, made.traversal(), rays, "closest" if hits == "ClosestHit" else "any")
    np.testing.assert_array_equal(told.count("PRIMITIVE_HIT") > 0, expected["prim_id"] >= 0)
    np.testing.assert_array_equal(told.prim_id, expected["prim_id"])
    if hits == "ClosestHit":
        np.testing.assert_array_equal(told.nearest()[1], expected["prim_id"])
    is_hit = expected["prim_id"] >= 0
    assert is_hit.sum() > 30 and told.count("LEAF_ENTERED").sum() > 0
    assert traversal[0] == "brute_force" or told.count("NODE_ENTERED").sum() > 0


WITHOUT_EVENTS = """
#define tell(...)
#define tell_culled(...)
#define tell_primitive(...)
#define tell_node(on_node, id, depth, lanes, entry, ...) on_node(id, depth, false, lanes, ##__VA_ARGS__)
#define tell_leaf(on_node, id, event_id, depth, lanes, entry) on_node(id, depth, true, lanes)
"""


def unit_of(traversal: tuple[str, str, str], kind: str) -> UnitSource:
    """What traces so."""
    target = RecordingTarget(is_dry=True)
    made = built(target, soup(1, 2), *traversal)
    before = set(target.launched)
    Tracer(target, made.traversal()).trace(CameraRays(target.zeros(128, "u1", "test"), 8, 8), kind)
    (source,) = set(target.launched) - before
    target.close()
    return source


def without_events(text: str, place: str) -> str:
    """A unit from which the preprocessor takes every event; `place` is what its own includes begin with."""
    first = text.index(place)
    return text[:first] + f'#include "{HEADER}"\n{WITHOUT_EVENTS}' + text[first:]


def over_kinds() -> list[Any]:
    """Every traversal with a kind of trace, by turns; with the others under -m full, since an event is told in the
    same places whatever is traced."""
    kinds = ("closest", "any", "steps")
    return [
        pytest.param(
            traversal, kind, id="-".join((*traversal, kind)), marks=[] if turn == place % 3 else pytest.mark.full
        )
        for place, traversal in enumerate(TRAVERSALS)
        for turn, kind in enumerate(kinds)
    ]


@pytest.mark.parametrize(("traversal", "kind"), over_kinds())
def test_events_that_nobody_hears_compile_to_nothing(traversal: tuple[str, str, str], kind: str) -> None:
    """The GPU's machine code of a trace is that of the unit without events, byte by byte."""
    text = write_unit(unit_of(traversal, kind), "cuda", 1).text
    codes = [
        code_of(compile_text(each, compile_options(90)).image) for each in (text, without_events(text, "#include"))
    ]
    assert codes[0] == codes[1]


@pytest.mark.parametrize(
    "traversal", [("lbvh", "bvh8", "bvh8_stack"), ("median_sah", "kd8", "full_stack")], ids="-".join
)
def test_events_that_nobody_hears_compile_to_nothing_on_the_host(traversal: tuple[str, str, str]) -> None:
    """The same of packs: interleaved rays, and rays by octants."""
    text = write_unit(unit_of(traversal, "closest"), "host", 16).text
    assert assembly_of(text) == assembly_of(without_events(text, '#include "gpu/device'))
