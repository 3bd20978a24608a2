"""The units that are planned are those that pictures ask for, found without compiling any."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.camera import fit
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy import registry
from raygrove.gpu.hierarchy.bvh.builders import hlbvh_sah
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.planned_units import MOST, planned_units, sample_of
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.target.host_unit import HostUnit
from raygrove.gpu.target.planning import AheadCompiler, PlanningTarget
from raygrove.gpu.update.options import UpdateOptions

STRUCTURES = sorted(registry.structures())
MOVING = UpdateOptions(mode="auto")


class Asked(HostTarget):
    """A CPU that writes down which units are asked for."""

    asked: list[UnitSource]

    def unit(self, source: UnitSource) -> HostUnit:
        self.asked = [*getattr(self, "asked", ()), *([] if source in self._units else [source])]
        return super().unit(source)  # type: ignore[return-value]


def asked_for(scene: Scene, settings: ViewSettings) -> set[UnitSource]:
    """What drawing really asks for."""
    with contextlib.closing(Asked()) as target, contextlib.closing(Engine(target, scene)) as engine:
        view = View(settings, fit(scene.lower, scene.upper), ArrayPixels(target, 40, 30))
        for time in (0.0, 0.1, 0.2):
            engine.render_frame(Moment(time), [view])
        engine.flush()
        return set(target.asked)


@pytest.fixture
def without_compiler(monkeypatch: pytest.MonkeyPatch, host_target: Target) -> Iterator[None]:
    """Nothing but the runtime, which is there, may be compiled."""

    def refuse(*given: object, **named: object) -> None:
        raise AssertionError("something was to be compiled")

    with monkeypatch.context() as patched:
        patched.setattr("raygrove.gpu.target.host_compiler._compile", refuse)
        yield


@pytest.mark.parametrize("name", STRUCTURES)
def test_what_is_planned_for_a_structure_is_what_it_asks_for(
    host_target: Target, name: str, without_compiler: None
) -> None:
    scene, settings = make_demo("explode", 300), ViewSettings(hierarchy=name, update=MOVING)
    planned = planned_units(host_target, scene, [settings])
    assert len(planned) == len(set(planned)) > 5
    if all(AheadCompiler(host_target).is_ready(source) for source in planned):  # else it would take a compiler
        assert asked_for(scene, settings) <= set(planned)


@pytest.mark.parametrize("name", ["lbvh", "hploc", "two_level", "median_sah"])
def test_everything_that_is_drawn_was_planned(host_target: Target, name: str) -> None:
    settings = ViewSettings(hierarchy=name, update=MOVING)
    for scene in (make_demo("orbit", 2000), make_demo("walker", 1500)):
        assert asked_for(scene, settings) <= set(planned_units(host_target, scene, [settings]))


@pytest.mark.parametrize("name", ["ao", "path", "steps", "whitted"])
def test_everything_that_a_ray_type_asks_for_was_planned(host_target: Target, name: str) -> None:
    scene = make_demo("glass", 1200)
    settings = ViewSettings(ray_type=name)
    assert name in ray_types()
    assert asked_for(scene, settings) <= set(planned_units(host_target, scene, [settings]))


@pytest.mark.parametrize("name", ["spheres", "mixed", "ball_and_stick", "molecule"])
def test_spheres_and_glyphs_are_planned_for(host_target: Target, name: str) -> None:
    scene = make_demo(name, 400)
    assert asked_for(scene, ViewSettings()) <= set(planned_units(host_target, scene, [ViewSettings()]))


@pytest.mark.parametrize("size", [(640, 480), (1280, 720), (1920, 1080)])
def test_tiles_are_planned_for_pictures_of_every_size(host_target: Target, size: tuple[int, int]) -> None:
    scene, settings = make_demo("spheres", 400), ViewSettings(primary="tiles")
    with contextlib.closing(PlanningTarget(host_target)) as target:
        with contextlib.closing(Engine(target, scene, repeats=False)) as engine:
            engine.render_frame(Moment(), [View(settings, fit(scene.lower, scene.upper), ArrayPixels(target, *size))])
            engine.flush()
        asked = {source for source in target.planned if source.path == "gpu/glyphs/cast_tiles.cu"}
    assert len(asked) == 1 and asked <= set(planned_units(host_target, scene, [settings]))


def test_a_plan_names_the_choices_together_and_each_unit_once(host_target: Target) -> None:
    scene = make_demo("explode", 300)
    alone = [planned_units(host_target, scene, [ViewSettings(ray_type=name)]) for name in ("smooth", "ao")]
    both = planned_units(host_target, scene, [ViewSettings(ray_type=name) for name in ("smooth", "ao")])
    assert set(both) == set(alone[0]) | set(alone[1]) and len(both) < len(alone[0]) + len(alone[1])


def test_the_sample_of_a_scene_is_small_and_of_the_same_kind() -> None:
    scene = make_demo("walker", 5000)
    few = sample_of(scene)
    assert few.triangle_count <= MOST * len(scene.objects) < scene.triangle_count
    for mesh, small in zip(scene.meshes, few.meshes, strict=True):
        assert (mesh.skin is None, mesh.key_frames is None) == (small.skin is None, small.key_frames is None)
        assert small.triangles.max() == len(small.positions) - 1 and small.positions.dtype == mesh.positions.dtype
    assert few.materials == scene.materials and few.clips == scene.clips


def test_a_unit_is_compiled_ahead_and_then_ready(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    source = UnitSource("gpu/trace/totals.cu", constants=(("NEVER_USED", 4711),))
    ahead = AheadCompiler(host_target)
    ahead.compile(source)
    assert ahead.is_ready(source)
    assert not ahead.is_ready(dataclasses.replace(source, constants=(("NEVER_USED", 4712),)))


@pytest.mark.parametrize("triangles", [5_000, 70_000])
def test_units_that_depend_on_how_many_there_are_are_planned_too(
    host_target: Target, triangles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hlbvh_sah.MANY, "host", 1 << 16)
    scene, settings = make_demo("blob", triangles), ViewSettings("hlbvh_sah")
    missing = asked_for(scene, settings) - set(planned_units(host_target, scene, [settings]))
    assert not missing
