"""Hot spots: counts are those of an independent traversal in float64, their totals those of the ray type `steps`, and
their shares add up."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.hot_findings import HotFinding
from raygrove.gpu.analysis.hot_frames import hot_spots_of, hot_spots_of_rays, measured_remedy, with_findings
from raygrove.gpu.analysis.hot_spots import HotSpots, Owners
from raygrove.gpu.analysis.hot_words import BY
from raygrove.gpu.analysis.node_counts import FIELDS, Counts
from raygrove.gpu.camera import fit
from raygrove.gpu.hierarchy.base import NOT_TOLD, Hierarchy, NodeTable
from raygrove.gpu.hierarchy.registry import structures, telling_layouts
from raygrove.gpu.settings import checked
from raygrove.gpu.shade.smooth import Smooth
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import BufferRays, Tracer, upload_rays
from raygrove.gpu.update.history import MEASURE_INTERVAL
from raygrove.gpu.update.options import UpdateOptions
from tests.gpu.hierarchy.traversed_boxes import as_traversed
from tests.gpu.trace.scenes import built, random_rays, soup

from .traversal_oracle import distances, met, nearest_first

TRAVERSALS = [
    (name, layout, traversal)
    for name in ("brute_force", "grid", "grid_two_level", "lbvh", "median_sah", "octree_top_down")
    for layout in telling_layouts(name)
    for traversal in structures()[name].traversals(layout)
]
over_traversals = pytest.mark.parametrize("traversal", TRAVERSALS, ids="-".join)
SORTED = [traversal for traversal in TRAVERSALS if traversal[1] in ("bvh2", "bvh2_soa", "bvh2_compact", "bvh4")]
CELLS = [traversal for traversal in TRAVERSALS if structures()[traversal[0]].capabilities.splits_space]
EXACT_BOXES = [traversal for traversal in TRAVERSALS if traversal[1] == "bvh8"]
VERTICES = soup(4, 60)


def some_rays(count: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Rays through the soup, none along an axis."""
    origins, directions = random_rays(5, 2 * count)
    slanted = np.flatnonzero((np.abs(directions) > 0.02).all(axis=1))[:count]
    return origins[slanted].astype(np.float64), directions[slanted].astype(np.float64)


def counted(target: Target, made: Hierarchy, rays: BufferRays, kind: str = "closest") -> HotSpots:
    """Hot spots of rays."""
    return hot_spots_of_rays(target, made, rays, kind)


@over_traversals
def test_totals_are_those_of_the_steps(target: Target, traversal: tuple[str, str, str]) -> None:
    made = built(target, soup(4, 120), *traversal)
    rays = upload_rays(target, *random_rays(5, 128))
    found, hits = counted(target, made, rays), Tracer(target, made.traversal()).trace(rays, "steps")
    steps, tests, boxes = (int(target.download(array)[:128].sum()) for array in (hits.steps, hits.tests, hits.boxes))
    assert (found.visits.sum(), found.tests.sum(), found.box_tests.sum()) == (steps, tests, boxes)
    assert found.counts.rays == 128 and found.counts.primitive_tests.sum() == tests > 0
    assert found.counts.nodes["found"].sum() == (target.download(hits.prim_id)[:128] >= 0).sum() > 20
    assert (found.visits[found.table.event_ids == NOT_TOLD] == 0).all()
    assert found.hits.sum() == found.counts.primitive_hits.sum()


@pytest.mark.parametrize("kind", ["closest", "any"])
@pytest.mark.parametrize("traversal", SORTED, ids="-".join)
def test_counts_are_those_of_a_traversal_in_float64(target: Target, traversal: tuple[str, str, str], kind: str) -> None:
    made, (origins, directions) = built(target, VERTICES, *traversal), some_rays()
    table = as_traversed(made.nodes(), traversal[1])
    walks = [nearest_first(table, VERTICES, *ray, kind == "any") for ray in zip(origins, directions, strict=True)]
    sure = np.array([walk.is_sure for walk in walks])
    assert sure.sum() > 40
    found = counted(target, made, upload_rays(target, origins[sure], directions[sure]), kind)
    for name in ("visits", "tests", "hits", "found", "culled"):
        expected = np.sum([getattr(walk, name) for walk in walks if walk.is_sure], axis=0)
        np.testing.assert_array_equal(found.counts.nodes[name], expected, name)
    assert found.counts.nodes["found"].sum() > 5


@pytest.mark.parametrize("traversal", [*CELLS, *EXACT_BOXES], ids="-".join)
def test_nodes_are_those_that_rays_are_in(target: Target, traversal: tuple[str, str, str]) -> None:
    """From front to back through cells every ray; through boxes that are ordered by directions rays without a hit."""
    made, (origins, directions) = built(target, VERTICES, *traversal), some_rays(128)
    table, is_cells = made.nodes(), traversal in CELLS
    expected, chosen = np.zeros(len(table), np.int64), []
    for number, ray in enumerate(zip(origins, directions, strict=True)):
        inside, is_sure = met(table, VERTICES, *ray)
        if is_sure and (is_cells or hits_nothing(*ray)):
            chosen.append(number)
            expected += inside
    assert len(chosen) > 10
    expected[0] = expected[0] if is_cells else len(chosen)
    found = counted(target, made, upload_rays(target, origins[chosen], directions[chosen]))
    if traversal[2] in ("restart", "short_stack"):  # from the root once more: nodes on the way are visited again
        assert (found.visits >= expected).all()
        np.testing.assert_array_equal(found.visits > 0, expected > 0)
    else:
        np.testing.assert_array_equal(found.visits, expected)
    visited = np.flatnonzero(table.is_leaf & (found.visits > 0))
    firsts, counts = table.first_reference[visited], table.reference_count[visited]
    listed = [table.references[first : first + count] for first, count in zip(firsts, counts, strict=True)]
    np.testing.assert_array_equal(np.flatnonzero(found.counts.primitive_tests), np.unique(np.concatenate(listed)))


def hits_nothing(origin: np.ndarray, direction: np.ndarray) -> bool:
    """Whether a ray misses all triangles."""
    return bool(np.isinf(distances(VERTICES, origin, direction)[0]).all())


def of_frame(**asked: object) -> HotSpots:
    """Hot spots of a small picture of the walker."""
    return rg.hot_spots(rg.open("walker"), "lbvh/bvh4", size=(64, 48), device="cpu", **asked)  # type: ignore[arg-type]


@pytest.mark.each_value
def test_shares_add_up_however_they_are_listed() -> None:
    found = of_frame(rays="primary")
    for by in BY:
        assert sum(one.share for one in found.top(10**6, by)) == pytest.approx(1.0), by
    assert found.share_below[0] == pytest.approx(1.0)
    objects = found.top(99, "object")
    assert {"torso", "left arm"} <= {one.name for one in objects} and objects == tuple(
        sorted(objects, key=lambda one: -one.share)
    )
    assert sum(one.tests for one in objects) == found.tests.sum()
    root = found.node(0)
    assert root.visits == found.counts.rays == 64 * 48 and root.box_tests == 4 * root.visits > root.box_hits > 0
    hit = found.counts.nodes["found"].sum()
    assert root.missed == pytest.approx(1.0 - hit / root.visits)
    assert str(found).splitlines()[2].startswith("node 0")
    ids = np.asarray(found.table.event_ids)
    for one in found.top(60):  # as the tree's browser and the ray debugger call them
        told = int(ids[one.number])
        assert one.name.split() == (["node", str(told)] if told >= 0 else ["leaf", f"~{~told}"])
    assert any(one.name.split()[1] != str(one.number) for one in found.top(60)), "which is no row of the table"
    with pytest.raises(rg.Error, match="by node, depth, object, material, triangle, not by 'pixel'"):
        found.top(by="pixel")


@pytest.mark.parametrize(
    ("ray_type", "options", "kinds"),
    [
        ("smooth", {}, {"primary": "closest", "shadow": "any"}),
        ("ao", {"rays": 2}, {"primary": "closest", "occlusion": "any"}),
        ("diffuse", {"rays": 1}, {"primary": "closest", "bounce 1": "closest"}),
        ("path", {"bounces": 2}, {"primary": "closest", "shadow": "any", "bounce 1": "closest", "bounce 2": "closest"}),
    ],
)
def test_kinds_of_rays_are_counted_apart(ray_type: str, options: dict[str, object], kinds: dict[str, str]) -> None:
    def ask(rays: str, kind: str = "both") -> HotSpots:
        return of_frame(ray_type=ray_type, ray_type_options=options, rays=rays, kind=kind)

    everything = ask("all")
    parts = [ask(name, kind) for name, kind in kinds.items()]
    assert parts[0].counts.rays == 64 * 48 and all(part.counts.rays > 0 for part in parts)
    assert sum(part.counts.rays for part in parts) == everything.counts.rays
    np.testing.assert_array_equal(np.sum([part.visits for part in parts], axis=0), everything.visits)
    with pytest.raises(rg.Error, match="no rays are called 'bounce 9' with both hits; this picture casts primary"):
        ask("bounce 9")


def test_rays_to_lights_are_those_that_the_picture_counts(target: Target) -> None:
    scene = rg.open("walker").to_plain()
    settings = rg.ViewSettings(ray_type="smooth", ray_type_options=checked(Smooth.Options, {"shadows": True}))
    view = rg.View(settings, fit(scene.lower, scene.upper), rg.ArrayPixels(target, 64, 48))
    with rg.Engine(target, scene) as engine:
        engine.render_frame(rg.Moment(), [view])
        drawn = engine.flush().views[0]
        picture = view.pixels.download()  # type: ignore[attr-defined]
        assert hot_spots_of(engine, view, "shadow").counts.rays == drawn.rays_by_kind["shadow"] > 100
        assert hot_spots_of(engine, view, "primary", "closest").counts.rays == drawn.rays_by_kind["primary"]
        engine.render_frame(rg.Moment(), [view])
        engine.flush()
        np.testing.assert_array_equal(view.pixels.download(), picture)  # type: ignore[attr-defined]


def test_refits_since_the_build_are_said_before_other_findings(target: Target) -> None:
    """Other remedies are new trees, too: what a rebuild saves is told first, and counted as theirs is."""
    scene = rg.open("explode").to_plain()
    settings = rg.ViewSettings(hierarchy="lbvh", ray_type="flat", update=UpdateOptions(mode="refit"))
    view = rg.View(settings, fit(scene.lower, scene.upper), rg.ArrayPixels(target, 64, 48))
    with rg.Engine(target, scene) as engine:
        codes = []
        for frame in range(4):
            engine.render_frame(rg.Moment(float(frame)), [view])
            engine.flush()
            found = with_findings(engine, view, hot_spots_of(engine, view))
            codes.append([one.code for one in found.findings])
        first = found.findings[0]
        assert "refitted" not in codes[0] and first.code == "refitted"
        assert isinstance(first, HotFinding) and first.evidence["refits"] == 3
        first = dataclasses.replace(first, evidence={"refits": 3, "cost_ratio": None})
        assert not first.is_told
        assert first.sentence == "The tree was refitted in 3 frames since it was built."
        assert first.configuration == f"{found.configuration}@rebuild"
        after = measured_remedy(engine, view, found, first)
        gain = after.gain
        assert after.is_told and not dataclasses.replace(after, gain=1.05).is_told
        with rg.Engine(target, scene) as anew:
            anew.render_frame(rg.Moment(3.0), [view])
            anew.flush()
            assert gain == pytest.approx(found.total_cost / hot_spots_of(anew, view).total_cost) and gain > 2.0


def test_refits_are_told_uncounted_where_the_cost_has_grown(target: Target) -> None:
    scene = rg.open("explode").to_plain()
    settings = rg.ViewSettings(hierarchy="lbvh", ray_type="flat", update=UpdateOptions(mode="refit"))
    view = rg.View(settings, fit(scene.lower, scene.upper), rg.ArrayPixels(target, 64, 48))
    with rg.Engine(target, scene) as engine:
        for frame in (0.0, 0.0, 2.0, 2.2, 2.4):
            time.sleep(1.1 * MEASURE_INTERVAL)
            engine.render_frame(rg.Moment(frame), [view])
            engine.flush()
        found = with_findings(engine, view, hot_spots_of(engine, view))
        first = found.findings[0]
        assert isinstance(first, HotFinding) and first.evidence["refits"] == 3
        assert first.evidence["cost_ratio"] > 1.1 and first.is_told
        less = dataclasses.replace(first, evidence={"refits": 3, "cost_ratio": 1.05})
        assert not less.is_told and not dataclasses.replace(first, gain=1.0).is_told, "what is counted decides"


def test_rays_that_kernels_make_on_the_way_leave_the_primary_ones() -> None:
    assert of_frame(ray_type="distributed").counts.rays == of_frame(rays="primary").counts.rays


def test_a_structure_counts_given_rays() -> None:
    with rg.build((VERTICES.reshape(-1, 3), np.arange(180).reshape(-1, 3)), "hploc", device="cpu") as tree:
        rays = rg.RaySet(*some_rays())
        found = tree.hot_spots(rays)
        assert found.counts.rays == 64 and len(found.top(5)) == 5
        printed = str(tree.hot_spots(rays, top=5)).splitlines()
        assert [line.split("  ")[0] for line in printed[2:7]] == [one.name for one in found.top(5)]
        assert len(str(found).splitlines()) - len(printed) == len(found.top(20)) - 5
        assert rg.hot_spots(tree, rays, kind="any").tests.sum() <= found.tests.sum()
        with pytest.raises(rg.Error, match="known"):
            found.top(by="object")
        with pytest.raises(rg.Error, match="groups or masks"):
            tree.hot_spots(rg.RaySet(*some_rays(), groups=3))
        with pytest.raises(rg.Error, match="closest hit or for any, not 'both'"):
            tree.hot_spots(rays, kind="both")
        with pytest.raises(rg.Error, match="a structure needs rays"):
            rg.hot_spots(tree)
    with pytest.raises(rg.Error, match=r"rg.Clip and a configuration"):
        rg.hot_spots([1, 2, 3])  # type: ignore[arg-type]


def test_owners_that_nobody_named_have_numbers() -> None:
    found = of_frame(rays="primary")
    owners = Owners(np.where(np.arange(len(found.counts.primitive_tests)) < 9, -1, 3), found.owners.materials)  # type: ignore[union-attr]
    names = {one.name for one in dataclasses.replace(found, owners=owners).top(9, "object")}
    assert names <= {"nobody's", "object 3"} and "object 3" in names


def test_what_is_spent_above_empty_leaves_is_borne_by_their_neighbours() -> None:
    """A tree by hand: the root over a leaf of two triangles and an inner node that holds nothing but an empty leaf."""
    table = NodeTable(
        np.array([-1, 0, 0, 2], np.int32), np.array([0, 1, 1, 2], np.int32), np.zeros((4, 3), np.float32),
        np.ones((4, 3), np.float32), np.array([False, True, False, True]), np.zeros(4, np.int32),
        np.array([0, 2, 0, 0], np.int32), np.array([0, 1], np.int32), np.arange(4, dtype=np.int32),
    )  # fmt: skip
    nodes = {name: np.zeros(4, np.int64) for name in FIELDS} | {"visits": np.array([10, 6, 8, 8])}
    nodes["tests"] = np.array([0, 12, 0, 0])
    found = HotSpots(table, Counts(nodes, np.array([8, 4]), np.array([2, 1]), 10, 2), "given", "closest")
    assert found.total_cost == 10 + 8 + 12
    assert found.triangle_share == pytest.approx([(8 + 9) / 30, (4 + 9) / 30])


def test_counts_of_two_kinds_of_rays_add_up() -> None:
    """Where one kind never met an inner node, and so no box, the other's says how many there are."""
    nodes = {name: np.arange(2) for name in FIELDS}
    one, other = (Counts(nodes, np.array([1, 2]), np.array([1, 0]), 5, width) for width in (0, 4))
    both = one.plus(other)
    assert (both.width, other.plus(one).width, both.rays) == (4, 4, 10)
    assert both.primitive_tests.tolist() == [2, 4] and both.primitive_hits.tolist() == [2, 0]
    assert all(both.nodes[name].tolist() == [0, 2] for name in FIELDS)


@over_traversals
def test_of_hits_as_near_as_one_another_the_one_that_stays_counts(target: Target, traversal: tuple[str, ...]) -> None:
    """Triangles of one plane that lie over one another, and rays that meet some of them at the same distance, to the
    bit: what is found lies where the tracer's hit is listed."""
    random = np.random.default_rng(2)
    corner = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0]], np.float32)
    at = np.concatenate([random.integers(0, 12, (90, 1, 2)), np.zeros((90, 1, 1))], axis=2)
    made = built(target, corner + at.astype(np.float32), *traversal)
    origins = np.concatenate([random.uniform(0, 16, (256, 2)), np.full((256, 1), 3.0)], axis=1).astype(np.float32)
    rays = upload_rays(target, origins, np.tile(np.array([[0, 0, -1]], np.float32), (256, 1)))
    found = counted(target, made, rays)
    hits = target.download(Tracer(target, made.traversal()).trace(rays, "steps").prim_id)[:256]
    table, seen = found.table, np.bincount(hits[hits >= 0], minlength=90)
    assert seen.sum() > 100 and found.counts.primitive_hits.sum() > 1.1 * seen.sum(), "hits give way to others"
    expected = np.zeros(len(table), np.int64)
    for leaf in np.flatnonzero(table.is_leaf):
        first = table.first_reference[leaf]
        expected[leaf] = seen[table.references[first : first + table.reference_count[leaf]]].sum()
    if structures()[traversal[0]].capabilities.splits_space:  # one of the cells that list it
        assert (found.counts.nodes["found"] <= expected).all()
    else:
        np.testing.assert_array_equal(found.counts.nodes["found"], expected)
