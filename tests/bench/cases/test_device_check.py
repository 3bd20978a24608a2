"""How the device check reads compute-sanitizer's reports."""

from __future__ import annotations

import pathlib

import pytest

from raygrove.bench.cases import device_check, main
from raygrove.bench.cases.device_check import judge_races
from tests.gpu.sanitizers.frames import pictures

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


def test_every_tool_has_something_to_watch() -> None:
    assert set(device_check.WATCHED) == set(device_check.TOOLS)
