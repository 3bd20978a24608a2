"""Spheres that are simulated: the instants that are shown, however they are come to; attributes of the instant, energy,
and frames whose steps lacked room."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from raygrove.gpu import gravity as gravity_options
from raygrove.gpu.animate.simulation import Simulations
from raygrove.gpu.attributes import SphereOptions, curve_of
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.gravity import MOST_DIRECT, ForcesError, Gravity, GravityOptions, check_direct, force_method
from raygrove.gpu.nbody.lists import TOTALS
from raygrove.gpu.nbody.multipole import FastMultipole
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Attribute, Moment, Node, Object, Scene, SphereKeys, Spheres
from raygrove.gpu.target.base import Target
from tests.gpu.nbody.reference import clustered, energy, leapfrog

COUNT, STEP, SOFTENING = 60, 0.01, 0.05
AWAY = (10.0, 0.0, 0.0)


def make_scene(count: int = COUNT, forces: str = "auto") -> Scene:
    """Bodies at a node of their own."""
    positions, velocities, masses = clustered(count)
    speed = np.linalg.norm(velocities, axis=1)
    bodies = Spheres(
        "bodies",
        positions,
        np.full(count, 0.05, np.float32),
        attributes=(Attribute("speed", speed.astype(np.float32)), Attribute("mass", masses)),
        gravity=Gravity(velocities, masses, SOFTENING, STEP, 1.0, forces),
    )
    return Scene("bodies", nodes=(Node(translation=AWAY),), spheres=(bodies,), objects=(Object(0, spheres=0),))


@pytest.fixture
def engine(target: Target) -> Iterator[Engine]:
    with Engine(target, make_scene()) as made:
        yield made


def view_of(target: Target) -> View:
    settings = ViewSettings("lbvh", ray_type="flat")
    return View(settings, Camera(eye=(10.0, 0.0, 6.0), look_at=AWAY), ArrayPixels(target, 40, 30))


def places_at(engine: Engine, time: float) -> np.ndarray:
    return engine.spheres(Moment(time))[:, :3]


def simulations(engine: Engine) -> Simulations:
    return engine._animator.simulations


def test_an_instant_lies_between_the_steps_of_numpy(engine: Engine) -> None:
    start = clustered(COUNT)
    for time in (0.0, 0.043, 0.2):
        steps = int(time / STEP + 1e-4)
        before, after = (leapfrog(*start, SOFTENING, STEP, number)[0] for number in (steps, steps + 1))
        expected = before + (time / STEP - steps) * (after - before) + AWAY
        assert np.allclose(places_at(engine, time), expected, atol=3e-5), time
    assert engine.scene.duration() == 1.0


def test_an_instant_is_the_same_however_it_is_come_to(target: Target, engine: Engine) -> None:
    for time in (0.11, 0.5, 0.3, 0.31, 9.0, 0.0, 0.123, 0.123):
        with Engine(target, make_scene()) as other:
            assert np.array_equal(places_at(engine, time), places_at(other, time)), time


def test_after_its_duration_it_stands_still(engine: Engine) -> None:
    assert np.array_equal(places_at(engine, 1.0), places_at(engine, 7.0))


def test_frames_draw_it_and_tell_of_it(target: Target, engine: Engine) -> None:
    start, settings = clustered(COUNT), ViewSettings("lbvh", ray_type="flat")
    pixels = ArrayPixels(target, 40, 30)
    view = View(settings, Camera(eye=(10.0, 0.0, 6.0), look_at=AWAY), pixels)
    pictures = []
    for time in (0.0, 0.1, 0.2, 0.3, 0.4, 0.1):
        engine.render_frame(Moment(time), [view])
        frame = engine.flush()
        pictures.append(pixels.download().tobytes())
        told = frame.simulation
        assert told is not None and told.bodies == COUNT and not frame.is_behind
        assert told.steps == round(time / STEP) + 1
        assert told.ms > 0.0 and ("nbody.direct" in told.phases_ms) == (time > 0.0)  # the first is made ready before
        assert not any(name.startswith("nbody") for name in frame.views[0].phases_ms)
        state = leapfrog(*start, SOFTENING, STEP, told.steps - 1)
        exact, first = sum(energy(*state, start[2], SOFTENING)), sum(energy(*start, SOFTENING))
        assert told.energy == pytest.approx(exact, rel=1e-4)
        assert told.energy_drift == pytest.approx(abs(exact / first - 1.0), abs=1e-4)
    assert pictures[1] == pictures[5] and len(set(pictures)) == 5


def test_attributes_are_those_of_the_instant(target: Target, engine: Engine) -> None:
    view = view_of(target)
    engine.take_sphere_options(SphereOptions(color_by="speed", size_by="position.x"))
    for time in (0.0, 0.255):
        engine.render_frame(Moment(time), [view])
        places, speeds = leapfrog(*clustered(COUNT), SOFTENING, STEP, int(time / STEP + 1e-4) + 1)
        before, _ = leapfrog(*clustered(COUNT), SOFTENING, STEP, int(time / STEP + 1e-4))
        attributes = engine._animator.attributes
        assert attributes is not None
        live = {name: target.download(values) for (_, name), values in attributes.live.items()}
        assert np.allclose(live["speed"], np.linalg.norm(places - before, axis=1) / STEP, rtol=1e-3, atol=1e-4)
        share = (time / STEP) % 1.0
        assert np.allclose(live["position.x"], (before + share * (places - before))[:, 0], atol=3e-5)
        hit = next(found for x in range(40) for y in range(30) if (found := engine.pick(view, x + 0.5, y + 0.5)))
        read = {one.name: float(one.values[0]) for one in hit.attributes}
        assert read["speed"] == pytest.approx(float(live["speed"][hit.sphere]), rel=1e-4)
        assert read["mass"] == pytest.approx(clustered(COUNT)[2][hit.sphere])
    group = engine.scene.spheres[0]
    assert curve_of(group, 0, "speed") is None and curve_of(group, 0, "mass") is not None


def test_steps_that_lacked_room_are_drawn_late(target: Target) -> None:
    scene, view = make_scene(300, "multipole"), view_of(target)
    with Engine(target, scene) as engine, Engine(target, scene) as other:
        engine.render_frame(Moment(0.05), [view])
        assert not engine.flush().is_behind
        forces = simulations(engine)._simulated[0].run.forces
        assert isinstance(forces, FastMultipole)
        forces.lists.room = dict.fromkeys(TOTALS, 16)
        engine.render_frame(Moment(0.1), [view])
        frame = engine.flush()
        assert frame.is_behind and frame.simulation is not None and frame.simulation.steps == 6
        engine.render_frame(Moment(0.1), [view])
        assert not engine.flush().is_behind
        assert np.array_equal(places_at(engine, 0.1), places_at(other, 0.1))


def test_a_frame_makes_no_more_steps_than_it_may(target: Target, engine: Engine) -> None:
    view = view_of(target)
    engine.most_steps = 4
    behind = []
    engine.render_frame(Moment(0.0), [view])
    for _ in range(4):
        engine.render_frame(Moment(0.105), [view])
        frame = engine.flush()
        assert frame.simulation is not None
        behind.append((frame.simulation.steps, frame.is_behind))
    assert behind == [(5, True), (9, True), (11, False), (11, False)]
    with Engine(target, make_scene()) as other:
        assert np.array_equal(places_at(engine, 0.105), places_at(other, 0.105))


def test_gravity_that_does_not_fit_is_refused(target: Target) -> None:
    scene = make_scene()
    group = scene.spheres[0]
    gravity = group.gravity
    assert gravity is not None
    keys = SphereKeys(np.zeros(1, np.float32), group.centres[None])
    wrong = {
        "both key frames and gravity": dataclasses.replace(group, key_frames=keys),
        "velocities of shape": dataclasses.replace(
            group, gravity=dataclasses.replace(gravity, velocities=np.zeros((3, 3)))
        ),
        "in steps of 0": dataclasses.replace(group, gravity=dataclasses.replace(gravity, step=0.0)),
    }
    for said, spheres in wrong.items():
        with pytest.raises(ValueError, match=said):
            Engine(target, dataclasses.replace(scene, spheres=(spheres,)))
    other = dataclasses.replace(group, gravity=dataclasses.replace(gravity, forces="none"))
    with pytest.raises(ValueError, match="one of auto, direct"):
        Engine(target, dataclasses.replace(scene, spheres=(other,)))


def test_other_forces_begin_at_the_start_again(target: Target) -> None:
    """So that an instant is the same whenever they were chosen."""
    exact = leapfrog(*clustered(300), SOFTENING, STEP, 20)[0] + AWAY
    view, places = view_of(target), {}
    ways = {
        "multipole, order 4, angle 0.7": GravityOptions(),
        "multipole, order 2, angle 0.9": GravityOptions(multipole_order=2, multipole_angle=0.9),
        "barnes_hut, monopole, angle 0.6": GravityOptions(
            "barnes_hut", barnes_hut_terms="monopole", barnes_hut_angle=0.6
        ),
        "direct": GravityOptions("direct"),
    }
    with Engine(target, make_scene(300, "multipole")) as engine:
        for said, options in ways.items():
            engine.take_gravity_options(options)
            engine.render_frame(Moment(20 * STEP + 1e-6), [view])
            told = engine.flush().simulation
            assert told is not None and (told.forces, told.steps) == (said, 21)
            places[said] = places_at(engine, 20 * STEP + 1e-6)
            with Engine(target, make_scene(300, "multipole")) as other:
                other.take_gravity_options(options)
                assert np.array_equal(places_at(other, 20 * STEP + 1e-6), places[said]), said
    away = [float(np.sqrt(((rows - exact) ** 2).sum(axis=1).mean())) for rows in places.values()]
    assert away[3] < 3e-5 and away[3] < away[0] < away[1] and away[0] < away[2], away


def test_a_direct_sum_that_nobody_waits_for_is_refused(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the figures, before a step is made; what ran goes on."""
    made = make_scene(300, "multipole")
    monkeypatch.setattr(gravity_options, "MOST_STEP_SECONDS", 300**2 / 4e9 / host_target.threads)  # type: ignore[attr-defined]
    with Engine(host_target, made) as engine:
        before = places_at(engine, 0.1)
        run = simulations(engine)._simulated[0].run
        for _ in range(2):
            with pytest.raises(
                ForcesError, match="direct sum .* of 300 bodies takes about .* Choose multipole"
            ) as refused:
                engine.take_gravity_options(GravityOptions("direct"))
        assert refused.value.instead == ("gravity.forces", "multipole")
        own = dataclasses.replace(make_scene(3).spheres[0].gravity, forces="direct")  # type: ignore[type-var]
        setting, name = refused.value.instead
        assert force_method(own, GravityOptions(**{setting.split(".")[1]: name})).name == name
        engine.take_gravity_options(GravityOptions())
        assert simulations(engine)._simulated[0].run is run
        np.testing.assert_array_equal(places_at(engine, 0.1), before)


def test_the_figures_of_a_refused_direct_sum() -> None:
    check_direct(63_000, 2)
    with pytest.raises(ForcesError, match=r"100,000 bodies takes about 2 s a step.* 2 threads; up to 63,000 bodies"):
        check_direct(100_000, 2)


def test_auto_takes_what_is_the_faster_one_on_its_target() -> None:
    few, many = (make_scene(count, "auto").spheres[0].gravity for count in (MOST_DIRECT, MOST_DIRECT + 1))
    assert few is not None and many is not None
    ways = [force_method(one, GravityOptions(), kind).name for one in (few, many) for kind in ("host", "cuda")]
    assert ways == ["direct", "direct", "multipole", "barnes_hut"]


def test_options_of_a_way_that_is_not_taken_change_nothing(target: Target, engine: Engine) -> None:
    engine.spheres(Moment(0.1))
    run = simulations(engine)._simulated[0].run
    engine.take_gravity_options(GravityOptions(multipole_order=6, barnes_hut_angle=0.3))  # 60 bodies: all pairs
    assert simulations(engine)._simulated[0].run is run and run.launched == 11
