"""Suites on scenes and structures that were brought to them, their pictures, and where a report has what the evaluation
shows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.suites import SuiteJob, SuiteReport, meister2014, scene_count, suites, takes_own
from raygrove.bench.suites.contents import contents_rows, figures, where
from raygrove.bench.suites.measure import key_moments
from raygrove.bench.suites.published import published
from raygrove.bench.suites.report import Picture, Plot, SuiteTable, report_from_json
from raygrove.bench.suites.scenes import SceneSource, own_scene
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target
from tests.bench.heard import Heard

SIZE = (16, 12)
CONTEXT = {"device": "a machine", "commit": "0" * 40, "date": "today"}
MOVING = own_scene("mine.glb", file="mine.glb")
STRUCTURES = ("lbvh@refit", "grid")


def small(source: SceneSource) -> Scene:
    """A few hundred triangles: still ones for models, those that move for one's own."""
    return make_demo("walker" if source.is_own else "blob", 300)


@pytest.fixture(scope="module")
def pictures() -> dict[str, np.ndarray]:
    return {}


@pytest.fixture(scope="module")
def report(host_target: Target, pictures: dict[str, np.ndarray]) -> SuiteReport:
    def save(name: str, pixels: np.ndarray) -> str:
        pictures[name] = pixels
        return f"run-{name}.png"

    heard = Heard()
    job = SuiteJob(
        host_target,
        small,
        begin=heard.begin,
        advance=heard.advance,
        repeat=1,
        scenes=("Mitsuba",),
        own=(MOVING,),
        structures=STRUCTURES,
        size=SIZE,
        key_frames=2,
        save_picture=save,
    )
    assert scene_count("meister2014", job) == 2
    found = meister2014.run(job)
    heard.check()
    return found


def table(report: SuiteReport, number: str) -> list[tuple[Any, ...]]:
    return next(one.rows for one in report.tables if one.number == number)


def test_an_own_scene_stands_in_the_tables_under_its_name_alone(report: SuiteReport) -> None:
    names = [row[0] for row in table(report, "7.1")]
    assert names[0] == "Mitsuba (published)" and names[1].startswith("stand-in for Mitsuba")
    assert len(names) == 3 and names[2].startswith("mine.glb (yours), ")
    assert [row[0] for row in table(report, "7.9")] == names[2:], "it moves: rebuilt and refitted, too"
    assert [scene["relation"] for scene in report.scenes] == ["stand-in", "yours"]
    assert report.scenes[1]["published"] is None and report.scenes[1]["ours"] == "mine.glb"
    own = [plot for plot in report.plots if plot.title.endswith(names[2])]
    assert [plot.number for plot in own] == ["7.11-own-1"] and len(own[0].series) == 3


def test_structures_are_measured_on_every_scene(report: SuiteReport) -> None:
    rows = table(report, "Your structures")
    assert [row[1] for row in rows] == list(STRUCTURES) * 2
    tables = next(one for one in report.tables if one.number == "Your structures")
    still, moving = (dict(zip(tables.columns, row, strict=True)) for row in (rows[0], rows[2]))
    assert still["kernels ms"] > 0.0 and still["primary MRays/s"] > 0.0 and still["frames/s"] is None
    assert moving["frames/s"] > 0.0 and moving["SAH cost"] > 1.0
    assert rows[1][5] is None, "a grid has no SAH cost"


def test_pictures_are_drawn_and_named_for_their_figures(report: SuiteReport, pictures: dict[str, np.ndarray]) -> None:
    assert [picture.number for picture in report.pictures] == ["7.1", "6.5", "6.5", "6.5", "6.5", "7.1", "7.2"]
    assert report.pictures[1].file == "run-6.5-mitsuba-stanford-bunny-flat.png"
    assert set(pictures) == {picture.file.removeprefix("run-").removesuffix(".png") for picture in report.pictures}
    for pixels in pictures.values():
        assert pixels.shape == (*SIZE[::-1], 4) and pixels[:, :, :3].std() > 1.0, "something is seen"
    kinds = [pictures[f"6.5-mitsuba-stanford-bunny-{name}"].tobytes() for name in ("flat", "smooth", "ao", "diffuse")]
    assert len(set(kinds)) == 4


def test_the_contents_say_where_each_figure_is(report: SuiteReport) -> None:
    found = {number: here for number, _, here in contents_rows(report)}
    assert found["table 7.1"] == "table 7.1 below" and found["figure 6.5"] == "4 pictures below"
    assert found["figure 7.4"] == "plot" and found["figure 7.12"] == "not in this run"
    page = report.markdown(CONTEXT, plots="run")
    assert "| figure 6.5 | one model by ray types | 4 pictures below |" in page
    assert "](run-6.5-mitsuba-stanford-bunny-flat.png)" in page and "](run-7.4.svg)" in page
    again = report_from_json(json.loads(json.dumps(report.as_json(CONTEXT))))
    assert again.markdown(CONTEXT, plots="run") == page


@pytest.mark.parametrize("suite", [name for name in suites() if takes_own(name)])
def test_contents_name_every_published_table(suite: str) -> None:
    """And what says why there is none says that it is not built, or where to look."""
    held = published(suite)
    named = {entry[0] for entry in held["contents"]}
    assert {f"table {number}" for number in held["tables"]} <= named
    assert len(named) == len(held["contents"])
    for entry in held["contents"]:
        assert entry[0].split()[0] in ("table", "figure") and entry[1]
        assert len(entry) == 2 or entry[2].startswith(("not built: ", "see ", "not drawn: "))


def test_figures_stand_in_the_printed_order() -> None:
    plots = [Plot(number, "t", "x", "y", {}) for number in ("7.10", "7.4-published", "7.4")]
    report = SuiteReport("s", "", {}, SIZE, 1, plots=plots, pictures=[Picture("7.2", "p", "p.png")])
    heads = [text.splitlines()[0] for text in figures(report, "run")]
    assert heads == ["Figure 7.2: p", "Figure 7.4: t", "Figure 7.4 as published: t", "Figure 7.10: t"]
    assert [text.splitlines()[0] for text in figures(report, "")] == ["Figure 7.2: p"]
    report.tables.append(SuiteTable("9.1", "empty", ("a",)))
    assert where(report, "table 9.1") == "not in this run", "a table without rows is none"


def test_moving_scenes_are_measured_at_their_own_key_frames() -> None:
    orbit = make_demo("orbit", 300)
    keys = orbit.key_times(0)
    all_of_them = key_moments(orbit, 64)
    assert [moment.time for moment in all_of_them] == [float(time) for time in keys[:-1]], "the end is the beginning"
    few = [moment.time for moment in key_moments(orbit, 5)]
    assert len(few) == 5 and set(few) <= {float(time) for time in keys} and few == sorted(few)
    assert [moment.time for moment in key_moments(make_demo("blob", 300), 5)] == [0.0]


def test_only_suites_of_triangles_take_own_scenes() -> None:
    assert {name for name in suites() if takes_own(name)} == {"meister2014", "kolodzey2014", "chang2012"}
