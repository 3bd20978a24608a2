"""The built-in scenes of spheres: as many as asked for, from one seed, where they are said to be."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.app.document.opening import open_scene
from raygrove.app.document.state import SceneReference
from raygrove.app.scene_io.bounds import scene_box
from raygrove.app.scene_io.demos import DemoOptions, demo_info, make_demo, memory, molecule, particles
from raygrove.app.scene_io.demos.particles import FAR, NEAR, PICTURE, make_spheres
from raygrove.app.settings.settings import Settings
from raygrove.gpu.settings import OptionError


@pytest.mark.parametrize("name", ["spheres", "mixed"])
def test_they_are_scenes_as_files_make_them(name: str) -> None:
    first, again, other = (make_demo(name, 700, seed) for seed in (0, 0, 1))
    assert first.primitive_count == 700 and first.duration() == demo_info(name).seconds
    centres = [scene.spheres[0].centres.tobytes() for scene in (first, again, other)]
    assert centres[0] == centres[1] != centres[2]
    lower, upper = scene_box(first)
    assert (np.array(first.lower) <= lower + 1e-5).all() and (upper - 1e-5 <= np.array(first.upper)).all()
    group, keys = first.spheres[0], first.spheres[0].key_frames
    assert group.centres.dtype == group.radii.dtype == np.float32 and (group.radii > 0).all()
    assert keys is None or keys.centres.dtype == np.float32
    assert all(scene_ids in (0, 1) for scene_ids in {thing.node for thing in first.objects})


def test_the_data_set_fills_the_frustum_by_volume_and_both_readings_of_its_radius() -> None:
    by_pixel, by_world = (make_spheres(20_000, 0, reading).spheres[0] for reading in ("pixels", "world"))
    away = -by_pixel.centres[:, 2]
    assert away.min() >= NEAR and away.max() <= FAR
    inside = (away < np.cbrt((NEAR**3 + FAR**3) / 2.0)).mean()
    assert abs(inside - 0.5) < 0.02
    slope = np.tan(np.radians(particles.FOV / 2.0))
    np.testing.assert_allclose(by_pixel.radii / away / (2.0 * slope / PICTURE), 3.0, rtol=1e-5)
    assert np.ptp(by_world.radii) == 0.0 and np.array_equal(by_pixel.centres, by_world.centres)


def test_both_readings_and_every_size_can_be_chosen_by_settings() -> None:
    """What `--set demo.sphere_radius=world` opens."""
    reference, usual = SceneReference("demo", ("spheres",)), Settings()
    for radius in ("pixels", "world"):
        demo = DemoOptions(triangles=500, sphere_radius=radius, sphere_pixels=12.0)
        opened = open_scene(reference, dataclasses.replace(usual, demo=demo)).spheres[0]
        assert np.array_equal(opened.radii, make_spheres(500, 0, radius, 12.0).spheres[0].radii)
    by_default = open_scene(reference, usual).spheres[0].radii
    assert np.array_equal(by_default, make_spheres(100_000, 0).spheres[0].radii)


def test_falling_spheres_go_through_holes() -> None:
    """At the height of the sieve no centre comes nearer to a bar than the radius."""
    scene = make_demo("mixed", 900)
    keys, radii = scene.spheres[0].key_frames, scene.spheres[0].radii
    assert keys is not None and scene.spheres[0].box is not None
    pitch, half_bar = (
        2.0 * particles.HALF / particles.HOLES,
        0.5 * particles.BAR * 2.0 * particles.HALF / particles.HOLES,
    )
    for centres in keys.centres[:: particles.KEYS // 4]:
        near = np.abs(centres[:, 1]) < 0.1
        beside = np.abs((centres[near][:, [0, 2]] + particles.HALF) / pitch - 0.5) % 1.0
        to_bar = pitch * (0.5 - np.minimum(beside, 1.0 - beside))
        assert (to_bar - 0.5 * half_bar >= radii[near, None] - 0.02).all()


def test_more_than_memory_holds_is_refused_with_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = {"spheres": "6.7", "mixed": "23.8", "molecule": "29.2"}
    monkeypatch.setattr(memory, "free_memory", lambda: 6 << 30)
    for name, gigabytes in needed.items():
        with pytest.raises(
            OptionError, match=f"spheres take {gigabytes} GiB while they are made, and 6.0 GiB are free"
        ):
            make_demo(name, 100_000_000)
    with pytest.raises(OptionError, match="demo.triangles = 100000000 is not allowed: fewer: 99,999,832 spheres"):
        make_demo("mixed", 100_000_000)
    with pytest.raises(OptionError, match=r"to 16,000,000 \(the bonds"):
        make_demo("ball_and_stick", 17_000_000)
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 20)
    for name in ("ball_and_stick", "galaxy"):
        with pytest.raises(OptionError, match="GiB are free"):
            make_demo(name, 100_000)


def test_what_many_take_is_said_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(memory, "remark", said.append)
    monkeypatch.setattr(memory, "free_memory", lambda: 3 << 30)
    make_demo("spheres", 2000)
    assert not said
    monkeypatch.setattr(memory, "SAID_FROM", 1)
    monkeypatch.setattr(np.random, "default_rng", lambda *seed: pytest.fail("made before it was said"))
    for name in ("spheres", "mixed", "molecule", "ball_and_stick", "galaxy"):
        with pytest.raises(pytest.fail.Exception):
            make_demo(name, 2_000_000)
    assert len(said) == 5 and all(sentence.endswith("of 3.0 GiB that are free.") for sentence in said)
    assert said[0].startswith("2,000,000 spheres take 0.1 GiB while they are made, of 3.0 GiB")


@pytest.mark.parametrize(("name", "module"), [("mixed", particles), ("molecule", molecule)])
def test_many_have_fewer_key_frames(monkeypatch: pytest.MonkeyPatch, name: str, module: Any) -> None:
    usual = make_demo(name, 900)
    monkeypatch.setattr(module, "MANY", 100)
    fewer = make_demo(name, 900)
    keys, few = usual.spheres[0].key_frames, fewer.spheres[0].key_frames
    assert keys is not None and few is not None
    step, left = divmod(len(keys.times) - 1, len(few.times) - 1)
    assert left == 0 and step >= 2 and np.array_equal(few.times, keys.times[::step])
    np.testing.assert_allclose(few.centres, keys.centres[::step], atol=1e-6)
    lower, upper = scene_box(fewer)
    assert (np.array(fewer.lower) <= lower + 1e-5).all() and (upper - 1e-5 <= np.array(fewer.upper)).all()


def test_a_long_chain_has_its_side_chains_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(molecule, "DRAWN", 36)
    (atoms,) = make_demo("molecule", 3000).spheres
    element, residue = (one.values for one in atoms.attributes[:2])
    assert len(atoms.centres) == 3000 and np.all(np.diff(residue) >= 0) and residue[-1] > 300
    one, other = (element[(residue >= first) & (residue < first + 36)] for first in (0, 36))
    assert np.array_equal(one, other)
    assert len(np.unique(np.round(atoms.centres, 3), axis=0)) == 3000
