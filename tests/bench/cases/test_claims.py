"""Pages claim what the newest saved runs say: every marked figure, and the page of all bars. `python -m
raygrove.bench claims` mends a failure here."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest

from raygrove.bench.build_tables import build_goals
from raygrove.bench.cases import claims, main, parser_of, window
from raygrove.bench.goal import WHY, Goal
from raygrove.bench.laboratory_goals import LABORATORY
from raygrove.bench.octree_goals import OCTREES, SCENES
from raygrove.bench.particle_goals import PARTICLES
from raygrove.bench.policy_bars import POLICIES
from raygrove.bench.ray_goals import ray_goals
from raygrove.bench.ray_tables import nothing_of
from raygrove.bench.reliability_goals import RELIABILITY
from raygrove.bench.saved import DEVICES, RESULTS, newest, newest_policy, saved
from raygrove.bench.saved_goals import OTHERS, saved_goals, window_rates
from raygrove.bench.store_goals import SWEEPS
from raygrove.bench.unread_goals import UNREAD

ALONE = "orbit alone in the window, 1024x768, under a virtual X server"
MOST = ("100M spheres of 1 px", "100M spheres of 3 px")


def test_every_page_claims_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--check"]) == 0, (
        f"run python -m raygrove.bench claims: {capsys.readouterr()} is not current"
    )
    assert f"<!--= h200 | {ALONE} | .0f -->" in (claims.ROOT / "README.md").read_text(), (
        "the figure that was wrong once is marked"
    )


def test_a_newer_run_changes_what_pages_say(tmp_path: pathlib.Path) -> None:
    page = (
        f"It plays at <!--= h200 | {ALONE} | .0f -->352<!--/--> frames a second; <!--= h200 | filter of paths, "
        f"1920x1080 | .2f -->9<!--/--> ms."
    )
    window_file(tmp_path, "h200-2026-11-21-window", 287.1)
    assert claims.rewritten(page, tmp_path) == page.replace("352", "287").replace(">9<", ">not measured<")
    window_file(tmp_path, "h200-2026-11-21-b-window", 313.4)
    window_file(tmp_path, "h200-2026-11-20-z-window", 400.0)
    window_file(tmp_path, "h200-2026-11-22-other-window", 500.0)
    found = claims.rewritten(page, tmp_path)
    assert ">313<" in found and claims.rewritten(found, tmp_path) == found


def window_file(folder: pathlib.Path, name: str, rate: float) -> None:
    run = {
        "command": "--demo orbit --frames 900 --alone",
        "frames_per_second": rate,
        "render_thread_ms": 0.5,
        "paint_ms": 0.1,
        "drawn": [1024, 768],
    }
    others = [
        {**run, "command": "--demo orbit", "frames_per_second": 7.0},
        {**run, "command": "--demo orbit --alone --set render.samples=4"},
    ]
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
    assert claims.figure("h200 | window: orbit, hploc_sah, smooth: frames a second | .0f", tmp_path) == "158", (
        "its default of that day"
    )
    assert claims.figure("h200 | window: orbit, hploc, smooth: frames a second | .0f", tmp_path) == "1"


@pytest.mark.parametrize("key", ["h200 | no such bar | .0f", "abacus | filter of paths, 1920x1080 | .2f"])
def test_a_mark_that_stands_for_nothing_is_an_error(key: str) -> None:
    with pytest.raises(claims.ClaimError, match="there is no"):
        claims.rewritten(f"<!--= {key} -->1<!--/-->")
    assert claims.rewritten(f"`<!--= {key} -->1<!--/-->`") == f"`<!--= {key} -->1<!--/-->`", (
        "an example of a mark is none"
    )


def test_every_bar_of_another_command_is_found_in_what_is_kept() -> None:
    """But for those of spheres and of atoms, of which no quiet machine has saved any, those that no command saves, and
    those whose part of a run was not asked for; no reader may look past a figure that is there."""
    missing = {goal.what: goal.note for kind in DEVICES for goal in saved_goals(kind) if goal.measured is None}
    since = [one for one in OTHERS if one.file in ("sandbox", "worlds", "first-use", "reactions")]
    others = (*PARTICLES, *OCTREES, *LABORATORY, *POLICIES, *RELIABILITY, *SWEEPS, *since)
    unsaved = [one.what for one in others if newest(DEVICES[one.kind], one.file) is None]
    expected = dict.fromkeys(unsaved, "no file of it is saved")
    expected |= {goal.what: goal.note for goals in UNREAD.values() for goal in goals}
    browser = [one for one in LABORATORY if one.what.startswith("tree browser")]  # runs before 2026-11-29 had none
    for one in (
        *SWEEPS,
        *RELIABILITY,
        *browser,
    ):  # a run of workers is of jobs of 1 s, or of longer ones on up to eight
        files = saved(DEVICES[one.kind], one.file)
        if files and all(one.read(file.content) is None for file in files):
            expected[one.what] = f"{files[0].name} has no such figure"
    opening = newest(DEVICES["host"], "opening")
    assert opening is not None
    if all(row["what"] != "atoms.xtc" for row in opening.content["results"]):
        expected["opening, atoms.xtc"] = f"{opening.name} has no such figure"
    rays = "primary rays of grid, of lbvh's"
    octrees = newest(DEVICES["cuda"], "octrees")
    assert octrees is not None
    if sum(row["what"] == rays for row in octrees.content["results"]) < SCENES:
        expected[f"{rays}, the worst case"] = f"{octrees.name} has no such figure"
    hidden = "a bounce of radiosity, 150K points, what is seen known"
    if not any(row["what"] == hidden for file in saved(DEVICES["cuda"], "octrees") for row in file.content["results"]):
        of_sight = [one.what for one in OCTREES if "what is seen" in one.what or "over rays" in one.what]
        expected |= dict.fromkeys(of_sight, f"{octrees.name} has no such figure")
    particles = newest(DEVICES["cuda"], "particles")
    if particles:
        rows = particles.content["results"]
        casts = [(row["what"], row["order"]) for row in rows if row.get("by") == "auto"]
        casts_of = {f"{what} by auto, 1024x1024": f"{what}, 1024x1024" for what in MOST}
        most = [what for what, scene in casts_of.items() if not {(scene, "random"), (scene, "Morton")} <= set(casts)]
        whole = "memory of 100M spheres with a structure"
        most += [] if any(row["what"] == whole for row in rows) else [whole]
        expected |= dict.fromkeys(most, f"{particles.name} has no such figure")
    for kind in DEVICES:
        for what, read in (("rays", ray_goals), ("builds", build_goals)):
            files = saved(DEVICES[kind], what)
            blank = read(files[0].content) if files else read(nothing_of(kind))
            measured = {goal.what for file in files for goal in read(file.content) if goal.measured is not None}
            notes = {
                goal.what: goal.note if files else "no file of it is saved"
                for goal in blank
                if goal.what not in measured
            }
            expected |= notes  # of files: scenes that none of their runs was given
    assert missing == expected
    assert {one.kind for one in OTHERS} == {one.kind for one in PARTICLES} == set(DEVICES)


def test_what_a_run_left_out_is_read_from_the_run_before(tmp_path: pathlib.Path) -> None:
    """Of `bench goals` a model's part, of `bench builds` a scene; what both runs measured is the newer's."""
    bars = (("of both", 3.0, 4.0), ("left out", 1.5, None), ("given up", 1.0, "not judged"))
    for place, day in enumerate(("2026-11-22", "2026-11-24")):
        goals = [
            Goal(what, 2.0, figures[place], "ms").as_json()  # type: ignore[arg-type]
            for what, *figures in bars
            if figures[place] != "not judged"
        ]
        content = {"context": {"date": f"{day}T10:00", "commit": "abc"}, "goals": goals}
        (tmp_path / f"h200-{day}-goals.json").write_text(json.dumps(content), encoding="utf-8")
    found = {goal.what: goal for goal in claims.all_bars("cuda", tmp_path)}
    assert found["of both"].measured == 4.0 and "2026-11-24" in found["of both"].how
    assert found["left out"].measured == 1.5 and "2026-11-22" in found["left out"].how
    assert "given up" not in found
    kept = newest(DEVICES["cuda"], "builds")
    assert kept is not None
    whole = kept.content["parts"]
    fewer = {name: part for name, part in whole.items() if name != "country-kitchen"}
    assert 0 < len(fewer) < len(whole)
    for day, parts in (("2026-11-22", whole), ("2026-11-24", fewer)):
        content = {**kept.content, "context": {**kept.content["context"], "date": f"{day}T10:00"}, "parts": parts}
        (tmp_path / f"h200-{day}-builds.json").write_text(json.dumps(content), encoding="utf-8")
    found = {goal.what: goal for goal in saved_goals("cuda", tmp_path)}
    kitchen, sponza = found["sbvh rebuild, country-kitchen"], found["sbvh rebuild, Crytek Sponza"]
    assert kitchen.measured is not None and "2026-11-22" in kitchen.how
    assert sponza.measured is not None and "2026-11-24" in sponza.how


def test_what_nothing_is_kept_of_is_said(tmp_path: pathlib.Path) -> None:
    found = list(saved_goals("cuda", tmp_path))
    assert all(goal.measured is None and goal.state == "not measured" for goal in found)
    assert all(goal.note == "no file of it is saved" for goal in found if goal not in UNREAD["cuda"])
    page = claims.goals_page(tmp_path)
    assert "| give its file, of 262,205 triangles |" in page and "| no file of it is saved |" in page


def test_a_bar_that_is_missed_or_withdrawn_says_why() -> None:
    missed = Goal(ALONE, 300.0, 287.1, "frames/s", at_most=False)
    assert missed.state == "MISSED" and "render thread" in missed.why and missed.as_json()["why"] == missed.why
    assert (
        Goal("something else", 1.0, 2.0, "ms").why == "not known" and Goal("something else", 1.0, 0.5, "ms").why == ""
    )
    given_up = Goal("SAH cost of hlbvh_sah over hlbvh_median, Crytek Sponza", 0.6, 0.84, "times", is_withdrawn=True)
    assert given_up.state == "withdrawn" and given_up.is_reached is None and "269 over 484" in given_up.why
    for kind in DEVICES:
        for goal in claims.all_bars(kind):
            assert goal.why != "not known", goal.what
    assert all(sentence for sentence in WHY.values())


def test_marks_in_tables_escape_their_bars() -> None:
    """A bare one would end the table's cell; escaped, the figure is the same."""
    name = "refit, 512,000 triangles"
    assert claims.figure(rf"h200 \| {name} \| .4g") == claims.figure(f"h200 | {name} | .4g")
    for page in (*(claims.ROOT / "docs").rglob("*.md"), claims.ROOT / "README.md"):
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("|"):
                assert not re.search(r"(?<!`)<!--=[^>]*(?<!\\)\|", line), f"{page.name}: {line}"


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
    assert [one.name for one in saved("h200", "goals", tmp_path)] == [
        "h200-2026-11-20-goals",
        "h200-2026-11-20-b-goals",
    ]
    assert newest("h200", "window", tmp_path) is None
    assert all(newest(device, "goals", RESULTS) for device in DEVICES.values())


def test_a_later_table_of_the_same_day_has_a_letter(tmp_path: pathlib.Path) -> None:
    assert newest_policy("h200", tmp_path) is None
    for name, hour, ratio in (("policy", 1, 1.2), ("b-policy", 7, 1.04), ("other-policy", 9, 1.3)):
        text = f"commit: c{hour}\ndate: 2026-11-21T0{hour}:00:00\n\nwalker: {ratio}\n"
        (tmp_path / f"h200-2026-11-21-{name}.txt").write_text(text)
    (tmp_path / "h200-2026-11-20-c-policy.txt").write_text("walker: 1.5\n")
    found = newest_policy("h200", tmp_path)
    assert (
        found is not None
        and found.place == "h200-2026-11-21-b-policy (c7)"
        and found.content["ratios"] == {"walker": 1.04}
    )


def test_runs_of_the_window_are_kept_together(tmp_path: pathlib.Path) -> None:
    answer: dict[str, Any] = {"device": "a GPU", "gl_renderer": "it", "frames_per_second": 310.0, "drawn": [1024, 768]}
    for rate in (310.0, 290.0, 300.0):
        window.add_run(tmp_path / "w.json", ["--demo", "orbit", "--alone"], {**answer, "frames_per_second": rate})
    window.add_run(tmp_path / "w.json", ["--demo", "orbit"], {**answer, "frames_per_second": 200.0})
    content = json.loads((tmp_path / "w.json").read_text())
    assert content["context"]["device"] == "a GPU" and len(content["runs"]) == 4
    assert window_rates(content, alone=True) == [310.0, 290.0, 300.0] and window_rates(content, alone=False) == [200.0]


def test_a_run_says_what_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """By the words that were typed, from which claims reads what the window showed; the window itself gets no --out."""
    asked: list[dict[str, Any]] = []

    def ask_window(what: str, job: dict[str, Any]) -> dict[str, Any]:
        asked.append(job)
        return {"device": "", "gl_renderer": ""}

    monkeypatch.setattr(window, "ask_window", ask_window)
    words = ["--demo", "orbit", "--set", "render.samples=4", "--alone", "--out", str(tmp_path / "w")]
    assert main(["window", *words]) == 0
    (run,) = json.loads((tmp_path / "w.json").read_text())["runs"]
    assert claims.shown_in_window(run["command"]) == "orbit, lbvh, smooth, alone, render.samples 4"
    (job,) = asked
    assert job["set"] == ["render.samples=4"] and job["alone"] and "out" not in job
    given = vars(parser_of("window").parse_args([]))
    assert set(window.JOB) == set(given) - {"out"}


def test_bars_of_policies_take_the_worst_clip() -> None:
    rows = [
        {"scene": "a", "regret": {"auto": 1.01, "ratio_optimiser": 1.06, "rebuild": 1.5, "refit": 1.0}},
        {"scene": "b", "regret": {"auto": 1.08, "ratio_optimiser": 1.02, "rebuild": 1.0, "refit": 2.0}},
    ]
    found = {one.what: one.read({"results": rows}) for one in POLICIES if one.kind == "cuda"}
    assert found == {
        "auto over the best schedule, the worst clip": 1.08,
        "the best online policy over the best schedule, the worst clip": 1.02,
        "auto over ratio_optimiser, the worst clip": pytest.approx(1.08 / 1.02),
    }
