"""Planted faults: every one can be planted, and what becomes of it is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.bench.cases import main, mutants
from raygrove.bench.cases.mutants import Fault, faults, outcome_of
from tests.broad import ITEMS

ROOT = Path(__file__).resolve().parents[3]


MOST_BROAD = 0.05
"""The share of faults that tests may see which the default run leaves to CI."""


@pytest.mark.each_value
def test_faults_are_seen_by_the_default_run(request: pytest.FixtureRequest) -> None:
    """Each names tests of the run that it says, where their files were collected; nearly all of the default one."""
    if request.config.getoption("--quick"):
        pytest.skip("quick collects no slow tests, of which the default run takes some")
    assert {fault.run for fault in faults()} <= {"default", "broad"}
    assert sum(fault.run == "broad" for fault in faults()) <= MOST_BROAD * len(faults())
    collected = request.config.stash[ITEMS]
    files = {item.nodeid.partition("::")[0] for item in collected}
    names = {item.nodeid.partition("[")[0] for item in collected if item.get_closest_marker("broad") is None}
    names.update([name.partition("::")[0] for name in names])
    for fault in faults():
        if fault.run == "default" and files.issuperset(test.partition("::")[0] for test in fault.tests):
            assert names.intersection(test.partition("[")[0] for test in fault.tests), fault.name


@pytest.mark.parametrize(("run", "outcome"), [("default", "SURVIVED"), ("broad", "caught")])
def test_a_fault_is_looked_for_by_the_tests_of_its_run(run: str, outcome: str, tmp_path: Path) -> None:
    (tmp_path / "code_of.py").write_text(CODE)
    marked = BITES.replace("def test", "@pytest.mark.broad('it is dear')\ndef test")
    (tmp_path / "test_it.py").write_text(f"import pytest\n{marked}\ndef test_nothing(): pass\n")
    fault = Fault("one", "code_of.py", "2 * x", "3 * x", ["test_it.py"], run)
    assert outcome_of(fault, tmp_path) == outcome


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_every_fault_can_still_be_planted(fault: Fault) -> None:
    assert (ROOT / fault.file).read_text().count(fault.old) == 1 and fault.old != fault.new
    assert fault.tests and all((ROOT / test.partition("::")[0]).exists() for test in fault.tests)


CODE = "def twice(x):\n    return 2 * x\n"
BITES = "from code_of import twice\n\ndef test_twice():\n    assert twice(3) == 6\n"
BLIND = "from code_of import twice\n\ndef test_twice():\n    assert twice(0) == 0\n"


@pytest.mark.parametrize(
    ("test", "old", "outcome"),
    [
        (BITES, "2 * x", "caught"), (BLIND, "2 * x", "SURVIVED"), ("", "2 * x", "no test ran"),
        (BITES, "4 * x", "not planted: the text stands there 0 times"),
    ],
)  # fmt: skip
def test_outcomes_are_told_apart(test: str, old: str, outcome: str, tmp_path: Path) -> None:
    (tmp_path / "code_of.py").write_text(CODE)
    (tmp_path / "test_it.py").write_text(test)
    fault = Fault("one", "code_of.py", old, "3 * x", ["test_it.py"])
    assert outcome_of(fault, tmp_path) == outcome
    assert (tmp_path / "code_of.py").read_text() == CODE, "it is put back"


def test_time_ends_the_planting(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In an order by chance, which is the same for a seed; what was not planted is no part of the share."""
    planted: list[str] = []

    def outcome(fault: Fault, _: Path) -> str:
        planted.append(fault.name)
        now[0] += 60.0
        return "caught"

    now = [0.0]
    monkeypatch.setattr(mutants, "copied", lambda folder: folder)
    monkeypatch.setattr(mutants, "outcome_of", outcome)
    monkeypatch.setattr(mutants.time, "monotonic", lambda: now[0])
    for seed in ("1", "1", "2"):
        assert main(["mutants", "--minutes", "4.5", "--seed", seed]) == 0
    assert planted[:5] == planted[5:10] != planted[10:] and len(planted) == 15
    assert planted[:5] != [fault.name for fault in faults()[:5]]
    rest = len(faults()) - 5
    assert f"5 of 5 were caught: 100 %; {rest} of {len(faults())} were not planted" in capsys.readouterr().out


def test_the_list_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "copied", lambda _: pytest.fail("nothing is to be copied"))
    assert main(["mutants", "--list", "--only", "costs_"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == sum(fault.name.startswith("costs_") for fault in faults())
