"""How the device check reads compute-sanitizer's reports."""

from __future__ import annotations

import pathlib

import pytest

from raygrove.bench.cases import device_check, main
from raygrove.bench.cases.device_check import judge_races
from tests.gpu.sanitizers.frames import pictures
from tests.gpu.sanitizers.scenario import name_of
from tests.gpu.target import every_kernel

ARRIVAL = """
========= Error: Race reported between Write access at store_subtree(float4 *, int, Subtree &)+0x1590 in lbvh.cu:90
=========     and Read access at load_subtree(const float4 *, int, int, int)+0x19f0 in lbvh.cu:93 [1600 hazards]
=========
"""
FOREIGN = """
========= Warning: Race reported between Write access at 0x1b0 in scan.cu:12:add_tiles(int *)
=========     and Read access at 0x2d0 in scan.cu:14:add_tiles(int *) [4 hazards]
=========
"""


def test_races_that_an_arrival_orders_are_told_apart() -> None:
    assert judge_races(ARRIVAL)[0]
    clean, words = judge_races(ARRIVAL + FOREIGN)
    assert not clean
    assert "add_tiles scan.cu:12 / add_tiles scan.cu:14 [4]" in words and "store_subtree" not in words


def test_a_template_is_known_by_its_name() -> None:
    between = "Aabb load_shared_box<(int)512>(const float *, int)+0x10 in node_writer.cuh:39"
    text = (
        f"========= Error: Race reported between Read access at {between}\n=========     and Write access at "
        f"{between} [3 hazards]\n"
    )
    assert judge_races(text)[0]


@pytest.mark.parametrize(
    "text", ["", "========= Error: Race reported between this and that", ARRIVAL + "Race reported between"]
)
def test_a_report_that_cannot_be_read_is_no_success(text: str) -> None:
    assert not judge_races(text)[0]


def test_without_a_device_nothing_is_claimed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(device_check, "cuda_available", lambda: (False, "There is none."))
    assert main(["device_check", "--out", str(tmp_path)]) == 4
    assert "There is none." in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("watch", sorted(set(device_check.WATCHED.values())))
def test_what_a_tool_watches_leaves_something_out(watch: str) -> None:
    assert 0 < len(pictures(watch)) < len(pictures("all"))


@pytest.mark.parametrize("tool", device_check.TOOLS)
def test_a_tool_runs_the_program_that_is_made_for_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    commands: list[list[str]] = []

    def note(step: str, command: list[str], out: pathlib.Path, limit: int) -> tuple[int, float, str]:
        commands.append(command)
        return 0, 1.0, ""

    monkeypatch.setattr(device_check, "run_step", note)
    device_check.run_parts(tool, ["watcher"], 2, tmp_path, 1)
    watched = {"memcheck": "memory", "initcheck": "memory", "racecheck": "races", "synccheck": "races"}[tool]
    assert [command[0] for command in commands] == ["watcher"] * 2
    assert all(command[command.index("--watch") + 1] == watched for command in commands)
    assert len({command[command.index("--claims") + 1] for command in commands}) == 1


LOG = """jobs 3
begun run_primitives
ended run_primitives after 1.5 s
begun run_structure grid memory
jobs 3
begun run_glyphs
ended run_glyphs after 0.2 s
"""


def test_jobs_that_did_not_end_are_named() -> None:
    assert device_check.count_jobs(LOG) == ("2 of 3 jobs ended, not run_structure grid memory", 1)
    assert device_check.count_jobs(LOG + "ended run_structure grid memory after 9.0 s\n")[1] == 0
    assert device_check.count_jobs("nothing")[1] > 0, "a program that did not start has shown nothing"


def test_processes_share_jobs_and_lose_none(tmp_path: pathlib.Path) -> None:
    assert [every_kernel.claimed(number, tmp_path) for number in (0, 1, 0, 2)] == [True, True, False, True]
    assert every_kernel.claimed(0, None)


def test_jobs_have_names_of_their_own() -> None:
    for watch in ("memory", "races", "all"):
        names = [name_of(job) for job in every_kernel.jobs_of(watch)]
        assert len(names) > 50 and len(set(names)) == len(names), [n for n in names if names.count(n) > 1]
