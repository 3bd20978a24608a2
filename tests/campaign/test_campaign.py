"""The campaign itself, and the files that it has found."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import random
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import SceneError
from raygrove.app.scene_io.gltf_texts import parts_of, put_together
from raygrove.gpu.scene import Scene
from tests.app.scene_io import writers
from tests.app.scene_io.test_fbx_damage import FBX
from tests.campaign import forked_child
from tests.campaign import run as run_module
from tests.campaign.mutations import _arrays, _line, _word, mutant
from tests.campaign.run import FINDINGS, outcome_of, run
from tests.campaign.second_look import SecondLook
from tests.campaign.targets import LIMITS, Target, all_targets, read_model
from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[2]
FOUND = sorted(FINDINGS.iterdir())


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> list[Target]:
    return all_targets(tmp_path_factory.mktemp("seeds"))


def test_every_kind_of_file_begins_with_good_ones() -> None:
    """In a process of its own, as a campaign runs, which forks its readers."""
    command = [sys.executable, "-m", "tests.campaign", "--good"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    lines = done.stdout.splitlines()
    bad = [line for line in lines if line.split()[1] != "value"]
    assert done.returncode == 0 and not bad and len(lines) >= 19, done.stdout + done.stderr


def test_a_mutant_is_the_same_whenever_it_is_made(targets: list[Target]) -> None:
    for target in targets:
        first, second = (mutant(target.seeds[0], target.ending, random.Random("1/x/7")) for _ in range(2))
        assert first == second
        others = {mutant(target.seeds[0], target.ending, random.Random(f"1/x/{number}")) for number in range(20)}
        assert len(others) > 10


def test_archives_and_tables_stay_well_written_where_that_is_meant() -> None:
    """What changes arrays, words and lines: archives still open with other arrays, a table has the keys it had."""
    made = io.BytesIO()
    np.savez(made, a=np.arange(6.0).reshape(2, 3), b=np.arange(3))
    found = [_arrays(made.getvalue(), random.Random(number)) for number in range(30)]
    shapes = set()
    for data in found:
        with np.load(io.BytesIO(data)) as archive:
            shapes |= {(name, archive[name].shape, archive[name].dtype.str) for name in archive.files}
    assert len(shapes) > 8 and _arrays(b"no archive", random.Random(1)) == b"no archive"
    np.savez(made := io.BytesIO(), names=np.array([b"9.0", b"x"]))
    assert all(_arrays(made.getvalue(), random.Random(number)) for number in range(60)), "texts are no numbers"
    words = {_word(bytes(range(16)), random.Random(number)) for number in range(40)}
    assert len(words) > 15 and {len(one) for one in words} == {16}
    lines = _line(b"a = 1\nb = 2\n", random.Random(2))
    assert [line.split(b" = ")[0] for line in lines.split(b"\n")] == [b"a", b"b", b""]


def _read(path: Path) -> object:
    data = path.read_bytes()
    if data == b"value":
        return data
    if data == b"sentence":
        raise SceneError("It cannot be read.")
    if data == b"crash":
        raise SceneError("the reader crashed (SIGSEGV); the file is damaged.")
    if data == b"report":
        raise SceneError("It ended. Please report this with the file.")
    raise KeyError("what no person should see")


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (b"value", "value"), (b"sentence", "sentence"), (b"crash", "crash in the child"), (b"report", "finding"),
        (b"else", "finding"),
    ],
)  # fmt: skip
def test_outcomes_are_told_apart(data: bytes, outcome: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    assert outcome_of(Target("x", "x", _read, ()), tmp_path / "file")[0] == outcome


def test_findings_are_kept_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = Target("x", "bin", _read, (b"something longer than a word",))
    counts = run([target], 6, 60.0, 3, tmp_path, keep=tmp_path / "kept")
    assert counts["x"]["finding"] == 6 and "KeyError" in capsys.readouterr().out
    kept = sorted((tmp_path / "kept").iterdir())
    assert len(kept) == 6 and kept[0].name == "x-3-0.bin"
    assert run([target], 6, 0.0, 3, tmp_path, keep=tmp_path / "kept")["x"].total() == 0, "no time is none"


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_was_found_is_a_sentence_now(path: Path, targets: list[Target]) -> None:
    known = (one for one in targets if path.name.startswith(f"{one.name}-"))
    target = next(known, None) or Target(path.suffix[1:], path.suffix[1:], read_model, ())  # a kind without seeds here
    assert outcome_of(target, path, SecondLook(LIMITS))[0] in ("value", "sentence")


def test_a_scene_that_is_not_what_the_file_says_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second look bites: a reader that leaves a triangle out, and a picture that lacks one."""
    path = tmp_path / "two.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    look, target = SecondLook(LIMITS), Target("obj", "obj", read_model, ())
    assert outcome_of(target, path, look) == ("value", "")
    assert dict(look.counts) == {"drawn": 1, "read by both": 1}

    def lacking(file: Path) -> Scene:
        scene = read_model(file)
        assert isinstance(scene, Scene)
        mesh = scene.meshes[0]
        one = dataclasses.replace(mesh, triangles=mesh.triangles[:1], material_ids=mesh.material_ids[:1])
        return dataclasses.replace(scene, meshes=(one,))

    outcome, words = outcome_of(dataclasses.replace(target, read=lacking), path, look)
    assert outcome == "finding" and "libassimp reads Geometry(triangles=1, area=0.5" in words
    drawn = look._frame

    def blind(scene: Scene, name: str) -> Any:
        frame = drawn(scene, name)
        return dataclasses.replace(frame, pixels=frame.pixels * 0) if name == "lbvh" else frame

    monkeypatch.setattr(look, "_frame", blind)
    outcome, words = outcome_of(target, path, look)
    assert outcome == "finding" and "lbvh and brute force draw" in words


def test_triangles_dropped_for_a_morph_target_are_no_finding(tmp_path: Path) -> None:
    """The reader of our own leaves such targets out, and so has the triangle that the remark says was dropped."""
    path = writers.write_skinned_glb(tmp_path / "skinned.glb")
    text, body = parts_of(path.read_bytes())
    document, changed = json.loads(text or b""), bytearray(body)
    target = document["accessors"][document["meshes"][0]["primitives"][0]["targets"][0]["POSITION"]]
    at = document["bufferViews"][target["bufferView"]].get("byteOffset", 0)
    changed[at : at + 4] = struct.pack("<f", np.inf)
    path.write_bytes(put_together(document, bytes(changed), True))
    look = SecondLook(LIMITS)
    assert outcome_of(Target("glb", "glb", read_model, ()), path, look) == ("value", "")
    assert dict(look.counts) == {"drawn": 1}, "it was compared"


def test_an_fbx_is_compared_with_what_ufbx_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place of ufbx, which is in no lock file, one that finds the same, another corner, or refuses the file."""
    path = tmp_path / "a.fbx"
    path.write_text(FBX)
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.5)]
    vertices = [SimpleNamespace(x=x, y=y, z=z) for x, y, z in corners]
    face = SimpleNamespace(index_begin=0, num_indices=3)
    mesh = SimpleNamespace(vertices=vertices, vertex_indices=[0, 1, 2], faces=[face])
    scene = SimpleNamespace(nodes=[SimpleNamespace(mesh=None), *[SimpleNamespace(mesh=mesh)] * 2])
    monkeypatch.setitem(sys.modules, "ufbx", SimpleNamespace(load_memory=lambda data: scene))
    look, target = SecondLook(LIMITS), Target("fbx", "fbx", read_model, ())
    assert outcome_of(target, path, look) == ("value", "") and look.counts["read by both"] == 1
    vertices[2].z = 0.75
    outcome, words = outcome_of(target, path, look)
    assert outcome == "finding" and "libassimp reads Geometry(triangles=2" in words and ", ufbx Geometry(" in words
    path.write_text(FBX.replace("a: 0,1,-3", "a: 0,1,-9", 1))
    assert outcome_of(target, path, look) == ("value", "") and look.counts["read by both"] == 2, "a part is left out"
    path.write_text(FBX)
    refused = type("FileError", (Exception,), {"__module__": "ufbx"})

    def refuse(data: bytes) -> object:
        raise refused("no FBX")

    monkeypatch.setitem(sys.modules, "ufbx", SimpleNamespace(load_memory=refuse))
    assert outcome_of(target, path, look) == ("value", "") and look.counts["read by both"] == 2


def test_a_child_that_takes_too_much_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"value")

    def greedy(path: Path) -> object:
        run_module.GROWN_MIB.append(1300.0)
        return path

    outcome, words = outcome_of(Target("x", "x", greedy, ()), tmp_path / "file")
    assert outcome == "finding" and "its child took 1,300 MiB" in words
    child = forked_child.ForkedChild.__new__(forked_child.ForkedChild)
    child._is_over, child._began_kib, child.pid = False, 0, os.fork()
    if not child.pid:
        taken = b"x" * (200 << 20)
        os._exit(len(taken) % 7)
    child.wait()
    assert forked_child.GROWN_MIB[-1] > 200
