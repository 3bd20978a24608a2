"""What bad input gets: a sentence that names the file and the reason, before or after the child has looked at it."""

from __future__ import annotations

import gzip
import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import EXTENSIONS, ImportLimits, SceneError, load
from raygrove.app.scene_io.assimp_file import AssimpFile, faces_of
from raygrove.app.scene_io.describe import describe
from raygrove.app.scene_io.exchange import check
from tests.app.scene_io import writers


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.obj")
    return folder / "pipe.obj"


def _written(name: str, data: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return write


def _folder(folder: Path) -> Path:
    (folder / "scenes.obj").mkdir()
    return folder / "scenes.obj"


def _broken_link(folder: Path) -> Path:
    (folder / "link.obj").symlink_to(folder / "gone.obj")
    return folder / "link.obj"


def _truncated_glb(folder: Path) -> Path:
    path = writers.write_animated_glb(folder / "cut.glb")
    path.write_bytes(path.read_bytes()[:600])
    return path


BALL = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
CASES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "missing": (lambda folder: folder / "nothing.obj", "does not exist"),
    "broken link": (_broken_link, "link to a file that is not there"),
    "empty": (_written("empty.obj", b""), "is empty"),
    "folder": (_folder, "is a folder"),
    "fifo": (_fifo, "a FIFO"),
    "device": (lambda folder: Path("/dev/null"), "a device"),
    "unknown type": (_written("text.docx", b"x"), r"\.docx is not known"),
    "USD": (_written("scene.usdz", b"x"), "begins as no USD file does|package usd-core, which is not installed"),
    "Alembic": (_written("scene.abc", b"x"), r"Alembic is not supported\. Export the model as USD or glTF"),
    "no ending": (_written("model", b"x"), "no ending"),
    "very long": (lambda folder: folder / ("x" * 300 + ".obj"), "too long"),
    "a path of many folders": (lambda folder: folder / ("y/" * 3000) / "z.obj", "too long"),
    "null character": (lambda folder: folder / "a\0b.obj", "is not a path"),
    "truncated": (
        _truncated_glb,
        r"is cut short: its header says 2,512 bytes, and 600 are there\. Fetch it again",
    ),
    "wrong type": (_written("picture.glb", writers.png(writers.quarters())), "it is a PNG picture"),
    "text in a ply": (_written("text.ply", b"hello"), "line 1: it does not begin"),
    "index out of range in an obj": (_written("range.obj", b"v 0 0 0\nv 1 0 0\nf 1 2 9\n"), "there is no vertex 9"),
    "points only": (_written("points.obj", b"v 0 0 0\nv 1 0 0\np 1 2\n"), "no triangles"),
    "no usable triangle": (_written("nan.obj", BALL.replace(b"v 1", b"v nan")), "no triangles.*1 of them"),
    "damaged gzip": (_written("ball.obj.gz", gzip.compress(BALL)[:-9]), "cannot be unpacked"),
    "not gzip": (_written("fake.obj.gz", BALL), "cannot be unpacked"),
    "empty once unpacked": (_written("void.obj.gz", gzip.compress(b"")), "empty once unpacked"),
    "glob without a match": (lambda folder: folder / "*.obj", "no file matches"),
    "pattern without a match": (lambda folder: folder / "frame_%04d.obj", "no file matches"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_sentence_for(name: str, tmp_path: Path) -> None:
    make, words = CASES[name]
    path = make(tmp_path)
    with pytest.raises(SceneError, match=words) as caught:
        load([path])
    sentence = str(caught.value)
    assert (
        Path(os.fspath(path).split("\0")[0]).name[:20] in sentence
        and sentence.endswith(".")
        and "Traceback" not in sentence
    )
    assert len(sentence) < 600


def test_no_file_at_all_is_a_sentence() -> None:
    with pytest.raises(SceneError, match="No file was named"):
        load([])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = writers.write_obj(tmp_path / "secret.obj", *writers.sphere())
    path.chmod(0)
    with pytest.raises(SceneError, match="no permission"):
        load([path])


def test_no_permission_is_seen_without_being_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = writers.write_obj(tmp_path / "secret.obj", *writers.sphere())
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(SceneError, match="no permission"):
        load([path])


def test_names_that_are_not_unicode_open(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9 \xff.obj"
    Path(os.fsdecode(path)).write_bytes(BALL)
    scene = load([os.fsdecode(path)])
    assert scene.triangle_count == 1
    describe(scene)["name"].encode()


def test_names_with_magic_characters_are_themselves(tmp_path: Path) -> None:
    path = tmp_path / "a [1] %04d ### ünï.obj"
    path.write_bytes(BALL)
    assert load([path]).triangle_count == 1


def test_a_deep_folder_opens(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(12):
        folder = folder / ("d" * 100)
    folder.mkdir(parents=True)
    assert load([writers.write_textured_obj(folder)]).triangle_count == 4


def test_bad_coordinates_and_indices_are_dropped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "mixed.ply"
    rows = "0 0 0\n1 0 0\n0 1 0\nnan 1 2\n1e30 1 1\ninf 0 0\n5 5 5\n"
    faces = "3 0 1 2\n3 0 1 3\n3 0 1 4\n3 0 1 5\n3 0 1 99\n3 0 1 1\n"
    head = (
        "ply\nformat ascii 1.0\nelement vertex 7\nproperty float x\nproperty float y\nproperty float z\nelement "
        "face 6\n"
    )
    path.write_text(head + "property list uchar int vertex_indices\nend_header\n" + rows + faces)
    scene = load([path])
    counts = {
        remark.sentence.split(" ")[0] + " " + remark.sentence.split(" ")[-3]: remark.count for remark in scene.remarks
    }
    sentences = {remark.sentence: remark.count for remark in scene.remarks}
    assert scene.triangle_count == 2, counts
    assert next(n for s, n in sentences.items() if "index out of range" in s) == 1
    assert next(n for s, n in sentences.items() if "not a number" in s) == 3
    assert next(n for s, n in sentences.items() if "without any area" in s) == 1
    assert np.isfinite(scene.meshes[0].positions).all() and scene.upper == (1.0, 1.0, 0.0)


def test_an_archive_that_unpacks_without_end_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "bomb.obj.gz").write_bytes(gzip.compress(b"v 0 0 0\n" * 400_000))
    with pytest.raises(SceneError, match="unpacks to more than 1 MiB"):
        load([tmp_path / "bomb.obj.gz"], ImportLimits(file_mib=1))


def test_limits_of_triangles_files_and_size(tmp_path: Path) -> None:
    files = writers.write_sequence(tmp_path, 3)
    with pytest.raises(SceneError, match="80 triangles and the limit is 10"):
        load(files[:1], ImportLimits(max_triangles=10))
    with pytest.raises(SceneError, match="3 files .* limit is 2"):
        load(files, ImportLimits(max_key_frames=2))
    with (tmp_path / "huge.obj").open("wb") as file:
        file.truncate(3 << 20)
    with pytest.raises(SceneError, match="limit is 1 MiB"):
        load([tmp_path / "huge.obj"], ImportLimits(file_mib=1))


def test_the_known_types_are_what_assimp_knows() -> None:
    from raygrove.app.scene_io.assimp import String, load_library

    listed = String()
    load_library().aiGetExtensionList(listed)
    assert set(EXTENSIONS) <= {entry.removeprefix("*.") for entry in listed.text.split(";")}
    assert {"obj", "ply", "gltf", "glb", "fbx", "dae", "stl"} <= set(EXTENSIONS)


def _mutants(data: bytes, count: int, generator: random.Random) -> list[bytes]:
    result = []
    for index in range(count):
        if index % 3 == 0:
            result.append(data[: generator.randrange(1, len(data))])
            continue
        changed = bytearray(data)
        for _ in range(generator.choice((1, 4, 16))):
            changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
        result.append(bytes(changed))
    return result


@pytest.mark.parametrize("count", [5, pytest.param(30, marks=pytest.mark.full)])
def test_mutants_give_a_scene_or_a_sentence(tmp_path: Path, count: int) -> None:
    """Truncations and bit flips, seeded: each is a scene that kernels may trust, or one sentence; never a hang, never a
    crash of ours."""
    generator = random.Random(20140)
    positions, triangles = writers.sphere()
    sources = [
        writers.write_textured_obj(tmp_path),
        writers.write_ply(tmp_path / "ball.ply", positions, triangles, "binary_little_endian"),
        writers.write_animated_glb(tmp_path / "wave.glb"),
        writers.write_skinned_glb(tmp_path / "strip.glb"),
    ]
    mutants = []
    for source in sources:
        for index, data in enumerate(_mutants(source.read_bytes(), count, generator)):
            mutants.append(tmp_path / f"mutant_{index}_{source.name}")
            mutants[-1].write_bytes(data)

    def outcome(path: Path) -> str:
        try:
            scene = load([path], ImportLimits(seconds=20.0))
        except SceneError as error:
            return str(error)
        check(scene)
        return ""

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(outcome, mutants))
    assert all(text == "" or (text.endswith(".") and len(text) < 900) for text in outcomes)
    assert any(outcomes) and not all(outcomes), "some open, some do not"


def test_faces_without_corners_are_kept_from_libassimp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each it wrote a number to a place that is not its own, which a build under AddressSanitizer ends at."""
    head = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    faces = ["0", "3 0 1 2", "0", "2 0 1", "0", "3 2 1 3"]
    rows = ["0 0 0", "1 0 0", "0 1 0", "1 1 0", *faces]
    list_of = f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    (tmp_path / "a.ply").write_text(head + list_of + "\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    with AssimpFile("a.ply", None, "ply") as file:
        (mesh,) = file.meshes()
        assert faces_of(mesh)["count"].tolist() == [3, 2, 3]
    assert load([tmp_path / "a.ply"]).triangle_count == 2
