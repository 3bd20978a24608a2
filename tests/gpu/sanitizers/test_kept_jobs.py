"""What is kept of the sanitizers' jobs counts as long as nothing that they read is another, and no longer."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Iterator

import pytest

from raygrove.gpu.hierarchy import registry
from raygrove.gpu.hierarchy.registry import own_structures
from raygrove.gpu.rows import constant
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target.base import UnitSource
from raygrove.gpu.target.translation_unit import read_source

from . import kept_jobs, tools
from .kept_jobs import Followed, KeptJobs, Outcome, found_in_folders, key_of, outcome_of, to_run

UNIT = UnitSource("gpu/primitives/scan.cu", constants=(("SIZE", 3), ("SHARE", 0.5), ("IS_SOLID", True)))
OTHER = UnitSource("tests/gpu/target/contract.cu", ("gpu/device/vec.cuh",), (("Real", "float"),), (("SIZE", 4),), 0)

NEVER = 2**63
"""Nothing was edited since then."""


@pytest.fixture
def written(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """A root with a Python file, whose digests nobody keeps, and the kernels' files."""
    (tmp_path / "job.py").write_text("print(1)\n", encoding="utf-8")
    for name in {kept_jobs.RUNTIME}.union(*map(kept_jobs._files_of_unit, (UNIT, OTHER))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(read_source(name), encoding="utf-8")
    monkeypatch.setattr(kept_jobs, "ROOT", tmp_path)
    kept_jobs._digest_of_file.cache_clear()
    yield tmp_path / "job.py"
    kept_jobs._digest_of_file.cache_clear()


def outcome(*files: str) -> Outcome:
    return Outcome({UNIT: {"scan", "add"}, OTHER: set()}, files)


def test_what_is_kept_is_read_as_it_was_written(written: pathlib.Path) -> None:
    assert outcome_of(outcome("job.py").as_json()) == outcome("job.py")
    kept = KeptJobs()
    kept.keep("address", "flags", ["one", "two"], {"one": outcome("job.py"), "two": Outcome({OTHER: {"f"}}, ())}, NEVER)
    again = KeptJobs(kept.text())
    assert again.text() == kept.text()
    assert {name: made for name, (_, made) in again.valid("address", "flags").items()} == {
        "one": outcome("job.py"),
        "two": Outcome({OTHER: {"f"}}, ()),
    }
    assert not again.valid("thread", "flags"), "of another tool nothing is known"
    again.keep("address", "flags", ["two", "three"], {"three": outcome()}, NEVER)
    assert set(again.valid("address", "flags")) == {"two", "three"}, "a job that is no more is not kept"


def test_a_changed_file_unit_or_flag_makes_a_job_run_again(
    written: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptJobs()
    kept.keep("thread", "flags", ["one", "plain"], {"one": outcome("job.py"), "plain": outcome()}, NEVER)
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
    kept.keep("address", "", ["one"], {"one": Outcome({}, ("gpu/there_is_none.py",))}, NEVER)
    assert not kept.valid("address", "")


@pytest.mark.parametrize("edited", ["job.py", "scan.cu", "vec.cuh"])
def test_what_was_edited_while_a_job_ran_is_not_kept(edited: str, written: pathlib.Path) -> None:
    """A Python file, a kernel file, and a header that a unit includes."""
    read_by = {
        "job.py": Outcome({}, ("job.py",)),
        "scan.cu": Outcome({UNIT: set()}, ()),
        "vec.cuh": Outcome({OTHER: set()}, ()),
    }
    time.sleep(0.05)  # a disk's clock goes by hundredths of a second
    began_ns = time.time_ns()
    kept = KeptJobs()
    assert not kept.keep("thread", "flags", read_by, read_by, began_ns)
    assert set(kept.valid("thread", "flags")) == set(read_by)
    time.sleep(0.05)
    path = next(written.parent.rglob(edited))
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    os.utime(path, (0, 0))
    touched = [name for name, found in read_by.items() if kept_jobs.was_edited(found, began_ns)]
    assert KeptJobs().keep("thread", "flags", read_by, read_by, began_ns) == touched
    assert edited in touched and len(touched) < 3
    path.unlink()
    assert kept_jobs.was_edited(read_by[edited], NEVER), "nor what is no more"


@pytest.mark.parametrize("of", ["optimisers", "layouts", "traversals", "structures", "ray types"])
def test_a_new_folder_makes_jobs_run_again(of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file that a job read has changed, and the job would loop over one more."""
    kept, linear, types = KeptJobs(), own_structures()["lbvh"], ray_types()
    kept.keep("address", "flags", ["one"], {"one": Outcome({}, ("gpu/rows.py",))}, NEVER)
    assert kept.valid("address", "flags")
    of_the_project = {"name": "another", "__module__": linear.__module__}
    patches: dict[str, tuple[object, str, object]] = {
        "optimisers": (linear, "optimisers", classmethod(lambda kind: {"another": object})),
        "layouts": (linear, "layouts", classmethod(lambda kind: ("bvh2", "another"))),
        "traversals": (linear, "traversals", classmethod(lambda kind, layout: ("another",))),
        "structures": (registry, "_registered", {"another": type("Another", (linear,), of_the_project)}),
        "ray types": (kept_jobs, "ray_types", lambda: {**types, "another": object}),
    }
    found_in_folders.cache_clear()
    assert kept.valid("address", "flags"), "the same each time"
    with monkeypatch.context() as patched:
        patched.setattr(*patches[of])
        found_in_folders.cache_clear()
        assert not kept.valid("address", "flags")
    found_in_folders.cache_clear()


@pytest.mark.parametrize("variable", ["TSAN_OPTIONS", "UBSAN_OPTIONS"])
def test_another_option_of_a_sanitizer_makes_jobs_run_again(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tools.how("thread")
    assert "RAYGROVE_HOST_FORCE_SPLIT=1" in before.split("\n") and "LD_PRELOAD" not in before
    monkeypatch.setitem(tools.OPTIONS, variable, "")
    assert tools.how("thread") != before


def test_new_jobs_run_and_some_by_turns() -> None:
    names = [f"job {number}" for number in range(200)]
    valid = {name: (f"{number * 7 + 3:020x}", outcome()) for number, name in enumerate(names[:190])}
    days = [to_run(names, valid, 20_000 + day) for day in range(24)]
    for asked in days:
        assert set(asked) > set(names[190:]) and "job 0" in asked, "the first by its key runs always"
        assert 5 <= len(asked) - 10 <= 10, "and a 24th"
    assert set().union(*days) == set(names), "each comes round"
    assert to_run(names, {}, 20_000) == names


def test_followed_are_the_files_whose_functions_ran_and_what_they_import() -> None:
    with Followed() as read_by:
        constant("SIZE", 3)
    assert {"gpu/rows.py"} <= set(read_by.files)
    assert not any("engine" in name or "kept_jobs" in name for name in read_by.files)
    with Followed() as read_by:
        key_of("", Outcome({UNIT: set()}, ()))
    assert {"gpu/target/translation_unit.py", "gpu/target/base.py", "gpu/rows.py"} <= set(read_by.files)
