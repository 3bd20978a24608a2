"""Planted faults: every one can be planted, and what becomes of it is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.bench.cases import main, mutants
from raygrove.bench.cases.mutants import Fault, faults, outcome_of

ROOT = Path(__file__).resolve().parents[3]


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


def test_the_list_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "copied", lambda _: pytest.fail("nothing is to be copied"))
    assert main(["mutants", "--list", "--only", "costs_"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == sum(fault.name.startswith("costs_") for fault in faults())
