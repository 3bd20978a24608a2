"""The program over a cache of compiled kernels that is cut, or not this user's alone: it draws, and says what it
found."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from raygrove.app.cli.main import main
from raygrove.app.document.document import Document
from raygrove.app.settings.file import load_user_settings, save_settings, user_file
from raygrove.app.settings.settings import Settings
from raygrove.app.system import doctor
from raygrove.gpu.target import private_folders, remarks
from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[3]
RENDER = (
    "render --device cpu --size 16x12 --demo orbit --set demo.triangles=100 --ray-type flat --hierarchy "
    "brute_force --samples 1 --quiet"
)

LENGTHS = (0, 4097)
"""To which libraries are cut; others are cut in tests/gpu/target/test_cache.py."""


def render(cache: Path, umask: int = 0o022) -> tuple[int, str]:
    """Exit code and words of a render in a process of its own."""
    environment = {**os.environ, "RAYGROVE_CACHE": str(cache), "TMPDIR": str(cache.parent)}
    environment["RAYGROVE_HOST_FLAGS"] = "-O0"  # all is compiled anew, and nobody looks at the picture
    command = [sys.executable, str(ROOT / "main.py"), *RENDER.split()]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PROCESS_S, check=False, env=environment, umask=umask
    )
    return done.returncode, done.stderr


def test_pictures_are_drawn_over_a_cache_that_was_cut_and_over_one_that_others_can_write(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert render(cache, umask=0) == (0, "")
    libraries = sorted(cache.glob("*.so"))
    assert cache.stat().st_mode & 0o777 == 0o700 and len(libraries) > len(LENGTHS)
    for library, length in zip(libraries, LENGTHS, strict=False):
        os.truncate(library, min(length, library.stat().st_size - 1))
    code, said = render(cache)
    assert code == 0 and [line for line in said.splitlines() if not line.startswith("warning: ")] == []
    for library in libraries[: len(LENGTHS)]:
        assert f"{library} in the cache of compiled kernels is not used: it is not whole. It is made anew." in said
    own = tmp_path / f"raygrove-{os.geteuid()}"  # has all but one from before, those made anew among them
    shutil.copytree(cache, own)
    own.chmod(0o700)
    (own / libraries[-1].name).unlink()
    cache.chmod(0o777)
    code, said = render(cache)
    assert (
        code == 0
        and len(said.splitlines()) == 1
        and "others can write into it (mode 0777)" in said
        and "RAYGROVE_CACHE" in said
    )
    assert sorted(path.name for path in own.glob("*.so")) == [path.name for path in libraries]


def test_doctor_says_which_folder_is_not_used_and_what_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(private_folders.tempfile, "gettempdir", lambda: str(tmp_path))
    (found, *_) = doctor._folders()
    assert found.is_good is True and found.advice == ""
    (tmp_path / "cache" / "host-1-sealed.so").write_bytes(b"half")
    _, damaged, *_ = doctor._folders()
    assert (
        damaged.is_good is None
        and "host-1-sealed.so: it is not whole" in damaged.text
        and "made anew" in damaged.advice
    )
    (tmp_path / "cache").chmod(0o777)
    (found, *_) = doctor._folders()
    assert found.is_good is False and str(tmp_path / f"raygrove-{os.geteuid()}") in found.text
    assert "others can write into it" in found.advice and "RAYGROVE_CACHE" in found.advice


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder among the temporary files, of a user who has no home."""

    def without(*_: object, **__: object) -> str:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr("raygrove.app.settings.file.platformdirs.user_config_dir", without)
    monkeypatch.setattr(private_folders.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(private_folders, "_made_for_this_process", [])
    monkeypatch.setattr(remarks, "_said", {})
    return tmp_path / f"raygrove-{os.geteuid()}"


def test_settings_of_a_user_without_a_home_are_kept_for_this_user_alone(homeless: Path) -> None:
    before = os.umask(0)
    try:
        save_settings(Settings())
    finally:
        os.umask(before)
    assert (
        user_file() == homeless / "settings.toml" and user_file().exists() and homeless.stat().st_mode & 0o777 == 0o700
    )


@pytest.mark.parametrize("whose", ["nobody", "writable"])
def test_settings_that_others_put_among_the_temporary_files_are_not_read(
    whose: str, homeless: Path, caplog: pytest.LogCaptureFixture
) -> None:
    homeless.mkdir()
    (homeless / "settings.toml").write_text("[render]\nwidth = 40\n")
    assert load_user_settings()[0].render.width == 40
    if whose == "writable":
        homeless.chmod(0o777)
    elif os.geteuid() != 0:
        pytest.skip("only root can give folders to another user")
    else:
        os.chown(homeless, 65534, 65534)
    assert load_user_settings() == (Settings(), "") and user_file().parent != homeless
    (record,) = caplog.records
    assert str(homeless) in record.getMessage() and "is not used" in record.getMessage()


def test_a_window_shows_what_was_remarked_before_it_was_there(homeless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of settings is asked for before anything else."""
    homeless.mkdir()
    homeless.chmod(0o777)
    shown: list[list[str]] = []

    def window(_: Document, names: argparse.Namespace) -> int:
        shown.append(names.remarks)
        return 0

    monkeypatch.setattr("raygrove.app.cli.view.display_problem", lambda: "")
    monkeypatch.setattr("raygrove.app.ui.window.application.run", window)
    assert main(["view", "--set", "render.device=cpu"]) == 0
    ((sentence,),) = shown
    assert str(homeless) in sentence and "is not used" in sentence


def test_no_folder_that_is_safe_is_a_sentence(homeless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    homeless.mkdir()
    homeless.chmod(0o777)
    homeless.parent.chmod(0o777)
    assert main(["render", "--demo", "orbit", "--size", "16x12"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ") and str(homeless.parent) in said and "TMPDIR" in said and "Traceback" not in said
