"""The doctor's report: everything is asked, nothing it meets ends it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raygrove.app.cli.main import main
from raygrove.app.settings.file import user_file
from raygrove.app.system import doctor, machine


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Asking for OpenGL takes a second; one test does."""
    if "opengl" not in request.node.name:
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of few files: doctor reads every one, and that of the tests grows to more than a gigabyte."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True)
def small_cache(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYGROVE_CACHE", str(kernels))


def test_the_report_names_what_a_helper_would_ask_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    for word in (
        "Raygrove",
        "Python",
        "numpy",
        "PySide6",
        "cpu",
        "cuda",
        "C++",
        "kernel cache",
        "settings",
        "display",
        "memory",
    ):
        assert word in text


def test_it_reads_as_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json", "--quiet"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    cpu = next(finding for finding in findings if finding["section"] == "devices" and finding["name"] == "cpu")
    assert cpu["is_good"] is True


def test_a_check_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise PermissionError("no way in")

    monkeypatch.setattr(doctor, "_folders", broken)
    bad = [finding for finding in doctor.examine() if finding.is_good is False]
    assert any("no way in" in finding.text for finding in bad)


def test_missing_libraries_come_with_the_line_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "\tlibxcb-cursor.so.0 => not found\n\tlibc.so.6 => /lib/libc.so.6"
    monkeypatch.setattr(machine, "output", lambda command, **_: said if "ldd" in command else "")
    assert doctor.missing_libraries() == ["libxcb-cursor.so.0"]
    found = next(finding for finding in doctor.examine() if finding.name == "Qt's libraries")
    assert found.is_good is False and found.advice.endswith("libxcb-cursor0")
    assert found.advice in doctor.report([found])


def test_no_compiler_is_said_with_the_line_that_installs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from raygrove.gpu.target import host_compiler
    from raygrove.gpu.target.base import NoDeviceError

    def none() -> None:
        raise NoDeviceError("There is no compiler.")

    monkeypatch.setattr(host_compiler, "find_compiler", none)
    monkeypatch.setattr(host_compiler, "compiler_version", none)
    found = next(finding for finding in doctor.examine() if finding.section == "compiler")
    assert found.is_good is False and "apt-get install" in found.advice


def test_a_cache_that_another_program_writes_to_is_still_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file may go between the listing and the question for its size."""
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path))
    (tmp_path / "kept").write_bytes(b"1234")
    listed = [tmp_path / "gone", tmp_path / "kept"]
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter(listed if folder == tmp_path else []))
    found = next(finding for finding in doctor.examine() if finding.name == "kernel cache")
    assert found.text == f"{tmp_path}: 1 files, 0.0 MiB"


def test_a_bad_settings_file_is_a_finding_and_stays(own_folders: Path) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("[render]\nwidth = 0\n")
    found = next(finding for finding in doctor.examine() if finding.name == "settings")
    assert found.is_good is False and "line 2" in found.text
    assert user_file().exists()


def test_gpus_are_read_from_the_drivers_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    monkeypatch.setattr(machine, "output", lambda command, **_: "NVIDIA H200, 580.1, 143771 MiB, 9.0")
    assert machine.nvidia_gpus() == [
        {"name": "NVIDIA H200", "driver": "580.1", "memory": "143771 MiB", "compute_capability": "9.0"}
    ]
    monkeypatch.setattr(machine, "output", lambda command, **_: "No devices were found")
    assert machine.nvidia_gpus() == []


def test_opengl_is_asked_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    (found,) = doctor._gl(True)
    assert "painter view" in found.text and found.is_good is None
    monkeypatch.setattr(machine, "output", lambda command, **_: "A card" if "gl_renderer" in command[-1] else "")
    assert [one.text for one in doctor._gl(True)] == ["A card"]
    assert not list(doctor._gl(False))


def test_libraries_that_only_some_files_need_say_what_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for installed in ({}, {"av": "14.0", "OpenEXR": "3.3", "chemfiles": "0.10.4"}):
        monkeypatch.setattr(
            machine, "versions", lambda found=installed: {**dict.fromkeys(machine.LIBRARIES, "1"), **found}
        )
        found = {finding.name: finding for finding in doctor._libraries()}
        assert "video (.mp4" in found["PyAV"].text and ".exr files" in found["OpenEXR"].text
        assert ".xtc" in found["chemfiles"].text
        good = [found[name].is_good for name in ("PyAV", "OpenEXR", "chemfiles")]
        assert good == [True if installed else None] * 3
        assert installed or ("pip install 'av'" in found["PyAV"].advice and "not installed" in found["PyAV"].text)
