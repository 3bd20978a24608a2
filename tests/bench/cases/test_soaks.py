"""What is kept of the soaks is what their tests told; what did not run is no success."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from raygrove.bench.cases import main, soaks

ROOT = pathlib.Path(soaks.__file__).resolve().parents[2]
PROGRAM = """
import pytest

def test_passes(record_property):
    record_property("switches", 12)
    record_property("memory_at_last_mib", 3.5)

def test_fails(record_property):
    record_property("switches", 7)
    assert False, "27.0 MiB more"

def test_skips():
    pytest.skip("no display")

def test_interrupted():
    import os, signal
    os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.fixture
def own_tests(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four small tests in place of the soaks, and one that is not there."""
    (tmp_path / "test_small.py").write_text(PROGRAM.replace("def test_", "@pytest.mark.full\ndef test_"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = full: soaks\n")
    monkeypatch.setattr(soaks, "ROOT", tmp_path)
    monkeypatch.setattr(
        soaks,
        "SOAKS",
        {name: f"test_small.py::test_{name}" for name in ("passes", "fails", "skips", "forgot", "interrupted")},
    )


@pytest.mark.usefixtures("own_tests")
def test_each_end_is_told_apart_and_kept(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["soaks", "--out", str(tmp_path / "kept" / "it-soaks")]) == 1
    kept = json.loads((tmp_path / "kept" / "it-soaks.json").read_text())
    found = {row["soak"]: row for row in kept["results"]}
    assert {name: row["outcome"] for name, row in found.items()} == {
        "passes": "passed",
        "fails": "failed",
        "skips": "skipped",
        "forgot": "missing",
        "interrupted": "ended",
    }
    assert found["interrupted"]["detail"] == "pytest ended with status 2 amid the test."
    assert found["passes"]["measured"] == {"switches": "12", "memory_at_last_mib": "3.5"} and found["fails"][
        "measured"
    ] == {"switches": "7"}
    assert "27.0 MiB more" in found["fails"]["detail"] and "no display" in found["skips"]["detail"]
    assert kept["context"]["commit"] and kept["context"]["date"]
    lines = (tmp_path / "kept" / "it-soaks.txt").read_text()
    assert "switches 12, memory at last mib 3.5" in lines and str(tmp_path) not in lines


@pytest.mark.usefixtures("own_tests")
def test_all_passed_is_success_and_too_slow_is_not(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["soaks", "--out", str(tmp_path / "one"), "--only", "passes"]) == 0
    assert main(["soaks", "--out", str(tmp_path / "two"), "--only", "passes", "--limit", "0"]) == 1
    assert "too slow" in (tmp_path / "two.txt").read_text()


def test_every_soak_is_a_test_that_is_marked_full() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-m",
        "full",
        "-p",
        "no:cacheprovider",
        *soaks.SOAKS.values(),
    ]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert sorted(line for line in said.stdout.splitlines() if "::" in line) == sorted(soaks.SOAKS.values())


def test_what_make_test_installs_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not six soaks of which no test ran."""
    monkeypatch.setattr(soaks.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        main(["soaks", "--only", "saves"])
    assert "pytest is not installed: `make test` installs what they need" in capsys.readouterr().err
