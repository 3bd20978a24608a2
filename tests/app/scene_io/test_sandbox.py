"""What the importing child can reach while it reads: its model's folder, and nothing else of the user's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, importer, load, sandbox
from raygrove.app.system import doctor
from raygrove.gpu import linux_sandbox
from raygrove.gpu.linux_sandbox import SandboxError
from tests.app.scene_io import writers

pytestmark = pytest.mark.usefixtures("real_imports")

ROOT = Path(__file__).resolve().parents[3]
has_both = pytest.mark.skipif(
    not (linux_sandbox.landlock_version() and linux_sandbox.has_seccomp()),
    reason="this kernel has no Landlock or no seccomp",
)


def could(folder: Path, monkeypatch: pytest.MonkeyPatch, **limits: bool) -> list[str]:
    """What a nosy reader could do while it read a model in `folder`."""
    monkeypatch.setattr(importer, "CHILD_MODULE", "tests.app.scene_io.nosy_child")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("HOME", str(folder / "home"))
    for name in ("model", "home"):
        (folder / name).mkdir()
    (folder / "model" / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (folder / "model" / "beside.txt").write_text("beside")
    (folder / "elsewhere.txt").write_text("elsewhere")
    with pytest.raises(SceneError) as caught:
        load([folder / "model" / "one.obj"], ImportLimits(**limits))
    return str(caught.value).removeprefix("could: ").rstrip(".").split()


@has_both
def test_a_reader_reaches_its_models_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert could(tmp_path, monkeypatch) == ["model", "beside", "scratch"]
    assert not (tmp_path / "model" / "written").exists()


@has_both
def test_what_the_user_allows_is_read_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert could(tmp_path, monkeypatch, allow_outside=True) == ["model", "beside", "elsewhere", "home", "scratch"]


def test_without_the_sandbox_it_reaches_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(could(tmp_path, monkeypatch, sandbox=False)) == 8


def test_a_sandbox_that_cannot_be_made_ends_the_import_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SandboxError("seccomp: no room")

    monkeypatch.setattr(linux_sandbox, "landlock_version", lambda: 7)
    monkeypatch.setattr(linux_sandbox, "keep_to_files", refuse)
    with pytest.raises(SceneError, match=r"seccomp: no room.*import\.sandbox = false"):
        sandbox.enter(["/model.obj"], ImportLimits(), None)


def test_a_kernel_without_the_means_reads_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux_sandbox, "landlock_version", lambda: 0)
    monkeypatch.setattr(linux_sandbox, "has_seccomp", lambda: False)
    monkeypatch.setattr(linux_sandbox, "keep_to_files", None)
    monkeypatch.setattr(linux_sandbox, "refuse_calls", None)
    sandbox.enter(["/model.obj"], ImportLimits(), None)
    finding = doctor.sandbox_finding(0, False)
    assert "no Landlock" in finding.text and "no seccomp" in finding.text and finding.advice
    assert doctor.sandbox_finding(7, True).is_good


@pytest.mark.parametrize("is_on", [True, False])
def test_models_are_read_alike_in_it_and_without(is_on: bool, tmp_path: Path) -> None:
    limits = ImportLimits(sandbox=is_on)
    scene = load([writers.write_animated_glb(tmp_path / "moving.glb")], limits)
    assert scene.clips and scene.triangle_count
    assert load([writers.write_textured_obj(tmp_path)], limits).textures
    np.savez(tmp_path / "drop.npz", positions=np.zeros((2, 5, 3), np.float32))
    assert load([tmp_path / "drop.npz"], limits).spheres


def test_scratch_folders_of_programs_that_were_killed_are_swept(tmp_path: Path) -> None:
    gone, foreign = tmp_path / f"{sandbox.SCRATCH}999999999-x", tmp_path / f"{sandbox.SCRATCH}{os.getppid()}-x"
    filled = tmp_path / f"{sandbox.SCRATCH}999999998-x"
    for path in (gone, foreign, filled):
        path.mkdir()
    (filled / "kept").write_bytes(b"")
    with sandbox.scratch_folder(str(tmp_path)) as folder:
        assert os.path.isdir(folder) and not gone.exists() and foreign.exists() and (filled / "kept").exists()
    assert not os.path.exists(folder)


@has_both
def test_compiled_code_is_kept_for_the_next_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    load([writers.write_animated_glb(tmp_path / "moving.glb")])
    kept = {path.name.partition(".")[0] for path in (tmp_path / "compiled").rglob("*.pyc")}
    assert {"read", "assimp_scene", "exchange"} <= kept, "else each import compiles its readers anew: 100 ms"


def test_compiled_code_that_lies_elsewhere_is_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "compiled"))
    assert tmp_path / "compiled" in sandbox.readable(["/model.obj"], ImportLimits())
