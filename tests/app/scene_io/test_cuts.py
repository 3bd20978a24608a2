"""Files that end too early: what is missing is said, of small files made for it and of every real model, at any
length."""

from __future__ import annotations

import gzip
import lzma
import random
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from raygrove.app.scene_io import SceneError, load
from raygrove.app.scene_io.cuts import is_alone, shortfall
from raygrove.app.scene_io.exchange import check
from raygrove.gpu.scene import Scene
from tests.app.scene_io import writers
from tests.data import data_file, data_folder

LEAST_LOSS = 0.97
"""Up to here a cut takes something that is drawn; a file that lacks no more than its last bytes may open as if it were
whole."""


def made(folder: Path) -> dict[str, Path]:
    positions, triangles = writers.sphere()
    return {
        "glb": writers.write_animated_glb(folder / "wave.glb"),
        "ascii ply": writers.write_ply(folder / "text.ply", positions, triangles, "ascii"),
        "binary ply": writers.write_ply(folder / "ball.ply", positions, triangles, "binary_little_endian"),
        "obj": writers.write_obj(folder / "ball.obj", positions, triangles),
    }


def test_whole_files_lack_nothing_and_cut_ones_say_what(tmp_path: Path) -> None:
    words = {
        "glb": "its header says",
        "ascii ply": "it should list",
        "binary ply": "what its header lists takes",
        "obj": "it ends within line",
    }
    for kind, path in made(tmp_path).items():
        data, extension = path.read_bytes(), path.suffix[1:]
        assert shortfall(data, extension) == "", kind
        assert words[kind] in shortfall(data[: int(0.8 * len(data))].rstrip(), extension), kind
        assert all(
            shortfall(data[:length], extension)
            for length in range(60, int(0.8 * len(data)), 97)
            if data[length - 1 : length] != b"\n"
        ), kind


@pytest.mark.parametrize(
    ("text", "extension", "said"),
    [
        (b'{"asset": {"ver', "gltf", "its text ends in the middle, at line 1"),
        (b'{"asset": {}, }', "gltf", ""),
        (b'{"asset": [1], "buffers": 7}', "gltf", ""),
        (
            b'{"buffers": [{"uri": "short%20one.bin", "byteLength": 400}]}',
            "gltf",
            "'short one.bin' should have 400 bytes, and 3 are there",
        ),
        (b'{"buffers": [{"uri": "gone.bin", "byteLength": 400}]}', "gltf", ""),
        (b"glT", "glb", "a header of 12 bytes, and 3 are there"),
        (b"ply\nformat ascii 1.0\nelement ver", "ply", "its header has no end"),
        (b"ply\nformat ascii 1.0\nelement vertex many\nend_header\n", "ply", ""),
        (b"ply\nformat ascii 1.0\nelement vertex 1_0\nend_header\n", "ply", ""),
        (b"ply\nformat ascii 1.0\nelement vertex 10\nend_header\n", "ply", "it should list 10 of the element 'vertex'"),
        (b"ply\nformat ascii 1.0\nproperty float x\nend_header\n", "ply", ""),
        (b"ply\nformat binary_little_endian 1.0\nelement vertex 9\nproperty odd x\nend_header\n", "ply", ""),
        (b"\0" * 80 + b"\4\0\0\0" + b"\0" * 120, "stl", "it should list 4 triangles, and 2 are there"),
        (b"solid x\nfacet normal 0 0 1\n", "stl", ""),
        (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1", "obj", "it ends within line 4"),
        (
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1/1 2/2 3/3\nf 2/2",
            "obj",
            "it ends within line 6, and no face uses 1 of its 4 vertices",
        ),
        (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\n", "obj", ""),
        (b"A letter to the editor, about models", "obj", ""),
        (b"v 0 0", "obj", "it ends within line 1"),
        (b"FBX", "fbx", ""),
    ],
)
def test_what_a_text_tells_of_itself(
    text: bytes, extension: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short one.bin").write_bytes(b"abc")
    found = shortfall(text, extension)
    assert (said in found) if said else found == ""


def test_a_cut_obj_opens_with_a_remark_and_a_cut_ply_does_not_open(tmp_path: Path) -> None:
    paths = made(tmp_path)
    for kind in ("obj", "ascii ply"):
        data = paths[kind].read_bytes().rstrip()
        paths[kind].write_bytes(data[: int(0.9 * len(data))])
    remarks = [remark.sentence for remark in load([paths["obj"]]).remarks]
    assert any("may be cut short" in sentence and "no face uses" in sentence for sentence in remarks)
    with pytest.raises(
        SceneError,
        match=r"text\.ply is cut short: it should list \d+ of the element 'face', and \d+ are there\. Fetch it again",
    ):
        load([paths["ascii ply"]])


def test_a_frame_that_is_cut_is_named(tmp_path: Path) -> None:
    positions, triangles = writers.sphere()
    frames = [
        writers.write_ply(tmp_path / f"{n}.ply", positions + n, triangles, "binary_little_endian") for n in range(3)
    ]
    frames[2].write_bytes(frames[2].read_bytes()[:-40])
    with pytest.raises(SceneError, match=r"2\.ply is cut short: what its header lists"):
        load(frames)


# -- the real models --------------------------------------------------------------------------------------------------
Unpack = Callable[[Path, Path], Path]


def _copied(path: Path, folder: Path) -> Path:
    """The file with what lies beside it."""
    for beside in path.parent.iterdir() if path.parent.name not in ("static", "animated") else [path]:
        if beside.suffix == ".xz":
            (folder / beside.stem).write_bytes(lzma.decompress(beside.read_bytes()))
        elif beside.is_dir():
            (folder / beside.name).symlink_to(beside)
        else:
            shutil.copyfile(beside, folder / beside.name)
    return folder / path.name.removesuffix(".xz")


def _gunzipped(path: Path, folder: Path) -> Path:
    (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    return folder / path.stem


def _unzipped(path: Path, folder: Path) -> Path:
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.lower().endswith(".obj"))
        (folder / "sponza.obj").write_bytes(archive.read(name))
    return folder / "sponza.obj"


def _unzstd(path: Path, folder: Path) -> Path:
    if shutil.which("zstd") is None:
        pytest.skip("there is no zstd to unpack it with")
    subprocess.run(["zstd", "-dq", str(path), "-o", str(folder / "kitchen.obj")], check=True)
    shutil.copyfile(path.with_name("kitchen.mtl"), folder / "kitchen.mtl")
    return folder / "kitchen.obj"


SMALL: dict[str, tuple[Unpack, int]] = {
    "static/teapot.obj": (_copied, 6_320),
    "static/suzanne.obj": (_copied, 968),
    "static/CornellBox.glb": (_copied, 36),
    "static/dragon_vrip_res3.ply.gz": (_gunzipped, 47_794),
    "static/viva-balloon/scene.gltf": (_copied, 35_698),
    "animated/AnimatedMorphSphere.glb": (_copied, 960),
    "animated/CesiumMan.glb": (_copied, 4_672),
    "animated/CesiumMilkTruck.glb": (_copied, 3_624),
    "animated/Fox.glb": (_copied, 576),
    "animated/phoenix_bird.glb": (_copied, 4_064),
    "animated/MorphStressTest/glTF/MorphStressTest.gltf": (_copied, 2_412),
    "animated/animation_with_skeleton.fbx": (_copied, 2_112),
    "animated/cubes_with_mirroring_and_pivot.fbx": (_copied, 420),
    "animated/box_nested_animation.dae": (_copied, 12),
}
LARGE: dict[str, tuple[Unpack, int]] = {
    "static/stanford-bunny.obj": (_copied, 69_451),
    "static/armadillo.obj": (_copied, 86_482),
    "static/dragon_vrip_res2.ply.gz": (_gunzipped, 202_520),
    "static/sponza-dabrovic.obj.zip": (_unzipped, 66_447),
    "static/kitchen-obvhs/kitchen.obj.zst": (_unzstd, 56_939),
    "crytek-sponza/sponza.obj.xz": (_copied, 262_205),
    "country-kitchen/country-kitchen.gltf": (_copied, 1_443_517),
}


def opened(path: Path) -> Scene | str:
    """The scene, or the sentence of why not; what is neither fails the test."""
    try:
        scene = load([path])
    except SceneError as error:
        return str(error)
    check(scene)
    return scene


def assert_told(path: Path, kept: float, found: Scene | str, whole: int) -> None:
    """A sentence of what, where and what to do, or a scene whose remarks say that something is missing."""
    where = f"{path.name} cut to {kept:.4f}"
    if isinstance(found, str):
        assert path.stem in found and found.endswith(".") and len(found) < 600, (where, found)
        fitting = ("cut short", "Assimp says", "no triangles", "The first fault: ")
        assert any(words in found for words in fitting), (where, found)
        assert "No suitable reader" not in found and "Invalid byteLength" not in found, (where, found)
        return
    is_told = any("cut short" in remark.sentence or "contradicts itself" in remark.sentence for remark in found.remarks)
    # An OBJ that was cut between two lines is a whole one of fewer faces.
    is_whole = path.suffix == ".obj" and path.read_bytes().endswith(b"\n")
    assert is_told or is_whole or kept > LEAST_LOSS, (where, "opens without a word")
    assert found.triangle_count <= whole, where


def cut_copies(path: Path, shares: list[float], whole: int) -> None:
    """Every share of the file, and of a buffer beside it, on its own."""
    data = path.read_bytes()
    originals = {path: data, **{beside: beside.read_bytes() for beside in path.parent.glob("*.bin")}}
    jobs: list[tuple[Path, float, Path]] = []
    for victim, content in originals.items():
        for number, share in enumerate(shares):
            folder = path.parent / f"{victim.suffix[1:]}_{number}"
            folder.mkdir()
            for beside in path.parent.iterdir():
                if beside.is_symlink():
                    (folder / beside.name).symlink_to(beside)
                elif beside.is_file() and beside != victim:
                    (folder / beside.name).hardlink_to(beside)  # a link to elsewhere would not be read
            (folder / victim.name).write_bytes(content[: min(int(share * len(content)), len(content) - 1)])
            jobs.append((folder / path.name, share, folder))
    with ThreadPoolExecutor(2) as pool:
        for (copy, share, folder), found in zip(jobs, pool.map(lambda job: opened(job[0]), jobs), strict=True):
            assert_told(copy, share, found, whole)
            shutil.rmtree(folder)


@pytest.mark.parametrize("name", SMALL)
def test_a_cut_copy_of_a_small_model_is_told(name: str, tmp_path: Path) -> None:
    unpack, triangles = SMALL[name]
    generator = random.Random(name)
    cut_copies(unpack(data_file(name), tmp_path), [generator.uniform(0.001, LEAST_LOSS)], triangles)


@pytest.mark.full
@pytest.mark.parametrize("name", SMALL | LARGE)
def test_every_model_opens_and_every_cut_copy_is_told(name: str, tmp_path: Path) -> None:
    unpack, triangles = (SMALL | LARGE)[name]
    path = unpack(data_file(name), tmp_path)
    whole = opened(path)
    assert (
        isinstance(whole, Scene)
        and whole.triangle_count == triangles
        and not any("cut short" in r.sentence for r in whole.remarks)
    )
    generator = random.Random(2014)
    cut_copies(path, [0.0005, 0.01, *(generator.uniform(0.02, 0.98) for _ in range(6)), 0.999, 1.0], triangles)


@pytest.mark.full
def test_the_sequence_opens_and_a_cut_frame_of_it_is_told(tmp_path: Path) -> None:
    with tarfile.open(data_file("sequences/horse-gallop.tar.xz")) as archive:
        for member in filter(tarfile.TarInfo.isfile, archive):
            (tmp_path / Path(member.name).name).write_bytes(archive.extractfile(member).read())  # type: ignore[union-attr]
    assert load([tmp_path / "%04d.obj"]).meshes[0].key_frames is not None
    for share in (0.01, 0.4, 0.8, 0.97):
        frame = tmp_path / "0007.obj"
        data = frame.read_bytes()
        frame.write_bytes(data[: int(share * len(data))])
        with pytest.raises(SceneError, match=r"0007\.obj"):
            load([tmp_path / "%04d.obj"])
        frame.write_bytes(data)


@pytest.mark.full
def test_the_manifest_names_no_model_that_is_not_tried_here() -> None:
    kinds = (".obj", ".ply", ".glb", ".gltf", ".fbx", ".dae", ".obj.xz", ".ply.gz", ".obj.zip", ".obj.zst")
    folder = data_folder()
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.endswith(kinds)}
    assert {name for name in there if not name.startswith(("points/", "trees/"))} == set(SMALL | LARGE)


def test_a_gltf_that_names_other_files_is_not_called_alone() -> None:
    """Only what was read and names no file is spared the second look."""
    inside, beside = b'{"buffers":[{"uri" :\n "data:;base64,AA=="}]}', b'{"buffers":[{"uri": "a.bin"}]}'
    assert is_alone(inside, "gltf") and not is_alone(beside, "gltf")
    assert not is_alone(beside.replace(b"uri", b"\\u0075ri"), "gltf"), "a letter may be written as its number"
    assert not is_alone(inside, "glb")
