"""Trajectories that do not fit the memory of an import: by the disk they become what they become in memory, byte for
byte, and what that does not hold either is refused with the figure."""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, load
from raygrove.app.scene_io.particles.frame import Frame
from raygrove.app.scene_io.particles.trajectory import Trajectory
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.app.scene_io.sanitise_spheres import is_mapped
from raygrove.gpu.scene import Attribute, PeriodicBox, Scene, SphereKeys

SMALL = ImportLimits(memory_mib=1, disk_mib=64)
COUNT, KEYS = 3000, 12


def plain() -> list[Frame]:
    """Positions alone change; elements are one array."""
    random, elements = np.random.default_rng(1), np.arange(COUNT) % 9
    return [Frame(random.normal(size=(COUNT, 3)), elements=elements) for _ in range(KEYS)]


def changing() -> list[Frame]:
    """Particles that come and go in another order each time, with places and radii that are none, and all else."""
    random, frames = np.random.default_rng(2), []
    for key in range(KEYS):
        ids = random.permutation(COUNT + 40 * key)[: COUNT - 10 * key].astype(np.int64)
        positions, radii = random.normal(size=(len(ids), 3)), random.random(len(ids)) + 0.1
        positions[7], radii[11] = np.nan, -2.0
        charge = random.random(len(ids)).astype(np.float32)
        charge[3] = np.nan
        box = PeriodicBox(np.zeros(3), np.eye(3) * (5.0 + key))
        velocity = Attribute("velocity", random.random((len(ids), 3)).astype(np.float32))
        named = (Attribute("charge", charge, "e"), velocity)[: 1 + key % 2]
        frames.append(Frame(positions, radii, random.random((len(ids), 3)).astype(np.float32), ids, None, named, box))
    return frames


def scene_of(frames: Sequence[Frame], limits: ImportLimits) -> Scene:
    trajectory = Trajectory("made.xyz", limits, 30.0)
    for frame in frames:
        trajectory.add(frame)
    return trajectory.scene("made", [])


def assert_same(found: object, expected: object, where: str = "scene") -> None:
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray) and found.dtype == expected.dtype, where
        assert found.shape == expected.shape and found.tobytes() == expected.tobytes(), where
    elif dataclasses.is_dataclass(expected):
        for field in dataclasses.fields(expected):
            assert_same(getattr(found, field.name), getattr(expected, field.name), f"{where}.{field.name}")
    elif isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected), where
        for index, pair in enumerate(zip(found, expected, strict=True)):
            assert_same(*pair, f"{where}[{index}]")
    else:
        assert found == expected or (found != found and expected != expected), where


@pytest.mark.parametrize(("frames", "wrap"), [(plain, False), (changing, False), (changing, True)])
def test_scenes_by_the_disk_are_those_by_memory(frames: Callable[[], list[Frame]], wrap: bool) -> None:
    given = frames()
    found, expected = (
        scene_of(given, dataclasses.replace(limits, wrap=wrap)) for limits in (SMALL, ImportLimits(disk_mib=0))
    )
    keys, in_memory = found.spheres[0].key_frames, expected.spheres[0].key_frames
    assert keys is not None and in_memory is not None and is_mapped(keys.centres) and not is_mapped(in_memory.centres)
    assert_same(found, expected)
    cleaned = sanitise(found)
    assert_same(cleaned, sanitise(expected))
    keys = cleaned.spheres[0].key_frames
    assert keys is not None and is_mapped(keys.centres), "it stays there"


def test_particles_that_are_others_in_each_frame_go_to_the_disk_at_the_end() -> None:
    """Frames that fit one by one, of which each has other ids: only put together they do not fit."""
    random, count = np.random.default_rng(3), 600
    given = [Frame(random.normal(size=(count, 3)), ids=np.arange(count) + count * key) for key in range(KEYS)]
    found, expected = (scene_of(given, limits) for limits in (SMALL, ImportLimits(disk_mib=0)))
    keys = found.spheres[0].key_frames
    assert keys is not None and keys.centres.shape == (KEYS, count * KEYS, 3) and is_mapped(keys.centres)
    assert_same(found, expected)


def test_more_than_the_disk_may_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SceneError, match="may use 1 MiB of memory and 2 MiB of the disk. Raise import.disk_mib"):
        scene_of(plain() * 3, dataclasses.replace(SMALL, disk_mib=2))
    with pytest.raises(SceneError, match="more than the 2 MiB of the disk that it may use. Raise import.disk_mib"):
        scene_of(changing()[:8], dataclasses.replace(SMALL, disk_mib=2))
    with pytest.raises(SceneError, match="5 frames of up to 3,000 .* may use 1 MiB. Raise import.memory_mib"):
        scene_of(changing(), dataclasses.replace(SMALL, disk_mib=0))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(SceneError, match=r"has no room for them \(No space left on device\)"):
        scene_of(plain(), SMALL)


def test_the_child_reads_what_its_memory_cannot_hold(tmp_path: Path) -> None:
    """A frame at a time, in 256 MiB of address space: twice 140 MiB and an interpreter do not fit."""
    frames, count = 120, 100_000
    path, position = tmp_path / "long.f32", np.empty((count, 3), np.float32)
    with path.open("wb") as file:
        for frame in range(frames):
            position[:] = np.arange(count)[:, None] % 1000 + frame
            file.write(position.tobytes())
    (tmp_path / "long.f32.toml").write_text(f'fields = ["x", "y", "z"]\nparticles = {count}\n')
    limits = ImportLimits(memory_mib=256)
    with pytest.raises(SceneError, match="120 frames take .* may use 256 MiB. Raise import.memory_mib"):
        load(str(path), dataclasses.replace(limits, disk_mib=0))
    with pytest.raises(SceneError, match="120 frames take .* and 257 MiB of the disk. Raise import.disk_mib"):
        load(str(path), dataclasses.replace(limits, disk_mib=257))
    keys = load(str(path), limits).spheres[0].key_frames
    assert isinstance(keys, SphereKeys) and keys.centres.shape == (frames, count, 3)
    for frame in (0, 57, frames - 1):
        assert np.array_equal(keys.centres[frame, :, 1], np.arange(count) % 1000 + frame)
