"""NumPy's files, raw numbers with a declared layout, and GSD."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError
from raygrove.app.scene_io.particles import elements
from raygrove.app.scene_io.particles.colours import linear_from_display
from raygrove.gpu.scene import ABSENT
from tests.app.scene_io.particles import files

POSITIONS = files.moving(3, 5)


def test_an_npz_with_everything(tmp_path: Path) -> None:
    colours = np.linspace(0.0, 1.0, 15).reshape(5, 3)
    radius = np.arange(1.0, 16.0).reshape(3, 5)
    np.savez_compressed(
        tmp_path / "a.npz", positions=POSITIONS, radius=radius, color=colours, time=[1.0, 1.5, 4.0],
        charge=radius * 2, ids=np.arange(5) + 100, box=[10.0, 11.0, 12.0], spin=POSITIONS, odd=np.zeros(7),
    )  # fmt: skip
    scene = files.read(tmp_path / "a.npz")
    (spheres,) = scene.spheres
    keys = spheres.key_frames
    assert keys is not None and np.allclose(keys.centres, POSITIONS) and keys.times.tolist() == [0.0, 0.5, 3.0]
    assert keys.radii is not None and np.array_equal(keys.radii, radius)
    assert spheres.colours is not None and np.allclose(spheres.colours, linear_from_display(colours))
    assert spheres.ids is not None and spheres.ids.tolist() == [100, 101, 102, 103, 104]
    assert {one.name: one.values.shape for one in spheres.attributes} == {"charge": (3, 5), "spin": (3, 5, 3)}
    assert spheres.box is not None and np.array_equal(np.diag(spheres.box.vectors), [10, 11, 12])
    assert "'odd' has the shape (7,) and fits no particle" in files.said(scene)


def test_npy_of_fortran_order_and_bad_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.asfortranarray(POSITIONS[0]))
    assert np.allclose(files.spheres_of(tmp_path / "a.npy").centres, POSITIONS[0])
    np.save(tmp_path / "b.npy", np.zeros((4, 2)))
    with pytest.raises(SceneError, match=r"its positions have the shape \(4, 2\), not \(N, 3\) or \(T, N, 3\)"):
        files.read(tmp_path / "b.npy")
    np.savez(tmp_path / "c.npz", positions=np.array([[1, 2, 3]], object), allow_pickle=True)
    with pytest.raises(SceneError, match="not numbers"):
        files.read(tmp_path / "c.npz")
    (tmp_path / "d.npz").write_bytes(pickle.dumps(POSITIONS))
    with pytest.raises(SceneError, match="no whole archive of arrays"):
        files.read(tmp_path / "d.npz")


def test_the_whole_frames_of_an_npy_that_is_cut(tmp_path: Path) -> None:
    for name, array in (("a.npy", POSITIONS), ("b.npy", POSITIONS[0]), ("c.npy", np.asfortranarray(POSITIONS[0]))):
        np.save(tmp_path / name, array)
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-30])
    scene = files.read(tmp_path / "a.npy")
    keys = scene.spheres[0].key_frames
    assert keys is not None and np.allclose(keys.centres, POSITIONS[:2])
    assert "Frame 3 is cut or damaged: the file ends within it." in files.said(scene)
    scene = files.read(tmp_path / "b.npy")
    assert np.allclose(scene.spheres[0].centres, POSITIONS[0, :3])
    assert "The file is cut short: 5 points should be there, and 3 are." in files.said(scene)
    with pytest.raises(SceneError, match="the array should have 120 bytes, and 90 are there"):
        files.read(tmp_path / "c.npy")


@pytest.mark.parametrize("kind", ["i1", "u1", "<i2", ">u2", "<i4", ">i8", "<f2", ">f8"])
def test_positions_of_any_type_are_as_far_apart_as_they_are(tmp_path: Path, kind: str) -> None:
    """Squares of small whole numbers overflowed: radii were wrong, or nothing was read."""
    places = np.stack(np.meshgrid(*[np.arange(0, 120, 20)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    np.save(tmp_path / "a.npy", places.astype(kind))
    spheres = files.spheres_of(tmp_path / "a.npy")
    assert np.array_equal(spheres.centres, places) and np.all(spheres.radii == 10.0)


def test_texts_are_elements_or_are_left_out_with_a_remark(tmp_path: Path) -> None:
    """A file was refused for any array of texts."""
    for symbols in (np.array([b"O", b"h", b"H1", b"\xe9", b""]), np.array(["O", "h", "H1", "\xe9", ""])):
        np.savez(tmp_path / "a.npz", positions=POSITIONS, element=symbols, names=np.array(["a"] * 5))
        scene = files.read(tmp_path / "a.npz")
        assert scene.spheres[0].attributes[0].values.tolist() == [8, 1, 1, 0, 0]
        assert np.allclose(scene.spheres[0].radii, elements.RADII[[8, 1, 1, 0, 0]])
        assert "The array 'names' holds texts and was left out." in files.said(scene)
    np.savez(tmp_path / "b.npz", positions=np.array([["1", "2", "3"]]))
    with pytest.raises(SceneError, match="its positions are texts, not numbers"):
        files.read(tmp_path / "b.npz")
    for order in "<>":
        np.savez(tmp_path / "c.npz", positions=POSITIONS, element=np.array(["O"] * 5, order + "U2"))
        assert files.spheres_of(tmp_path / "c.npz").attributes[0].values.tolist() == [8] * 5
    np.savez(tmp_path / "d.npz", positions=POSITIONS, element=np.full(5, 0x110000, "u4").view("U1"))
    with pytest.raises(SceneError, match="'element' holds numbers that stand for no letter"):
        files.read(tmp_path / "d.npz")


def test_arrays_that_are_neither_numbers_nor_texts_are_left_out_with_a_remark(tmp_path: Path) -> None:
    """A file was refused for any of them; positions have to be numbers."""
    others = {
        "when": np.array(["2026-12-01"] * 5, "datetime64[D]"),
        "lasted": np.zeros(5, "timedelta64[s]"),
        "phase": np.zeros(5, complex),
        "notes": np.array([None] * 5, object),
        "rows": np.zeros(5, [("a", float)]),
        "element": np.array([8] * 5, object),
    }
    np.savez(tmp_path / "a.npz", positions=POSITIONS, charge=np.arange(5), **others, allow_pickle=True)
    scene = files.read(tmp_path / "a.npz")
    assert [one.name for one in scene.spheres[0].attributes] == ["charge"]
    for name, values in others.items():
        kind = repr(np.lib.format.dtype_to_descr(values.dtype))
        said = f"The array {name!r} has the type {kind}, not numbers or texts, and was left out."
        assert said in files.said(scene)
    np.savez(tmp_path / "b.npz", positions=np.zeros((5, 3), "datetime64[s]"))
    with pytest.raises(SceneError, match="'positions' has the type '<M8\\[s\\]', not numbers"):
        files.read(tmp_path / "b.npz")


def test_positions_that_are_no_numbers_are_absent(tmp_path: Path) -> None:
    positions = POSITIONS.copy()
    positions[1, 2] = np.nan
    np.savez(tmp_path / "a.npz", positions=positions, radius=np.array([1.0, 0.0, 1.0, -2.0, np.nan]))
    scene = files.read(tmp_path / "a.npz")
    keys = scene.spheres[0].key_frames
    assert keys is not None and keys.radii is not None and np.isfinite(keys.centres).all()
    assert (keys.radii > 0.0).tolist() == [
        [True, False, True, False, False],
        [True, *[False] * 4],
        [True, False, True, False, False],
    ]
    assert keys.radii[1, 2] == ABSENT and "1 positions in 1 of 3 frames are not finite" in files.said(scene)
    assert "are not drawn. (3 times)" in files.said(scene), "so many spheres, in how many frames soever"
    assert "radius is not above 0" in files.said(scene)


def test_raw_numbers_with_their_layout(tmp_path: Path) -> None:
    kinds = {
        "x": ">f4",
        "y": ">f4",
        "z": ">f4",
        "radius": ">f2",
        "red": "u1",
        "green": "u1",
        "blue": "u1",
        "mass": ">f8",
    }
    table = np.zeros(10, np.dtype(list(kinds.items())))
    for axis, name in enumerate("xyz"):
        table[name] = POSITIONS.reshape(-1, 3)[:10, axis]
    table["radius"], table["red"], table["mass"] = 0.5, 255, np.arange(10)
    path = tmp_path / "a.bin"
    path.write_bytes(b"head" + table.tobytes())
    layout = tmp_path / "a.bin.toml"
    layout.write_text(
        'byte_order = "big"\noffset = 4\nparticles = 5\n'
        'fields = ["x", "y", "z", { name = "radius", type = "float16" }, '
        '{ name = "red", type = "uint8" }, { name = "green", type = "uint8" }, { name = "blue", type = "uint8" }, '
        '{ name = "mass", type = "float64" }]\n'
    )
    scene = files.read(path)
    (spheres,) = scene.spheres
    assert spheres.key_frames is not None and np.allclose(
        spheres.key_frames.centres, POSITIONS.reshape(-1, 3)[:10].reshape(2, 5, 3)
    )
    assert (spheres.radii == 0.5).all() and spheres.colours is not None and np.allclose(spheres.colours, [1, 0, 0])
    assert np.array_equal(spheres.attributes[0].values, np.arange(10.0).reshape(2, 5))
    path.write_bytes(path.read_bytes()[:-3])
    scene = files.read(path)
    assert "Frame 2 is cut or damaged" in files.said(scene) and scene.spheres[0].key_frames is None


def test_a_raw_file_without_a_layout_and_with_a_wrong_one(tmp_path: Path) -> None:
    path = tmp_path / "a.f32"
    path.write_bytes(POSITIONS[0].astype("<f4").tobytes())
    assert np.allclose(files.spheres_of(path).centres, POSITIONS[0])
    for text, why in (
        ('fields = ["x", "radius"]', "no columns x, y and z"),
        ('fields = ["x", "y", "z"]\ntype = "float33"', "'float33' is not one of"),
        ('fields = ["x", "x", "z"]', "two fields have the same name"),
        ('fields = [{ name = "x", type = ["float32"] }]', "its layout a.f32.toml cannot be used: the type"),
        ("fields = " + "[" * 9000, "its layout a.f32.toml cannot be used"),
        ("fields = [", "its layout a.f32.toml cannot be used"),
        ('fields = ["x", "y", "z"]\nparticles = -1', "particles is a whole number from 0"),
        ('felds = ["x", "y", "z"]', "'felds' is not one of"),
    ):
        (tmp_path / "a.f32.toml").write_text(text)
        with pytest.raises(SceneError, match=why):
            files.read(path)
    (tmp_path / "b.bin").write_bytes(b"0" * 24)
    with pytest.raises(SceneError, match=r"Say it in b\.bin\.toml"):
        files.read(tmp_path / "b.bin")


def test_gsd(tmp_path: Path) -> None:
    hoomd = pytest.importorskip("gsd.hoomd")
    path = tmp_path / "a.gsd"
    with hoomd.open(str(path), "w") as file:
        for key in range(3):
            frame = hoomd.Frame()
            frame.particles.N = 5 - key
            frame.particles.position = POSITIONS[key, : 5 - key] - 5.0
            frame.particles.diameter = np.full(5 - key, 3.0)
            frame.particles.velocity = POSITIONS[key, : 5 - key]
            frame.particles.typeid, frame.particles.types = [0, 1, 0, 1, 0][: 5 - key], ["A", "B"]
            frame.configuration.box, frame.configuration.step = [10, 20, 30, 0.1, 0.2, 0.3], 100 * key
            file.append(frame)
    scene = files.read(path)
    (spheres,) = scene.spheres
    keys = spheres.key_frames
    assert keys is not None and keys.radii is not None and (keys.radii > 0.0).sum(axis=1).tolist() == [5, 4, 3]
    assert np.allclose(keys.centres[2, :3], POSITIONS[2, :3] - 5.0) and keys.radii[0, 0] == 1.5
    found = {one.name: one for one in spheres.attributes}
    assert found["type"].unit == "0 A, 1 B" and found["velocity"].values.shape == (3, 5, 3)
    assert spheres.box is not None
    assert np.allclose(spheres.box.vectors, [[10, 0, 0], [2, 20, 0], [6, 9, 30]])
    assert np.allclose(spheres.box.origin, [-9, -14.5, -15]) and "step 0 to 200" in files.said(scene)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(SceneError, match="HOOMD-blue GSD"):
        files.read(path)


def test_more_than_fits_is_refused_with_the_figures(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((3, 1000, 3), np.float32))
    with pytest.raises(SceneError, match="has 1,000 particles and the limit is 999. Raise import.max_particles"):
        files.read(tmp_path / "a.npy", ImportLimits(max_particles=999))
    with pytest.raises(SceneError, match="has 3 frames and the limit is 2. Raise import.max_key_frames"):
        files.read(tmp_path / "a.npy", ImportLimits(max_key_frames=2))
    with (tmp_path / "b.f32").open("wb") as file:
        file.truncate(12 * 30_000_000)
    with pytest.raises(SceneError, match="30,000,000 particles take 687 MiB .* may use 512 MiB"):
        files.read(tmp_path / "b.f32", ImportLimits(memory_mib=512))
    (tmp_path / "c.xyz").write_bytes(files.xyz(np.zeros((2, 4, 3))).replace(b"4\n", b"99999999999\n", 1))
    with pytest.raises(SceneError, match="99,999,999,999 particles should follow"):
        files.read(tmp_path / "c.xyz")


def test_several_files_are_frames(tmp_path: Path) -> None:
    for key in range(3):
        np.save(tmp_path / f"a_{key}.npy", POSITIONS[key])
    scene = files.read([tmp_path / f"a_{key}.npy" for key in range(3)], fps=10.0)
    keys = scene.spheres[0].key_frames
    assert keys is not None and np.allclose(keys.centres, POSITIONS) and np.allclose(keys.times, [0, 0.1, 0.2])
