"""Whole frames: one picture whatever the structure, several views, samples, statistics, memory, picking, errors."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, ViewSettings
from raygrove.gpu.errors import Error
from raygrove.gpu.hierarchy.base import HierarchyError, StatisticsOptions
from raygrove.gpu.hierarchy.registry import structure
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import Target, Unit, UnitSource
from raygrove.gpu.update.options import UpdateOptions

from .moving_scene import CAMERA, SIZE, moving_scene, shown, view_of
from .target.in_frame import FrameTarget

pytestmark = pytest.mark.usefixtures("capture_turn")

TREES = [{"hierarchy": "brute_force"}, {"hierarchy": "lbvh", "layout": "bvh2"}, {"hierarchy": "lbvh", "layout": "bvh4"}]


@pytest.fixture
def engine(target: Target) -> Iterator[Engine]:
    with contextlib.closing(Engine(target, moving_scene())) as made:
        yield made


@pytest.mark.parametrize("ray_type", ["flat", "smooth"])
def test_every_structure_gives_the_same_picture(engine: Engine, ray_type: str) -> None:
    views = [view_of(engine.target, f"view {index}", ray_type=ray_type, **tree) for index, tree in enumerate(TREES)]
    for time in (0.0, 0.7, 1.4):
        engine.render_frame(Moment(time), views)
        first, *others = [shown(view) for view in views]
        assert len(np.unique(first.reshape(-1, 4), axis=0)) > 100
        for other in others:
            assert np.array_equal(first, other)


@pytest.mark.parametrize("mode", ["refit", "auto"])
def test_refit_draws_what_a_rebuild_draws(engine: Engine, mode: str) -> None:
    views = [view_of(engine.target, name, update=UpdateOptions(name)) for name in ("rebuild", mode)]
    updates = []
    for frame in range(4):
        engine.render_frame(Moment(frame * 0.5), views)
        assert np.array_equal(*map(shown, views))
        updates.append([view.update for view in engine.flush().views])
    assert updates[0] == ["rebuild", "rebuild"] and updates[1] == ["rebuild", "refit"]
    assert updates[3][1] == "refit" or mode == "auto", "auto takes what times tell is the better one"


def test_views_differ_in_everything_and_keep_their_own(engine: Engine) -> None:
    target = engine.target
    views = [
        view_of(target, "a", ray_type="flat", hierarchy="brute_force"),
        view_of(target, "b", size=(50, 31), samples=3),
        view_of(target, "c", camera=dataclasses.replace(CAMERA, eye=(-3.0, 2.0, 2.0)), ray_type="steps", layout="bvh2"),
    ]
    for _ in range(3):
        engine.render_frame(Moment(0.5), views)
    together = [shown(view) for view in views]
    statistics = engine.flush()
    assert [(v.hierarchy, v.ray_type, v.width, v.samples) for v in statistics.views] == [
        ("brute_force", "flat", 96, 1),
        ("lbvh", "smooth", 50, 3),
        ("lbvh", "steps", 96, 1),
    ]
    for view, image in zip(views, together, strict=True):
        with contextlib.closing(Engine(target, moving_scene())) as alone:
            for _ in range(3):
                alone.render_frame(Moment(0.5), [view])
        assert np.array_equal(shown(view), image)


def test_views_in_strips_do_not_share_their_rows(engine: Engine) -> None:
    """Two views drawn some rows at a time, of which the second one's rows need more memory: each is the picture that is
    drawn at once."""
    target = engine.target
    sizes = {"a": (50, 31), "b": SIZE}
    whole = {name: view_of(target, f"whole {name}", size=size) for name, size in sizes.items()}
    parts = [view_of(target, name, size=size) for name, size in sizes.items()]
    for view in parts:
        view.most_rows = 8
    for _ in range(SIZE[1] // 8 + 1):
        engine.render_frame(Moment(0.5), parts)
    engine.render_frame(Moment(0.5), list(whole.values()))
    assert engine.is_whole(list(whole.values()))
    for view in parts:
        assert np.array_equal(shown(view), shown(whole[view.name]))


def test_two_views_of_one_name_are_refused(engine: Engine) -> None:
    views = [view_of(engine.target, hierarchy=name) for name in ("lbvh", "ploc")]
    with pytest.raises(Error, match="two views of a frame are called 'main'"):
        engine.render_frame(Moment(), views)
    views[1].name = "other"
    engine.render_frame(Moment(), views)
    assert [view.hierarchy for view in engine.flush().views] == ["lbvh", "ploc"]


def test_samples_add_up_and_then_nothing_is_drawn(engine: Engine) -> None:
    view = view_of(engine.target, samples=3)
    images, launches = [], []
    for frame in range(5):
        engine.render_frame(Moment(0.5, 0, frame), [view])
        statistics = engine.flush()
        images.append(shown(view))
        launches.append(statistics.launches)
        assert statistics.frame_id == frame
        assert statistics.views[0].samples == min(frame + 1, 3)
        assert (statistics.views[0].rays > 0) == (frame < 3)
    assert not np.array_equal(images[0], images[1]) and not np.array_equal(images[1], images[2])
    assert np.array_equal(images[2], images[3]) and np.array_equal(images[3], images[4])
    assert launches[4] <= 1, "only the resolve into the pixels is left"
    engine.render_frame(Moment(0.6), [view])
    assert engine.flush().views[0].samples == 1


def test_the_film_restarts_for_what_changes_the_picture(engine: Engine) -> None:
    view = view_of(engine.target, samples=9)

    def samples_after(**change: Any) -> int:
        for name, value in change.items():
            setattr(view, name, value)
        engine.render_frame(Moment(0.5), [view])
        return engine.flush().views[0].samples

    assert [samples_after() for _ in range(2)] == [1, 2]
    assert samples_after(camera=dataclasses.replace(CAMERA, fov=30.0)) == 1
    assert samples_after(settings=dataclasses.replace(view.settings, seed=4)) == 1
    assert samples_after() == 2
    assert samples_after(pixels=ArrayPixels(engine.target, *SIZE)) == 3, (
        "another buffer of the same size shows the same film"
    )


def test_always_draws_a_still_scene_again(engine: Engine) -> None:
    view = view_of(engine.target, update=UpdateOptions("refit", always=True))
    for _ in range(3):
        engine.render_frame(Moment(0.5), [view])
    statistics = engine.flush().views[0]
    assert (statistics.update, statistics.samples) == ("refit", 1) and statistics.rays >= SIZE[0] * SIZE[1]


def test_statistics_add_up(engine: Engine) -> None:
    view = view_of(engine.target)
    for frame in range(3):
        engine.render_frame(Moment(frame * 0.3, 0, 40 + frame), [view])
    statistics = engine.flush()
    of_view = statistics.views[0]
    assert (statistics.frame_id, statistics.triangles, statistics.target) == (42, 502, engine.target.name)
    assert (
        statistics.time == pytest.approx(0.6)
        and statistics.animate_ms > 0
        and statistics.host_ms > 0
        and statistics.launches > 8
    )
    assert of_view.build_ms == pytest.approx(
        sum(ms for name, ms in of_view.phases_ms.items() if name.startswith("build."))
    )
    assert of_view.trace_ms == pytest.approx(of_view.phases_ms["trace.primary"] + of_view.phases_ms["trace.shadow"])
    assert statistics.frame_ms >= sum(of_view.phases_ms.values()) * 0.99
    assert of_view.mrays_per_s == pytest.approx(of_view.rays / of_view.trace_ms / 1000)
    assert (
        of_view.structure.primitive_count == 502
        and of_view.structure.sah_cost is not None
        and of_view.structure.depth is not None
    )
    assert sum(statistics.bytes.values()) > 100_000 and statistics.bytes["film"] > 0
    hits = engine.totals(view)
    assert SIZE[0] * SIZE[1] < of_view.rays <= SIZE[0] * SIZE[1] + 2 * hits.hits
    assert 0 < hits.hits < SIZE[0] * SIZE[1] and 3.0 < hits.sum_t / hits.hits < 9.0


def test_statistics_come_without_waiting(engine: Engine) -> None:
    view = view_of(engine.target)
    seen = [engine.render_frame(Moment(frame * 0.1, 0, frame), [view]) for frame in range(6)]
    ids = [-1 if statistics is None else statistics.frame_id for statistics in seen]
    assert ids == sorted(ids) and all(number <= frame for frame, number in enumerate(ids))
    assert engine.flush().frame_id == 5


def test_frames_of_a_closed_engine_are_not_taken_for_the_next_ones(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_frame(hierarchy: str) -> int:
        with contextlib.closing(Engine(target, moving_scene())) as made:
            made.render_frame(Moment(0.5), [view_of(target, hierarchy=hierarchy)])
            return made.flush().launches

    alone = first_frame("lbvh")
    with monkeypatch.context() as patched, contextlib.closing(Engine(target, moving_scene())) as closed:
        patched.setattr(target, "finished_frames", list)
        closed.render_frame(Moment(0.5), [view_of(target, hierarchy="brute_force")])
    assert first_frame("lbvh") == alone != first_frame("brute_force")


def test_a_frame_allocates_nothing_once_warm(engine: Engine) -> None:
    views = [
        view_of(engine.target, "one"),
        view_of(engine.target, "two", ray_type="steps", layout="bvh2", update=UpdateOptions("refit")),
    ]
    for frame in range(3):
        engine.render_frame(Moment(frame * 0.1), views)
    before = engine.target.memory()
    for frame in range(5):
        engine.render_frame(Moment(1.0 + frame * 0.1), views)
        assert engine.target.memory() == before


class WatchfulTarget(FrameTarget):
    """A host target that knows which units it met for the first time inside a frame."""

    def __init__(self) -> None:
        super().__init__()
        self.met: set[UnitSource] = set()
        self.late: list[str] = []

    def unit(self, source: UnitSource) -> Unit:
        if self.is_in_frame and source not in self.met:
            self.late.append(source.path)
        self.met.add(source)
        return super().unit(source)


@pytest.mark.parametrize("mode", ["rebuild", "refit", "auto"])
def test_nothing_is_compiled_inside_a_frame(mode: str) -> None:
    with contextlib.closing(WatchfulTarget()) as target, contextlib.closing(Engine(target, moving_scene())) as engine:
        view = view_of(target, update=UpdateOptions(mode))
        for ray_type in ("smooth", "flat", "steps"):
            for tree in TREES:
                view.settings = ViewSettings(ray_type=ray_type, update=view.settings.update, **tree)  # type: ignore[arg-type]
                for frame in range(2):
                    engine.render_frame(Moment(frame * 0.2), [view])
        assert target.late == [] and len(target.met) > 12


def test_what_lies_under_a_pixel(engine: Engine) -> None:
    view = view_of(engine.target)
    engine.render_frame(Moment(0.7), [view])
    floor = engine.pick(view, 3.5, 70.5)
    assert floor is not None and (floor.object_id, floor.node, floor.mesh, floor.material) == (0, 0, 0, 3)
    assert floor.prim_id in (0, 1) and floor.position[1] == pytest.approx(-1.2, abs=1e-4)
    assert np.linalg.norm(np.subtract(floor.position, CAMERA.eye)) == pytest.approx(floor.t, rel=1e-4)
    assert engine.pick(view, 1.5, 1.5) is None
    objects = {
        hit.object_id
        for x in range(20, 80, 4)
        for y in range(16, 50, 4)
        if (hit := engine.pick(view, x + 0.5, y + 0.5)) is not None
    }
    assert {1, 2} <= objects


def test_picking_in_a_parallel_view_and_past_the_edge(engine: Engine) -> None:
    camera = Camera(eye=(0.0, 5.0, 0.0), look_at=(0.0, 0.0, 0.0), up=(0.0, 0.0, -1.0), orthographic=True, height=7.2)
    view = view_of(engine.target, camera=camera)
    engine.render_frame(Moment(0.7), [view])
    corner = engine.pick(view, 10.5, 3.5)
    assert corner is not None and corner.object_id == 0
    assert corner.position == pytest.approx(((10.5 / 96 - 0.5) * 9.6, -1.2, (3.5 / 72 - 0.5) * 7.2), abs=1e-4)
    assert corner.t == pytest.approx(6.2, abs=1e-4)


def test_a_triangle_that_is_not_finite_is_left_out_and_counted(target: Target) -> None:
    scene = moving_scene()
    soup = scene.meshes[1]
    broken = soup.positions.copy()
    broken[[0, 4, 8]] = np.nan, np.inf, -np.inf
    keep = np.ones(len(soup.triangles), bool)
    keep[:3] = False
    pictures: list[np.ndarray] = []
    for mesh in (
        dataclasses.replace(soup, positions=broken),
        dataclasses.replace(soup, triangles=soup.triangles[keep], material_ids=soup.material_ids[keep]),
    ):
        view = view_of(target)
        with contextlib.closing(
            Engine(target, dataclasses.replace(scene, meshes=(scene.meshes[0], mesh, scene.meshes[2])))
        ) as engine:
            engine.render_frame(Moment(0.7), [view])
            assert engine.not_finite_count() == (0 if pictures else 3)
            assert engine.flush().views[0].structure.inactive_count == (0 if pictures else 3)
        pictures.append(shown(view))
    assert np.array_equal(*pictures)


def test_whoever_names_a_traversal_has_the_default_layout(target: Target) -> None:
    layout = structure("lbvh").default_layout(target.kind)
    view = view_of(target, ray_type="diffuse", traversal=f"{layout}_stack")
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        engine.render_frame(Moment(), [view])
        assert engine.flush().views[0].layout == layout


def test_nodes_are_those_of_the_view(engine: Engine) -> None:
    view = view_of(engine.target, layout="bvh4")
    engine.render_frame(Moment(0.7), [view])
    table = engine.nodes(view)
    assert len(table) > 100 and table.parent[0] == -1
    assert sorted(table.references.tolist()) == list(range(502))


def test_wrong_choices_are_named_and_the_engine_goes_on(engine: Engine) -> None:
    view = view_of(engine.target)
    engine.render_frame(Moment(), [view])
    for change, error, words in (
        ({"hierarchy": "btree"}, OptionError, "btree"),
        ({"ray_type": "phong"}, LookupError, "phong"),
        ({"optimiser": "gardener"}, OptionError, "gardener"),
        ({"layout": "bvh99"}, (OptionError, HierarchyError), "bvh99"),
    ):
        with pytest.raises(error, match=words):
            engine.render_frame(
                Moment(0.1), [dataclasses.replace(view, settings=dataclasses.replace(view.settings, **change))]
            )
        engine.render_frame(Moment(0.2), [view])
    assert engine.flush().views[0].hierarchy == "lbvh"


@pytest.mark.parametrize("hierarchy", ["lbvh", "sah_events", "median_sah"])
def test_trees_are_judged_as_the_settings_say(engine: Engine, hierarchy: str) -> None:
    view = view_of(engine.target)
    view = dataclasses.replace(view, settings=dataclasses.replace(view.settings, hierarchy=hierarchy, layout="auto"))
    engine.render_frame(Moment(), [view])
    plain = engine.flush().views[0].structure
    assert plain.end_point_overlap is None and plain.levels == ()
    wanted = StatisticsOptions(traversal_cost=3.0, quality=True)
    engine.render_frame(
        Moment(), [dataclasses.replace(view, settings=dataclasses.replace(view.settings, statistics=wanted))]
    )
    judged = engine.flush().views[0].structure
    assert judged.sah_cost is not None and plain.sah_cost is not None and judged.sah_cost > plain.sah_cost
    assert judged.end_point_overlap is not None and (judged.end_point_overlap > 1e-6) == (hierarchy == "lbvh"), (
        "cells do not overlap"
    )
    assert judged.leaf_variability is not None and sum(leaves for _, leaves in judged.levels) == judged.leaf_count


def test_before_the_first_frame_there_is_nothing_to_ask(engine: Engine) -> None:
    view = view_of(engine.target)
    with pytest.raises(HierarchyError, match="No frame has been drawn yet"):
        engine.flush()
    with pytest.raises(HierarchyError, match="'main' has not been drawn yet"):
        engine.pick(view, 0, 0)


def test_an_empty_scene_shows_its_background(target: Target) -> None:
    with contextlib.closing(Engine(target, Scene("empty"))) as engine:
        for ray_type in ("flat", "smooth", "steps"):
            view = view_of(target, ray_type=ray_type)
            engine.render_frame(Moment(), [view])
            assert np.all(shown(view)[..., 3] == 255)
            assert engine.totals(view).hits == 0


def test_pictures_have_a_size() -> None:
    from raygrove.testing import make_target

    with contextlib.closing(make_target("host", threads=1)) as target:
        for size in ((0, 5), (5, 0), (16385, 1)):
            with pytest.raises(ValueError, match="each side is 1 to 16384 pixels"):
                ArrayPixels(target, *size)
