"""Barnes and Hut's walk and the fast multipole method against the direct sum: errors by order and angle, momentum,
every pair once, and what happens without room."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from raygrove.gpu.gravity import BarnesHutOptions, MultipoleOptions
from raygrove.gpu.hierarchy.octree.point_tree import NODES, PointTree
from raygrove.gpu.nbody.barnes_hut import BarnesHut
from raygrove.gpu.nbody.bodies import Bodies, Forces, upload_bodies
from raygrove.gpu.nbody.expansions import Multipoles
from raygrove.gpu.nbody.lists import MOST_PAIRS, TOTALS
from raygrove.gpu.nbody.multipole import FastMultipole
from raygrove.gpu.nbody.run import Run
from raygrove.gpu.target.base import OutOfMemoryError, Target

from .reference import attraction, clustered, rms_error

SOFTENING = 0.02
COUNT = 2000


def find(target: Target, forces: Forces, bodies: Bodies) -> np.ndarray:
    """The field, with as much room as it takes."""
    forces.find(bodies)
    while target.download(bodies.progress)[1]:
        forces.make_room()
        forces.find(bodies)
    return target.download(bodies.field)


def multipole_field(target: Target, positions: np.ndarray, masses: np.ndarray, **options: Any) -> np.ndarray:
    bodies = upload_bodies(target, positions, np.zeros_like(positions), masses)
    return find(target, FastMultipole(target, len(masses), SOFTENING, MultipoleOptions(**options)), bodies)


def walked_field(target: Target, positions: np.ndarray, masses: np.ndarray, **options: Any) -> np.ndarray:
    bodies = upload_bodies(target, positions, np.zeros_like(positions), masses)
    return find(target, BarnesHut(target, len(masses), SOFTENING, BarnesHutOptions(**options)), bodies)


@pytest.fixture(scope="module")
def start() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    positions, _, masses = clustered(COUNT)
    return positions, masses, attraction(positions, masses, SOFTENING)


MOST = {2: np.inf, 4: 1e-3, 6: 1e-5}
"""How large the error of an order may be where the angle is 0.3."""
Start = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.mark.parametrize("orders", [(2, 4), pytest.param((2, 4, 6), marks=pytest.mark.full)])
def test_error_falls_with_the_order_and_the_angle(target: Target, start: Start, orders: tuple[int, ...]) -> None:
    """Units of order 6 take three times as long to compile as those of 4."""
    positions, masses, exact = start
    errors = {
        (order, angle): rms_error(
            multipole_field(target, positions, masses, order=order, angle=angle, leaf_points=16), exact
        )
        for order in orders
        for angle in (0.3, 0.6)
    }
    for angle in (0.3, 0.6):
        for less, order in itertools.pairwise(orders):
            assert errors[order, angle] < 0.5 * errors[less, angle]
    for order in orders:
        assert errors[order, 0.3] < 0.5 * errors[order, 0.6]
        assert errors[order, 0.3] < MOST[order]


def test_options_as_they_are_reach_a_thousandth(target: Target, start: Start) -> None:
    positions, masses, exact = start
    found = multipole_field(target, positions, masses)
    assert rms_error(found, exact) < 1e-3
    assert np.sqrt(np.mean((found[:, 3] / exact[:, 3] - 1.0) ** 2)) < 1e-3


def test_momentum_is_kept(target: Target, start: Start) -> None:
    positions, masses, exact = start
    found = multipole_field(target, positions, masses, order=2, angle=0.9, leaf_points=4)
    assert rms_error(found, exact) > 1e-3
    all_of_it = np.abs((masses[:, None] * found[:, :3]).sum(axis=0)).max()
    assert all_of_it < 1e-6 * (masses[:, None] * np.abs(found[:, :3])).sum()


def test_walk_is_more_exact_with_quadrupoles_and_smaller_angles(target: Target, start: Start) -> None:
    positions, masses, exact = start
    errors = {
        (terms, angle): rms_error(walked_field(target, positions, masses, terms=terms, angle=angle), exact)
        for terms in ("monopole", "quadrupole")
        for angle in (0.2, 0.5)
    }
    for angle in (0.2, 0.5):
        assert errors["quadrupole", angle] < 0.6 * errors["monopole", angle]
    for terms in ("monopole", "quadrupole"):
        assert errors[terms, 0.2] < 0.3 * errors[terms, 0.5]
    assert errors["quadrupole", 0.2] < 1e-3


def pair_counts(target: Target, forces: FastMultipole, tree: PointTree, count: int) -> np.ndarray:
    """How often the lists have each body attracted by each, bodies along the Z-order."""
    nodes = int(target.download(tree.counts)[NODES])
    first, points = (target.download(rows)[:nodes] for rows in (tree.first_point, tree.point_count))
    found = np.zeros((count, count), int)
    for kind in ("far", "near"):
        firsts, counts = (target.download(rows[kind]) for rows in (forces.lists.first, forces.lists.counts))
        listed = target.download(forces.lists.listed[kind])
        for node in range(nodes):
            for other in listed[firsts[node] : firsts[node] + counts[node]]:
                mine, theirs = (slice(first[i], first[i] + points[i]) for i in (node, other))
                found[mine, theirs] += 1
    return found


@hypothesis.given(st.integers(0, 70), st.sampled_from([1, 3, 8]), st.floats(0.2, 0.9), st.integers(0, 9))
@hypothesis.settings(max_examples=25, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_every_pair_is_once_in_the_lists(target: Target, count: int, leaf: int, angle: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    positions = random.integers(0, random.integers(1, 12), (count, 3)).astype(np.float32)  # many in one place
    options = MultipoleOptions(order=2, angle=angle, leaf_points=leaf)
    forces = FastMultipole(target, count, SOFTENING, options)
    masses = np.ones(count, np.float32)
    field = find(target, forces, upload_bodies(target, positions, positions, masses))
    assert (pair_counts(target, forces, forces.tree, count) == 1).all()
    exact = attraction(positions, masses, SOFTENING)
    assert np.abs(field - exact).max(initial=0.0) <= 0.3 * np.abs(exact).max(initial=0.0) + 1e-3


@pytest.mark.parametrize("way", [multipole_field, walked_field])
def test_few_bodies_and_bodies_in_one_place(target: Target, way: Callable[..., np.ndarray]) -> None:
    for count in (0, 1, 2):
        positions, _, masses = clustered(count)
        exact = attraction(positions, masses, SOFTENING)
        assert np.allclose(way(target, positions, masses), exact, rtol=2e-3)
    together = way(target, np.full((500, 3), 5e6, np.float32), np.ones(500, np.float32))
    assert np.abs(together[:, :3]).max() < 1e-3
    assert np.allclose(together[:, 3], -499 / SOFTENING, rtol=1e-4)
    massless = way(target, clustered(300)[0], np.zeros(300, np.float32))
    assert not massless.any()


def make_forces(target: Target, way: str, count: int) -> Any:
    if way == "walk":
        return BarnesHut(target, count, 0.1, BarnesHutOptions(angle=0.4))
    return FastMultipole(target, count, 0.1, MultipoleOptions(order=4, angle=0.5, leaf_points=8))


@pytest.mark.parametrize("way", ["walk", "multipole"])
def test_energy_drifts_little_and_steps_are_the_same_again(target: Target, way: str) -> None:
    run = Run(target, make_forces(target, way, 300), *clustered(300), 0.01)
    start = run.energy()
    run.advance(200)
    run.settle()
    assert run.energy().drift(start) < 1e-3
    places = target.download(run.bodies.places)
    run.reset()
    run.advance(200)
    run.settle()
    assert np.array_equal(target.download(run.bodies.places), places)


def test_steps_without_room_are_made_up_for(target: Target) -> None:
    """The lists lose their room in the middle of a run: no step is done then, and later it is where it would be."""
    runs = [Run(target, make_forces(target, "multipole", 300), *clustered(300), 0.01) for _ in range(2)]
    for run in runs:
        run.advance(5)
    short: FastMultipole = runs[1].forces  # type: ignore[assignment]
    short.lists.room = dict.fromkeys(TOTALS, 16)
    for run in runs:
        run.advance(5)
    stuck = target.download(runs[1].bodies.progress)
    assert stuck.tolist() == [5, 1]
    runs[1].settle(waits=False)
    target.synchronize()
    runs[1].settle(waits=False)
    assert target.download(runs[1].bodies.progress).tolist() == [10, 0]
    for one, other in ((runs[0].bodies.places, runs[1].bodies.places), (runs[0].bodies.before, runs[1].bodies.before)):
        assert np.array_equal(target.download(one), target.download(other))


@pytest.mark.parametrize("kind", TOTALS)
@pytest.mark.parametrize("nodes", [2, 4, 5])
def test_lists_too_long_to_count_are_refused(target: Target, kind: str, nodes: int) -> None:
    """Their sums pass 2^31, and come out small again past 2^32: no list is written, and room is asked for in vain."""
    bodies = upload_bodies(target, *clustered(300)[:2], np.ones(300))
    forces = FastMultipole(target, 300, SOFTENING, MultipoleOptions(leaf_points=4))
    find(target, forces, bodies)
    lists, tree, lacking = forces.lists, forces.tree, bodies.progress[1:]
    before = target.download(lists.totals)
    counts = np.zeros(len(lists.counts[kind]), np.int32)
    counts[1 : 1 + nodes] = 1 << 30
    target.write(lists.counts[kind], counts)
    target.exclusive_scan(lists.counts[kind], lists.first[kind], "nbody.scan")
    lists._judge(tree, lists.open_lists(), lacking)
    after = target.download(lists.totals)
    assert target.download(lacking).tolist() == [1] and after[TOTALS.index(kind)] == MOST_PAIRS
    others = [index for index, other in enumerate(TOTALS) if other != kind]
    assert np.array_equal(after[others], before[others])
    with pytest.raises(OutOfMemoryError, match="2,147,483,647 pairs of cells"):
        lists.make_room()


def test_orders_have_limits(target: Target) -> None:
    with pytest.raises(ValueError, match="from 1 to 8"):
        Multipoles(target, 9)
