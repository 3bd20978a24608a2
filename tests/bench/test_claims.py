"""Pages claim what the newest kept runs say: every marked figure, and the page of all bars. `python -m bench.claims` mends a failure here."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from bench import claims, window
from bench.goal import WHY, Goal
from bench.kept import DEVICES, RESULTS, kept, newest, newest_policy
from bench.kept_goals import OTHERS, kept_goals, window_rates

ALONE = "orbit alone in the window, 1024x768, under a virtual X server"


def test_every_page_claims_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert claims.main(["--check"]) == 0, f"run python -m bench.claims: {capsys.readouterr()} is not current"
    assert f"<!--= h200 | {ALONE} | .0f -->" in (claims.ROOT / "README.md").read_text(), "the figure that was wrong once is marked"


def test_a_newer_run_changes_what_pages_say(tmp_path: pathlib.Path) -> None:
    page = f"It plays at <!--= h200 | {ALONE} | .0f -->352<!--/--> frames a second; <!--= h200 | filter of paths, 1920x1080 | .2f -->9<!--/--> ms."
    window_file(tmp_path, "h200-2026-11-21-window", 287.1)
    assert claims.rewritten(page, tmp_path) == page.replace("352", "287").replace(">9<", ">not measured<")
    window_file(tmp_path, "h200-2026-11-21-b-window", 313.4)
    window_file(tmp_path, "h200-2026-11-20-z-window", 400.0)
    window_file(tmp_path, "h200-2026-11-22-other-window", 500.0)
    found = claims.rewritten(page, tmp_path)
    assert ">313<" in found and claims.rewritten(found, tmp_path) == found


def window_file(folder: pathlib.Path, name: str, rate: float) -> None:
    run = {"command": "--demo orbit --frames 900 --alone", "frames_per_second": rate, "render_thread_ms": 0.5, "paint_ms": 0.1, "drawn": [1024, 768]}
    others = [{**run, "command": "--demo orbit", "frames_per_second": 7.0}, {**run, "command": "--demo orbit --alone --set render.samples=4"}]
    content = {"context": {"date": name[5:15], "commit": "abc"}, "runs": [*others, run]}
    (folder / f"{name}.json").write_text(json.dumps(content))


def test_a_run_of_the_window_is_known_by_what_it_showed(tmp_path: pathlib.Path) -> None:
    named = {
        "--demo orbit --frames 900 --alone": "orbit, lbvh, smooth, alone",
        "--demo glass --set render.hierarchy=median_sah --set render.ray_type=whitted": "glass, median_sah, whitted",
        "horse-gallop/*.obj.xz --frames 200 --set render.ray_type=ao": "horse-gallop, lbvh, ao",
        "--demo orbit --set render.samples=4": "orbit, lbvh, smooth, render.samples 4",
    }
    assert {command: claims.shown_in_window(command) for command in named} == named
    for day, rate in (("20", 1.0), ("21", 158.4)):
        run = {"command": "--demo orbit --set render.hierarchy=hploc", "frames_per_second": rate, "drawn": [1024, 768]}
        content = {"context": {"date": f"2026-11-{day}"}, "runs": [run]}
        (tmp_path / f"h200-2026-11-{day}-window.json").write_text(json.dumps(content))
    assert claims.figure("h200 | window: orbit, hploc_sah, smooth: frames a second | .0f", tmp_path) == "158", "its default of that day"
    assert claims.figure("h200 | window: orbit, hploc, smooth: frames a second | .0f", tmp_path) == "1"


@pytest.mark.parametrize("key", ["h200 | no such bar | .0f", "abacus | filter of paths, 1920x1080 | .2f"])
def test_a_mark_that_stands_for_nothing_is_an_error(key: str) -> None:
    with pytest.raises(claims.ClaimError, match="there is no"):
        claims.rewritten(f"<!--= {key} -->1<!--/-->")
    assert claims.rewritten(f"`<!--= {key} -->1<!--/-->`") == f"`<!--= {key} -->1<!--/-->`", "an example of a mark is none"


def test_every_bar_of_another_command_is_found_in_what_is_kept() -> None:
    """But where it is said that nothing of it is kept; no reader may look past the figure that is there."""
    for kind in DEVICES:
        for goal in kept_goals(kind):
            assert goal.measured is not None, goal
    assert {one.kind for one in OTHERS} == set(DEVICES)


def test_what_nothing_is_kept_of_is_said(tmp_path: pathlib.Path) -> None:
    found = list(kept_goals("cuda", tmp_path))
    assert all(goal.measured is None and goal.note == "no file of it is kept" and goal.state == "not measured" for goal in found)
    page = claims.goals_page(tmp_path)
    assert "| give its file, of 262,205 triangles |" in page and "| no file of it is kept |" in page


def test_a_bar_that_is_missed_or_withdrawn_says_why() -> None:
    missed = Goal(ALONE, 300.0, 287.1, "frames/s", at_most=False)
    assert missed.state == "MISSED" and "render thread" in missed.why and missed.as_json()["why"] == missed.why
    assert Goal("something else", 1.0, 2.0, "ms").why == "not known" and Goal("something else", 1.0, 0.5, "ms").why == ""
    given_up = Goal("SAH cost of hlbvh_sah over hlbvh_median, Crytek Sponza", 0.6, 0.84, "times", is_withdrawn=True)
    assert given_up.state == "withdrawn" and given_up.is_reached is None and "269 over 484" in given_up.why
    for kind in DEVICES:
        for goal in claims.all_bars(kind):
            assert goal.why != "not known", goal.what
    assert all(sentence for sentence in WHY.values())


def test_each_bar_is_listed_once() -> None:
    for kind in DEVICES:
        names = [goal.what for goal in claims.all_bars(kind)]
        assert len(names) == len(set(names)) > 50
        for wanted in (
            "hlbvh_sah over hlbvh_median, Crytek Sponza",
            "SAH cost of hploc over binned_sah, bunny",
            "SAH cost of hploc over binned_sah, dragon",
        ):
            assert any(wanted in name for name in names), wanted


def test_the_newest_file_is_found_by_its_date_then_its_letter(tmp_path: pathlib.Path) -> None:
    for name, date in (
        ("h200-2026-11-20-goals", "2026-11-20T21:00"),
        ("h200-2026-11-20-b-goals", "2026-11-20T15:00"),
        ("h200-2026-11-19-room-goals", "2027"),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps({"context": {"date": date}}))
    assert [one.name for one in kept("h200", "goals", tmp_path)] == ["h200-2026-11-20-goals", "h200-2026-11-20-b-goals"]
    assert newest("h200", "window", tmp_path) is None
    assert all(newest(device, "goals", RESULTS) for device in DEVICES.values())


def test_a_later_table_of_the_same_day_has_a_letter(tmp_path: pathlib.Path) -> None:
    assert newest_policy("h200", tmp_path) is None
    for name, hour, ratio in (("policy", 1, 1.2), ("b-policy", 7, 1.04), ("other-policy", 9, 1.3)):
        text = f"commit: c{hour}\ndate: 2026-11-21T0{hour}:00:00\n\nwalker: {ratio}\n"
        (tmp_path / f"h200-2026-11-21-{name}.txt").write_text(text)
    (tmp_path / "h200-2026-11-20-c-policy.txt").write_text("walker: 1.5\n")
    found = newest_policy("h200", tmp_path)
    assert found is not None and found.place == "h200-2026-11-21-b-policy (c7)" and found.content["ratios"] == {"walker": 1.04}


def test_runs_of_the_window_are_kept_together(tmp_path: pathlib.Path) -> None:
    answer: dict[str, Any] = {"device": "a GPU", "gl_renderer": "it", "frames_per_second": 310.0, "drawn": [1024, 768]}
    for rate in (310.0, 290.0, 300.0):
        window.keep(tmp_path / "w.json", ["--demo", "orbit", "--alone"], {**answer, "frames_per_second": rate})
    window.keep(tmp_path / "w.json", ["--demo", "orbit"], {**answer, "frames_per_second": 200.0})
    content = json.loads((tmp_path / "w.json").read_text())
    assert content["context"]["device"] == "a GPU" and len(content["runs"]) == 4
    assert window_rates(content, alone=True) == [310.0, 290.0, 300.0] and window_rates(content, alone=False) == [200.0]


def test_the_file_to_keep_is_taken_from_the_other_arguments(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured = ["--demo", "orbit", "--set", "render.samples=4", "--alone"]
    assert window._keep_from(measured) == (None, measured)
    assert window._keep_from([*measured[:2], "--keep", "w.json", *measured[2:]]) == (pathlib.Path("w.json"), measured)
    with pytest.raises(SystemExit, match="2"):
        window._keep_from([*measured, "--keep"])
    assert "--keep: expected one argument" in capsys.readouterr().err
