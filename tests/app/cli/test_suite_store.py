"""`suite NAME|all --store DIR`: a suite done scene by scene has the tables of a whole run, goes on where it ended, and
says what it lacks."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.cli import suite_jobs, suite_store
from raygrove.app.cli.arguments import parse
from raygrove.app.cli.job_running import Runner
from raygrove.app.cli.main import Words, main
from raygrove.app.cli.suite_jobs import SuiteJobs, merged
from raygrove.app.export.images import read_png
from raygrove.bench.store.folder import Store
from raygrove.bench.store.workers import Progress
from raygrove.bench.suites import SuiteJob, SuiteReport, scene_names
from raygrove.bench.suites.kolodzey2014 import BODY, RING
from raygrove.bench.suites.pages import again
from raygrove.bench.suites.report import Picture, report_from_json

RESULTS = Path(__file__).resolve().parents[3] / "bench" / "results"
SAVED = tuple(
    f"h200-2026-11-28-{suite}" for suite in ("chang2012", "kolodzey2014", "meister2014", "octree2008", "soell2015")
)
NOTHING = dict.fromkeys(("repeat", "size", "threads", "most_triangles", "scenes", "data"))
JOBS_OF = {"chang2012": 7, "kolodzey2014": 7, "meister2014": 19, "octree2008": 5, "soell2015": 8}


def models_of(suite: str, folder: Path) -> Path:
    """Files by the names of all models of a suite."""
    for choice in suite_jobs.choices_of(suite):
        if choice.source.file:
            path = folder / choice.source.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(choice.source.file)
    return folder


def jobs_of(suite: str, data: Path | None = None, **said: Any) -> SuiteJobs:
    names = argparse.Namespace(**{**NOTHING, "data": None if data is None else str(data), **said})
    return SuiteJobs((suite,), names, "s", "cpu")


@pytest.mark.parametrize("name", SAVED)
def test_scenes_put_together_have_the_tables_of_the_whole_run(name: str, tmp_path: Path) -> None:
    content = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    suite = content["suite"]
    jobs, store = jobs_of(suite, models_of(suite, tmp_path / "models")), Store.made(tmp_path / "store")
    assert merged(jobs, suite, store)[0].rows == []
    content["rows"] = [row for row in content["rows"] if _scene(row) in scene_names(suite)]
    for job in jobs:
        part = {key: [one for one in content[key] if _scene(one) == job.what["scene"]] for key in ("rows", "scenes")}
        report = {**content, **part, "pictures": [], "absent": ["busy"]}
        report.pop("context")
        if part["rows"]:
            store.put({"job": dict(job.what), "status": "done", "report": report, "context": content["context"]})
    found, about = merged(jobs, suite, store)
    assert about == content["context"]
    assert found.tables == again(content).tables and len(found.tables) > 2
    assert found.absent[-1] == "busy" or all(sentence.endswith("no result yet.") for sentence in found.absent[1:])
    assert found.absent.count("busy") == 1


def _scene(row: dict[str, Any]) -> Any:
    return row.get("published_scene") or row.get("published") or row.get("scene")


def test_a_job_is_a_scene_and_the_model_it_takes(tmp_path: Path) -> None:
    assert {suite: len(jobs_of(suite, models_of(suite, tmp_path / suite))) for suite in JOBS_OF} == JOBS_OF
    models = models_of("chang2012", tmp_path / "models")
    jobs = list(jobs_of("chang2012", models, repeat=3, size=(8, 6)))
    assert [job.what["scene"] for job in jobs] == ["SR1", "SR2", "SR3", "KR1", "KR2", "KR3", "FF"]
    assert jobs[0].what["model"] == jobs[1].what["model"] and "model" not in jobs[3].what
    assert (jobs[0].what["repeat"], jobs[0].what["size"], jobs[0].is_timed) == (3, [8, 6], True)
    (models / "static" / "sponza-dabrovic.obj").write_text("another one")
    assert list(jobs_of("chang2012", models, repeat=3, size=(8, 6)))[0].sha != jobs[0].sha
    lacking = jobs_of("chang2012")
    assert [job.what["scene"] for job in lacking] == ["KR1", "KR2", "KR3", "FF"]
    assert [text[:4] for text in lacking.absent["chang2012"]] == ["SR1:", "SR2:", "SR3:"]


def test_a_scene_over_the_limit_is_left_out_and_said(tmp_path: Path) -> None:
    everything = jobs_of("meister2014", models_of("meister2014", tmp_path / "models"))
    few = jobs_of("meister2014", tmp_path / "models", most_triangles=100_000)
    assert 0 < len(few) < len(everything)
    assert len(few) + len(few.absent["meister2014"]) == len(everything)
    assert all(text.endswith(" primitives are more than the 100,000 asked for.") for text in few.absent["meister2014"])
    none = jobs_of("soell2015", most_triangles=1)
    assert len(none) == 0 and len(none.absent["soell2015"]) == JOBS_OF["soell2015"]
    for text, code in (("16000000", 0), ("0", 2), ("9999999999", 2)):
        words = ["suite", "soell2015", "--store", str(tmp_path / "none"), "--dry-run", "--most-triangles", text]
        assert main(words) == code


def test_a_job_tells_the_words_that_measure_it_again(tmp_path: Path) -> None:
    models, store = models_of("chang2012", tmp_path / "models"), Store.made(tmp_path / "store")
    said = {"scenes": ("SR2",), "repeat": 3, "size": (8, 6), "most_triangles": 500_000}
    (job,) = jobs_of("chang2012", models, **said)
    words = suite_jobs.command_of_job(job, store)
    assert words[:7] == ["raygrove", "suite", "chang2012", "--scenes", "SR2", "--store", str(store.folder)]
    (same,) = SuiteJobs(("chang2012",), parse(words[1:], "1"), "s", "cpu")
    assert same.sha == job.sha and same.files == job.files
    (built_in,) = jobs_of("chang2012", scenes=("KR1",))
    assert "--data" not in suite_jobs.command_of_job(built_in, store)


def test_the_body_of_a_scene_is_part_of_its_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Bunny in a ring of spheres is a built-in scene about a model: without it the job is another one."""
    models, said = models_of("kolodzey2014", tmp_path / "models"), {"scenes": (RING,)}
    (job,), (without,) = jobs_of("kolodzey2014", models, **said), jobs_of("kolodzey2014", **said)
    assert job.files == (str(models / BODY),) and job.sha != without.sha and "model" not in without.what
    asked: list[tuple[str, str | None]] = []

    def run(suite_job: SuiteJob) -> SuiteReport:
        for choice in suite_jobs.choices_of("kolodzey2014"):
            if choice.published == RING:
                suite_job.load(choice.source)
        return report_from_json(json.loads((RESULTS / f"{SAVED[1]}.json").read_text(encoding="utf-8")))

    monkeypatch.setattr(suite_jobs, "suites", lambda: {"kolodzey2014": run})
    monkeypatch.setattr(suite_jobs, "scene_of", lambda source, folder, *_: asked.append((source.body, folder)))
    target: Any = None
    suite_jobs.report_of_job(job, target, suite_jobs.settings_of_job(job), Store.made(tmp_path / "store"))
    assert (BODY, f"{models}/") in asked and ("", None) in asked and len(asked) > 3


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[SuiteJob]]:
    """Jobs are done in this process, by a suite that measures nothing; what it was asked."""
    asked: list[SuiteJob] = []

    def run(job: SuiteJob) -> SuiteReport:
        asked.append(job)
        content = json.loads((RESULTS / f"{SAVED[0]}.json").read_text(encoding="utf-8"))
        report = report_from_json(content)
        report.rows = [row for row in report.rows if row["published_scene"] in job.scenes]
        if job.scenes == ("KR2",):
            report.rows, report.absent = [], ["KR2: out of memory"]
        if job.save_picture is not None:
            shade = 200 if job.scenes == ("FF",) else 0
            report.pictures = [Picture("1", "one", job.save_picture("one", np.full((2, 2, 4), shade, np.uint8)))]
        return report

    def in_process(names: Any, jobs: SuiteJobs, store: Store, words: Words) -> tuple[Progress, dict[str, Any]]:
        progress, runner = Progress(), Runner(store)
        for job in jobs:
            if not store.has(job.sha):
                progress.take(runner.run(job))
        return progress, {"done": progress.done}

    monkeypatch.setattr(suite_jobs, "suites", lambda: {"chang2012": run})
    monkeypatch.setattr(suite_store, "do_jobs", in_process)
    yield asked


def test_a_suite_is_done_once_and_written(
    stand_in: list[SuiteJob], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, pages = str(tmp_path / "store"), tmp_path / "pages"
    words = ["suite", "chang2012", "--store", store, "--device", "cpu", "--out", str(pages), "--scenes", "KR1,FF"]
    monkeypatch.setattr(sys, "argv", ["/usr/bin/raygrove", *words])
    assert main([*words, "--repeat", "3", "--size", "8x6"]) == 0
    printed = capsys.readouterr()
    assert "KR1" in printed.out and "SR1" not in printed.out.split("###")[3]
    assert [(job.scenes, job.repeat, job.size) for job in stand_in] == [(("KR1",), 3, (8, 6)), (("FF",), 3, (8, 6))]
    assert {"chang2012.md", "chang2012.json", "chang2012-one.png"} <= {path.name for path in pages.iterdir()}
    written = json.loads((pages / "chang2012.json").read_text(encoding="utf-8"))
    shown = [int(read_png(pages / one["file"])[0, 0, 0]) for one in written["pictures"]]
    assert shown == [0, 200], "each scene's own, though both are called the same"
    about = written["context"]
    assert about["command"] == ["raygrove", *words], "what repeats it, though workers measured"
    assert main([*words, "--repeat", "3", "--size", "8x6", "--json"]) == 0 and len(stand_in) == 2
    assert json.loads(capsys.readouterr().out) == {"done": 0, "suites": {"chang2012": str(pages / "chang2012.md")}}


@pytest.mark.parametrize("name", ["one.png", "\ud800.png"])
def test_a_picture_that_is_not_there_leaves_the_page(name: str, stand_in: list[SuiteJob], tmp_path: Path) -> None:
    """Somebody took it away, or the store of somebody else names what no file can be called."""
    pages, folder = tmp_path / "pages", tmp_path / "store"
    words = ["suite", "chang2012", "--store", str(folder), "--device", "cpu", "--out", str(pages), "--scenes"]
    assert main([*words, "KR1,FF"]) == 0
    whole = json.loads((pages / "chang2012.json").read_text(encoding="utf-8"))
    store = Store(folder)
    (sha,) = (one["sha"] for one in store.records() if one["job"]["scene"] == "KR1")
    record = store.get(sha)
    record["report"]["pictures"][0]["file"] = name
    store.put(record)
    (store.pictures_of(sha) / "one.png").unlink()
    assert main([*words, "KR1,FF"]) == 0
    found = json.loads((pages / "chang2012.json").read_text(encoding="utf-8"))
    assert found["tables"] == whole["tables"] and len(whole["pictures"]) == 2 and len(found["pictures"]) == 1
    (said,) = set(found["absent"]) - set(whole["absent"])
    assert said.startswith("KR1: ") and f".png of {sha[:12]} is not there" in said
    assert said in (pages / "chang2012.md").read_text(encoding="utf-8")


def test_a_scene_that_cannot_be_measured_is_told(
    stand_in: list[SuiteJob], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["suite", "chang2012", "--store", str(tmp_path / "store"), "--device", "cpu", "--scenes", "KR1,KR2"]
    assert main(words) == 1
    page = (tmp_path / "store" / "suites" / "chang2012.md").read_text()
    assert "KR2: it failed: KR2: out of memory" in page and main(words) == 0 and len(stand_in) == 2
    capsys.readouterr()
    assert main(["results", str(tmp_path / "store"), "--columns", "suite,scene,status", "--sort", "scene"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["chang2012", "KR1", "done"],
        ["chang2012", "KR2", "failed"],
    ]


def test_a_suite_of_which_nothing_was_measured_has_a_page_that_says_why(
    stand_in: list[SuiteJob], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages, words = tmp_path / "pages", ["suite", "chang2012", "octree2008", "--store", str(tmp_path / "store")]
    assert main([*words, "--device", "cpu", "--out", str(pages), "--scenes", "KR2,SR1"]) == 1
    said = capsys.readouterr().err
    assert f"chang2012: nothing was measured, and {pages}/chang2012.md says what each scene lacks. SR1: " in said
    assert "octree2008" not in said and {path.name for path in pages.iterdir()} == {"chang2012.md"}
    page = (pages / "chang2012.md").read_text()
    assert "Here: nothing was measured." in page and "- KR2: it failed: KR2: out of memory" in page
    assert "- SR1: " in page and "by --data" in page and "| table construction |" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name suites, or all"),
        (["meister"], "there is no suite 'meister'"),
        (["all", "nonsense"], "beside it stands nonsense: say all alone"),
        (["chang2012", "--scenes", "XX"], "has no such scene"),
        (["chang2012", "--device", "cuda:1"], "write auto, cpu or cuda"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", *words, "--store", str(tmp_path / "store")]) == 2
    assert sentence in capsys.readouterr().err and not (tmp_path / "store").exists()


def test_a_suite_without_a_store_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "chang2012", "--dry-run"]) == 2
    assert "suite chang2012: name a folder for the results" in capsys.readouterr().err
    assert main(["suite", "meister", "--dry-run"]) == 2
    assert "there is no suite 'meister'" in capsys.readouterr().err


def test_all_suites_are_jobs_of_one_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = ["suite", "chang2012", "octree2008", "chang2012", "--store", str(tmp_path / "none"), "--device", "cpu"]
    capsys.readouterr()
    assert main([*two, "--dry-run", "--json"]) == 0
    both = sum(len(jobs_of(suite)) for suite in ("chang2012", "octree2008"))
    assert json.loads(capsys.readouterr().out)["jobs"] == both > len(jobs_of("chang2012"))
    assert main([*two, "--dry-run", "--json", "--scenes", "KR2"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == 1
    assert main([*two, "--dry-run", "--scenes", "KR9"]) == 2
    assert "--scenes KR9: no such scene is in these suites; they have SR1, " in capsys.readouterr().err
    assert main(["suite", "all", "--store", str(tmp_path / "none"), "--device", "cpu", "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["to_do"] == told["jobs"] == 31 and not (tmp_path / "none").exists()
