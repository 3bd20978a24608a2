"""The built-in scenes of spheres that are computed: what moves them is what is said."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.app.scene_io.demos import demo_info, make_demo
from raygrove.app.scene_io.demos.galaxy import DURATION, make_galaxy
from raygrove.app.scene_io.demos.molecule import ELEMENTS, make_molecule
from raygrove.gpu.animate.simulation import make_forces
from raygrove.gpu.gravity import GravityOptions, force_method
from raygrove.gpu.nbody.run import Run
from raygrove.gpu.scene import Scene, Spheres
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import Target


def spheres_of(scene: Scene) -> Spheres:
    """The only ones."""
    (thing,) = scene.spheres
    assert [(one.mesh, one.spheres) for one in scene.objects] == [(-1, 0)]
    return thing


def centres_of(scene: Scene) -> np.ndarray:
    """Of all key frames, float64 (K, N, 3); of the start alone where they are simulated."""
    spheres = spheres_of(scene)
    return (spheres.centres[None] if spheres.key_frames is None else spheres.key_frames.centres).astype(np.float64)


def attribute(scene: Scene, name: str) -> np.ndarray:
    """The values of one attribute."""
    return next(one.values for one in spheres_of(scene).attributes if one.name == name).astype(np.float64)


def test_a_galaxy_keeps_its_energy_and_its_place_and_turns(host_target: Target) -> None:
    """For a thousand steps, nearly twice as long as it plays."""
    stars = spheres_of(make_galaxy(300, 3))
    gravity = stars.gravity
    assert gravity is not None and gravity.duration == DURATION
    forces = make_forces(host_target, force_method(gravity, GravityOptions()), len(stars.centres), gravity.softening)
    run = Run(host_target, forces, stars.centres, gravity.velocities, gravity.masses, gravity.step)
    start, places = run.energy(), [stars.centres.astype(np.float64)]
    assert start.total < 0.0
    drifts = []
    for _ in range(100):
        run.advance(10)
        drifts.append(run.energy().drift(start))
        places.append(host_target.download(run.bodies.places)[:, :3].astype(np.float64))
    assert max(drifts) < 1e-3
    middle = np.einsum("n,kni->ki", gravity.masses / gravity.masses.sum(), np.array(places))
    np.testing.assert_allclose(middle - middle[0], 0.0, atol=1e-3)
    played = np.array(places[:58])
    angle = np.unwrap(np.arctan2(played[..., 2], played[..., 0])[:, 1:], axis=0)
    turned = angle[-1] - angle[0]
    assert np.mean(turned > 0.0) in (0.0, 1.0)
    assert np.median(np.abs(turned)) > np.pi


def test_a_galaxy_of_two_million_is_made_and_no_larger_one() -> None:
    with pytest.raises(OptionError, match="2,000,000"):
        make_demo("galaxy", 2_000_001)
    assert demo_info("galaxy").most == 2_000_000


def test_a_molecule_has_the_atoms_asked_for_and_comes_round() -> None:
    scene = make_molecule(1234, 5)
    atoms, places = spheres_of(scene), centres_of(scene)
    assert places.shape[1] == 1234
    np.testing.assert_array_equal(places[0], places[-1])
    known = {float(number): np.float32(radius) for number, radius, _ in ELEMENTS.values()}
    assert [known[number] for number in attribute(scene, "element")] == atoms.radii.tolist()
    apart = np.linalg.norm(places[0][:, None] - places[0][None], axis=2) + 9.0 * np.eye(len(atoms.radii))
    assert apart.min() > 0.5 and np.median(apart.min(axis=1)) < 2.0  # bonded, and not within one another
    moved = np.linalg.norm(np.diff(places, axis=0), axis=2)
    assert 0.05 < moved.max() < 5.0


@pytest.mark.parametrize("make", [make_galaxy, make_molecule])
def test_the_same_seed_gives_the_same_scene_and_all_of_it_is_inside(make: object) -> None:
    assert callable(make)
    one, same, other = make(200, 1), make(200, 1), make(200, 2)
    assert centres_of(one).tobytes() == centres_of(same).tobytes() != centres_of(other).tobytes()
    places = centres_of(one)
    inside = (places >= np.array(one.lower)) & (places <= np.array(one.upper))
    assert inside.all(axis=2).mean() > 0.99
