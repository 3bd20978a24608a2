"""What `make quick` leaves out, and how costs are summed up."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from tests import costs, quick

ROOT = pathlib.Path(__file__).resolve().parents[1]


def test_one_case_of_each_test_that_is_not_slow(tmp_path: pathlib.Path) -> None:
    file, _, test = next(name for name, cost in quick.listed().items() if not cost.is_quick).partition("::")
    planted = f"""
import pytest

def {test}(): pass

@pytest.mark.parametrize("number", [1, 2, 3])
def test_of_cases(number): pass

@pytest.mark.gl
def test_of_a_screen(): pass

@pytest.mark.first
def test_of_minutes(): pass

def test_plain(): pass
"""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n gl\n first\n")
    (tmp_path / file).write_text(planted)
    options = ["-p", "tests.costs", "-p", "tests.quick", "-c", str(tmp_path / "pytest.ini"), "-p", "no:xvfb"]
    command = [sys.executable, "-m", "pytest", *options, "--quick", "--collect-only", "-q", str(tmp_path)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [line.partition("::")[2] for line in said.splitlines() if "::" in line]
    assert names == ["test_of_cases[1]", "test_plain"]


def _row(test: str, own: float, wall: float = 0.0, compiling: float = 0.0) -> str:
    return json.dumps({"test": test, "wall": wall, "own": own, "compile": compiling, "others": 0.0})


def _read(folder: pathlib.Path, *rows: str) -> dict[str, dict[str, float]]:
    (folder / "costs.json").write_text("\n".join(rows))
    return costs.read(folder / "costs.json")


def test_slow_is_what_takes_long_in_every_case(tmp_path: pathlib.Path) -> None:
    found = _read(
        tmp_path,
        _row("tests/app/test_a.py::test_once[first]", 2.0, 2.0),
        _row("tests/app/test_a.py::test_once[second]", 0.01, 0.01),
        _row("tests/app/test_a.py::test_compiles", 0.1, 0.2, compiling=5.0),
        _row("tests/app/test_a.py::test_works", 0.5, 0.5),
        _row("tests/app/ui/test_b.py::test_waits[a]", 0.1, 3.2),
        _row("tests/app/ui/test_c.py::test_is_short", 0.01),
    )
    assert quick.costs_of(found) == {
        "test_a.py::test_once": (1.0, True),
        "test_a.py::test_compiles": (5.1, False),
        "test_a.py::test_works": (0.5, False),
        "test_b.py::test_waits": (0.1, False),
    }
    lines = costs.table(found, costs.room_of)
    assert lines[2:] == ["| app | 4 | 8 | 5 | 0 | 3 |", "| app/ui | 2 | 0 | 0 | 0 | 3 |", "| all | 6 | 8 | 5 | 0 | 6 |"]


def test_the_cheapest_of_a_file_and_of_a_room_stay(tmp_path: pathlib.Path) -> None:
    found = _read(
        tmp_path,
        _row("tests/app/ui/test_window.py::test_opens", 0.45),
        _row("tests/app/ui/test_window.py::test_closes", 0.47),
        _row("tests/app/ui/test_dear.py::test_walks", 0.6),
        _row("tests/app/cli/test_a.py::test_dear", 8.0),
        _row("tests/app/cli/test_b.py::test_dearer", 9.0),
    )
    slow = {name for name, cost in quick.costs_of(found).items() if not cost.is_quick}
    assert slow == {"test_b.py::test_dearer", "test_dear.py::test_walks", "test_window.py::test_closes"}


def test_who_was_not_measured_stays_slow_while_it_is_there(tmp_path: pathlib.Path) -> None:
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui" / "test_a.py").write_text("def test_kept(): pass\ndef test_mended(): pass\ndef test_new(): pass\n")
    found = _read(
        tmp_path,
        _row("tests/ui/test_a.py::test_mended", 0.01),
        _row("tests/ui/test_a.py::test_new", 0.7),
    )
    names = ["test_a.py::test_kept", "test_a.py::test_mended", "test_a.py::test_renamed", "test_gone.py::test_kept"]
    now = quick.brought_up_to_date(dict.fromkeys(names, quick.Cost(0.3, False)), found, tmp_path)
    assert now == {"test_a.py::test_kept": (0.3, False), "test_a.py::test_new": (0.7, False)}
    quick.write(now, tmp_path / "kept.txt")
    assert (tmp_path / "kept.txt").read_text() == "0.3 slow test_a.py::test_kept\n0.7 slow test_a.py::test_new\n"


def test_the_costs_of_a_run_are_its_tests(tmp_path: pathlib.Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_two.py").write_text(
        "import subprocess, sys\n\ndef test_own():\n    sum(range(9_000_000))\n\ndef test_other():\n"
        "    subprocess.run([sys.executable, '-c', 'sum(range(9_000_000))'])\n"
    )
    options = ["-p", "tests.costs", "-c", str(tmp_path / "pytest.ini"), "-p", "no:xvfb", "-n", "1"]
    command = [sys.executable, "-m", "pytest", *options, f"--costs={tmp_path / 'costs.json'}", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = costs.read(tmp_path / "costs.json")
    own, other = found["test_two.py::test_own"], found["test_two.py::test_other"]
    assert own["own"] > 0.05 and own["own"] > 4.0 * own["others"], own
    assert other["others"] > 0.05 and other["others"] > 2.0 * other["own"], other


@pytest.mark.parametrize(("most", "status"), [(0.02, 1), (600.0, 0)], ids=["too much", "in time"])
@pytest.mark.parametrize("workers", ["0", "1"])  # none, and one that reports to another process
def test_a_run_that_costs_too_much_fails(tmp_path: pathlib.Path, most: float, status: int, workers: str) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_one.py").write_text("def test_own():\n    sum(range(9_000_000))\n")
    options = ["-p", "tests.costs", "-c", str(tmp_path / "pytest.ini"), "-p", "no:xvfb", "-n", workers]
    command = [sys.executable, "-m", "pytest", *options, f"--most-cpu-s={most}", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == status and "1 passed" in done.stdout, done.stdout + done.stderr
    assert f"CPU s without compilers, and {most:g} at most." in done.stdout
    assert ("the dearest files" in done.stdout) == (status == 1) and "costs by room" not in done.stdout


def test_a_quick_run_names_what_is_above_its_limits_alone(tmp_path: pathlib.Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_two.py").write_text("def test_dear():\n    sum(range(30_000_000))\n\ndef test_cheap(): pass\n")
    options = ["-p", "tests.costs", "-p", "tests.quick", "-c", str(tmp_path / "pytest.ini"), "-p", "no:xvfb"]
    command = [sys.executable, "-m", "pytest", *options, "--quick", "--most-cpu-s=600", str(tmp_path)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    told = said.partition("and 600 at most.")[2]
    assert "s by the clock: test_two.py::test_dear" in said and "\n1 tests took more than 0.1 CPU s" in said, said
    assert "test_cheap" not in said and "| room |" not in said and told, said
