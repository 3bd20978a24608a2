"""What is kept of the sanitizers' jobs counts as long as nothing that they read is another, and no longer."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from raygrove.gpu.rows import constant
from raygrove.gpu.target.base import UnitSource

from . import kept_jobs
from .kept_jobs import Followed, KeptJobs, Outcome, key_of, outcome_of, to_run

UNIT = UnitSource("gpu/primitives/scan.cu", constants=(("SIZE", 3), ("SHARE", 0.5), ("IS_SOLID", True)))
OTHER = UnitSource("tests/gpu/target/contract.cu", ("gpu/device/vec.cuh",), (("Real", "float"),), (("SIZE", 4),), 0)


@pytest.fixture
def written(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """A root with a Python file, whose digests nobody keeps."""
    (tmp_path / "job.py").write_text("print(1)\n", encoding="utf-8")
    monkeypatch.setattr(kept_jobs, "ROOT", tmp_path)
    kept_jobs._digest_of_file.cache_clear()
    yield tmp_path / "job.py"
    kept_jobs._digest_of_file.cache_clear()


def outcome(*files: str) -> Outcome:
    return Outcome({UNIT: {"scan", "add"}, OTHER: set()}, files)


def test_what_is_kept_is_read_as_it_was_written(written: pathlib.Path) -> None:
    assert outcome_of(outcome("job.py").as_json()) == outcome("job.py")
    kept = KeptJobs()
    kept.keep("address", "flags", ["one", "two"], {"one": outcome("job.py"), "two": Outcome({OTHER: {"f"}}, ())})
    again = KeptJobs(kept.text())
    assert again.text() == kept.text()
    assert {name: made for name, (_, made) in again.valid("address", "flags").items()} == {
        "one": outcome("job.py"),
        "two": Outcome({OTHER: {"f"}}, ()),
    }
    assert not again.valid("thread", "flags"), "of another tool nothing is known"
    again.keep("address", "flags", ["two", "three"], {"three": outcome()})
    assert set(again.valid("address", "flags")) == {"two", "three"}, "a job that is no more is not kept"


def test_a_changed_file_unit_or_flag_makes_a_job_run_again(
    written: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptJobs()
    kept.keep("thread", "flags", ["one", "plain"], {"one": outcome("job.py"), "plain": outcome()})
    assert set(kept.valid("thread", "flags")) == {"one", "plain"}
    assert not kept.valid("thread", "other flags")
    written.write_text("print(2)\n", encoding="utf-8")
    kept_jobs._digest_of_file.cache_clear()
    assert set(kept.valid("thread", "flags")) == {"plain"}
    digest = kept_jobs._digest_of_unit
    monkeypatch.setattr(kept_jobs, "_digest_of_unit", lambda unit: digest(unit) + ("changed" if unit == OTHER else ""))
    assert not kept.valid("thread", "flags")


def test_what_reads_a_file_that_is_no_more_is_not_valid() -> None:
    assert key_of("", Outcome({UNIT: {"scan"}}, ("gpu/rows.py",)))
    assert key_of("", Outcome({UNIT: {"scan"}}, ("gpu/there_is_none.py",))) == ""
    assert key_of("", Outcome({UnitSource("gpu/there_is_none.cu"): set()}, ())) == ""
    kept = KeptJobs()
    kept.keep("address", "", ["one"], {"one": Outcome({}, ("gpu/there_is_none.py",))})
    assert not kept.valid("address", "")


def test_new_jobs_run_and_some_by_turns() -> None:
    names = [f"job {number}" for number in range(200)]
    valid = {name: (f"{number * 7 + 3:020x}", outcome()) for number, name in enumerate(names[:190])}
    asked = to_run(names, valid)
    assert set(asked) > set(names[190:]) and "job 0" in asked, "the first by its key runs always"
    assert 5 <= len(asked) - 10 <= 10, "and a 24th"
    assert to_run(names, {}) == names


def test_followed_are_the_files_whose_functions_ran_and_what_they_import() -> None:
    with Followed() as read_by:
        constant("SIZE", 3)
    assert {"gpu/rows.py"} <= set(read_by.files)
    assert not any("engine" in name or "kept_jobs" in name for name in read_by.files)
    with Followed() as read_by:
        key_of("", Outcome({UNIT: set()}, ()))
    assert {"gpu/target/translation_unit.py", "gpu/target/base.py", "gpu/rows.py"} <= set(read_by.files)
