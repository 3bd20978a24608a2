"""The direct sum against numpy, and what leapfrog keeps: energy, momentum, the way back."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from raygrove.gpu.nbody.bodies import upload_bodies
from raygrove.gpu.nbody.direct import DirectSum
from raygrove.gpu.nbody.run import Run
from raygrove.gpu.target.base import Target

from .reference import attraction, clustered, energy, leapfrog, rms_error

SOFTENING = 0.05


def field_of(target: Target, positions: np.ndarray, masses: np.ndarray, softening: float) -> np.ndarray:
    bodies = upload_bodies(target, positions, np.zeros_like(positions), masses)
    DirectSum(target, softening).find(bodies)
    return target.download(bodies.field)


@pytest.mark.parametrize("count", [0, 1, 2, 15, 17, 255, 257, 1030])
def test_field_is_that_of_all_pairs(target: Target, count: int) -> None:
    positions, _, masses = clustered(count)
    exact = attraction(positions, masses, SOFTENING)
    found = field_of(target, positions, masses, SOFTENING)
    assert np.abs(found - exact).max(initial=0.0) <= 2e-6 * np.abs(exact).max(initial=0.0)


def test_bodies_in_one_place_have_a_potential_and_no_pull(target: Target) -> None:
    places, masses = np.ones((300, 3), np.float32), np.ones(300, np.float32)
    found = field_of(target, places, masses, 0.5)
    assert not found[:, :3].any()
    assert np.allclose(found[:, 3], -299 / 0.5)
    assert not field_of(target, places, masses, 0.0).any()  # without softening they are one


@hypothesis.given(st.floats(-30, 0), st.floats(-30, 0))
@hypothesis.settings(max_examples=20, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_bodies_as_near_as_can_be_have_finite_fields(target: Target, near: float, nearer: float) -> None:
    places = np.array([[0, 0, 0], [10.0**near, 0, 0], [0, 10.0**nearer, 0]], np.float32)
    assert np.isfinite(field_of(target, places, np.ones(3, np.float32), 0.0)).all()


def test_what_is_not_finite_is_refused(target: Target) -> None:
    positions, velocities, masses = clustered(5)
    positions[2, 1] = np.nan
    with pytest.raises(ValueError, match="1 of 5 bodies"):
        upload_bodies(target, positions, velocities, masses)
    with pytest.raises(ValueError, match="masses of shape"):
        upload_bodies(target, positions, velocities, masses[:3])


def make_run(target: Target, count: int = 60, step: float = 0.01) -> Run:
    return Run(target, DirectSum(target, SOFTENING), *clustered(count), step)


def test_steps_are_those_of_numpy(target: Target) -> None:
    run, start = make_run(target), clustered(60)
    run.advance(20)
    places, _ = leapfrog(*start, SOFTENING, 0.01, 20)
    before, _ = leapfrog(*start, SOFTENING, 0.01, 19)
    assert np.allclose(target.download(run.bodies.places)[:, :3], places, atol=2e-5)
    assert np.allclose(target.download(run.bodies.before)[:, :3], before, atol=2e-5)


def test_energy_is_that_of_the_instant(target: Target) -> None:
    run, start = make_run(target), clustered(60)
    assert np.allclose((run.energy().kinetic, run.energy().potential), energy(*start, SOFTENING), rtol=1e-5)
    run.advance(7)
    places, speeds = leapfrog(*start, SOFTENING, 0.01, 7)
    found = run.energy()
    assert found.step == 7
    assert np.allclose((found.kinetic, found.potential), energy(places, speeds, start[2], SOFTENING), rtol=1e-4)


def test_same_steps_give_the_same_bytes_however_they_are_asked_for(target: Target) -> None:
    run = make_run(target)
    run.advance(9)
    whole = target.download(run.bodies.places)
    run.reset()
    for steps in (1, 5, 0, 3):
        run.energy()  # is no step
        run.advance(steps)
    assert run.launched == 9
    assert np.array_equal(target.download(run.bodies.places), whole)


def test_energy_drifts_less_than_a_thousandth_in_a_thousand_steps(target: Target) -> None:
    run = make_run(target, 200)
    start = run.energy()
    run.advance(1000)
    assert run.energy().drift(start) < 1e-3
    momentum = (target.download(run.bodies.velocities)[:, :3] * clustered(200)[2][:, None]).sum(axis=0)
    first = (clustered(200)[1] * clustered(200)[2][:, None]).sum(axis=0)
    assert np.allclose(momentum, first, atol=1e-4)


def test_errors_are_told_from_exact_fields() -> None:
    positions, _, masses = clustered(50)
    exact = attraction(positions, masses, SOFTENING)
    assert rms_error(1.01 * exact, exact) == pytest.approx(0.01)
