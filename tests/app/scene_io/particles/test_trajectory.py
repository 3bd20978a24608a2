"""Frames become spheres: attributes that come and go, sizes, colours, times, and boxes that change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, importer
from raygrove.app.scene_io.particles.colours import linear_from_display
from raygrove.app.scene_io.particles.columns import frame_of
from raygrove.app.scene_io.particles.frame import Frame, cell
from raygrove.app.scene_io.particles.spacing import spacing
from raygrove.app.scene_io.particles.trajectory import Trajectory
from raygrove.gpu.scene import ABSENT, Attribute, Remark, Scene
from tests.app.scene_io.particles import files

AT = np.arange(9.0).reshape(3, 3)


def scene_of(*frames: Frame, limits: ImportLimits | None = None) -> Scene:
    """The scene of frames."""
    trajectory = Trajectory("made.xyz", limits or ImportLimits(), 30.0)
    for frame in frames:
        trajectory.add(frame)
    return trajectory.scene("made", [Remark(1, "From a reader.")])


def test_an_attribute_that_some_frames_lack_is_not_a_number_there() -> None:
    charge = Attribute("charge", np.array([1.0, 2.0, 3.0], np.float32))
    wide = Attribute("charge", np.ones((3, 2), np.float32))
    one = Frame(AT, attributes=(charge,), ids=np.array([1, 2, 3]))
    scene = scene_of(one, Frame(AT), Frame(AT, attributes=(wide,)))
    (found,) = scene.spheres[0].attributes
    assert found.values.shape == (3, 3) and found.values[0].tolist() == [1, 2, 3] and np.isnan(found.values[1:]).all()
    assert "'charge' has another width in 1 of 3 frames and is missing there." in files.said(scene)
    assert "'charge' has no finite value at some particles, in 2 of 3 frames." in files.said(scene)
    assert "times)" not in files.said(scene) and "From a reader." in files.said(scene)
    assert scene.spheres[0].ids is None, "where a frame has no ids, nobody has"
    absent = Frame(AT[:1], attributes=(Attribute("charge", np.array([9.0], np.float32)),), ids=np.array([2]))
    scene = scene_of(one, absent)
    (found,) = scene.spheres[0].attributes
    assert np.isnan(found.values[1, [0, 2]]).all() and found.values[1, 1] == 9.0
    assert "no finite value" not in files.said(scene), "who is absent lacks no value"


def test_sizes_are_the_files_or_by_the_distance_of_neighbours() -> None:
    columns = {"x": AT[:, 0], "y": AT[:, 1], "z": AT[:, 2]}
    assert scene_of(frame_of({**columns, "Diameter": np.full(3, 4.0)})).spheres[0].radii.tolist() == [2.0] * 3
    scene = scene_of(frame_of(columns))
    assert np.allclose(scene.spheres[0].radii, np.sqrt(27.0) / 2.0) and "no radii" in files.said(scene)
    grid = np.stack(np.meshgrid(*[np.arange(80.0)] * 3), axis=-1).reshape(-1, 3) * 0.5
    assert spacing(grid) == pytest.approx(0.5, rel=0.4), "of 512,000 points some are asked"
    assert spacing(np.zeros((4, 3))) == spacing(np.zeros((1, 3))) == 1.0


def test_colours_are_as_screens_show_them() -> None:
    assert np.allclose(linear_from_display(np.array([[0, 128, 255]], np.uint8)), [[0, 0.21586, 1]], atol=1e-4)
    assert np.allclose(linear_from_display(np.array([[0, 32768, 65535]], np.uint16)), [[0, 0.21404, 1]], atol=1e-4)
    assert np.allclose(linear_from_display(np.array([[0.0, 0.5, 1.0]])), [[0, 0.21404, 1]], atol=1e-4)
    assert np.allclose(linear_from_display(np.array([[0.0, 128.0, 255.0]])), [[0, 0.21586, 1]], atol=1e-4)
    kinds = {"x": AT[:, 0], "y": AT[:, 1], "z": AT[:, 2], "type": np.array([1.0, 2.0, 1.0])}
    found = scene_of(frame_of(kinds)).spheres[0].colours
    assert found is not None and np.array_equal(found[0], found[2]) and not np.array_equal(found[0], found[1])
    others = {**kinds, "type": np.array([2.0, 2.0, 1.0])}
    changed = scene_of(frame_of(kinds), frame_of(others)).spheres[0].key_frames
    assert changed is not None and changed.colours is not None
    assert np.array_equal(changed.colours[1, 0], changed.colours[0, 1])


def test_times_ascend_from_zero_or_are_those_of_a_rate() -> None:
    keys = scene_of(*(Frame(AT, time=time) for time in (2.0, 2.5, 4.0))).spheres[0].key_frames
    assert keys is not None and keys.times.tolist() == [0.0, 0.5, 2.0]
    scene = scene_of(Frame(AT, time=2.0), Frame(AT, time=2.0))
    keys = scene.spheres[0].key_frames
    assert keys is not None and np.allclose(keys.times, [0.0, 1 / 30]) and "do not ascend" in files.said(scene)


def test_a_box_that_changes_has_a_place_in_each_frame() -> None:
    boxes = [cell(np.array([10.0, 10, 10])), None, cell(np.array([12.0, 10, 10]))]
    box = scene_of(*(Frame(AT, box=one) for one in boxes)).spheres[0].box
    assert box is not None and box.vectors.shape == (3, 3, 3) and box.vectors[:, 0, 0].tolist() == [10, 10, 12]
    assert "periodic box" not in files.said(scene_of(Frame(AT, box=cell(np.zeros(3)))))
    flat = scene_of(*(Frame(AT + n, box=cell(np.array([1.0, [0.0, -3.0][n], 2.0]))) for n in range(2)))
    assert "The periodic box has no volume, or is not finite, and was left out. (2 times)" in files.said(flat)


def test_far_from_zero_nothing_is_lost() -> None:
    far = np.array([4.5e6, 5.2e5, 100.0])
    scene = scene_of(Frame(AT * 0.01 + far, box=cell(np.ones(3), far)), Frame(AT * 0.01 + far + 0.001))
    (spheres,) = scene.spheres
    keys = spheres.key_frames
    assert keys is not None and spheres.box is not None
    assert np.allclose(keys.centres + np.array(scene.origin), [AT * 0.01 + far, AT * 0.01 + far + 0.001], atol=1e-5)
    assert np.allclose(spheres.box.origin + np.array(scene.origin), far)


def test_who_waits_stands_where_it_will_come() -> None:
    first, second = Frame(AT[:1], ids=np.array([7])), Frame(AT[1:], ids=np.array([8, 9]))
    scene = scene_of(first, second)
    keys = scene.spheres[0].key_frames
    assert keys is not None and keys.radii is not None
    assert np.array_equal(keys.centres + np.array(scene.origin), [AT, AT])
    assert (keys.radii == ABSENT).tolist() == [[False, True, True], [True, False, False]]


def test_frames_that_take_too_much_are_refused_as_they_come() -> None:
    many = np.zeros((100_000, 3), np.float32)
    with pytest.raises(SceneError, match=r"112 frames of up to 100,000 .* 256 MiB. Raise import.memory_mib") as error:
        scene_of(*[Frame(many)] * 200, limits=ImportLimits(memory_mib=256, disk_mib=0))
    assert "import.every_frame" in str(error.value)


def test_ids_that_never_stay_are_refused_before_they_are_brought_together() -> None:
    """Each frame has other particles: places for all of them in all frames are what takes the memory."""
    frames = [Frame(np.zeros((1000, 3)), ids=np.arange(1000) + 1000 * k) for k in range(130)]
    with pytest.raises(SceneError, match="an import may use 256 MiB"):
        scene_of(*frames, limits=ImportLimits(memory_mib=256, disk_mib=0))
    assert scene_of(*frames[:4], limits=ImportLimits(memory_mib=256)).sphere_count == 4000


def test_a_large_trajectory_goes_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scene of a packed trajectory is larger than its file, and is mapped while it is open."""
    monkeypatch.setattr(importer, "free_mib", lambda: 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("a.xtc", "a.obj"):
        (tmp_path / name).write_bytes(bytes(100_000))
    assert importer.result_folder([str(tmp_path / "a.xtc")]) == str(tmp_path / "cache" / "raygrove")
    assert importer.result_folder([str(tmp_path / "a.obj")]) is None
