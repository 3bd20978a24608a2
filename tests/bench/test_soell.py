"""Soell's evaluation from end to end, on few spheres and grids; its spheres are what is said of them."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from raygrove.bench.suites import SuiteJob, pages, soell2015, soell_casts, soell_glsl, soell_tables
from raygrove.bench.suites.contents import contents_rows
from raygrove.bench.suites.plots import draw
from raygrove.bench.suites.published import published, published_source
from raygrove.bench.suites.report import SuiteReport
from raygrove.bench.suites.scenes import SceneChoice, demo
from raygrove.gpu.glyphs import choosing
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.kernel_use import KernelUse
from raygrove.gpu.trace.trace import Tracer
from tests.bench.heard import Heard, check_in_part

TIMES = {"impostors": 0.5, "full_screen": None}
ANSWER = {"milliseconds": TIMES, "size": [48, 32], "gl_renderer": "a chip", "problems": []}
"""What the window that draws by OpenGL says."""


@pytest.mark.parametrize("reading", soell2015.READINGS)
def test_spheres_have_their_radius_in_pixels(host_target: Target, reading: str) -> None:
    """As many pixels hit as spheres of that size cover, where few lie over one another."""
    view = soell_casts.make_view(host_target, 40, 3, (256, 256), reading)
    structure = make_structure(host_target, "brute_force")
    structure.build(view.primitives)
    hits = host_target.download(Tracer(host_target, structure.traversal()).trace(view.rays).prim_id)
    covered = np.bincount(hits[hits >= 0], minlength=40)
    whole = np.median(covered[covered > 0])
    if reading == soell2015.READINGS[0]:
        assert whole == pytest.approx(np.pi * 3.0**2, rel=0.15)
    else:
        assert covered.max() > 1.5 * whole


def test_morton_order_keeps_the_spheres_and_brings_neighbours_together(host_target: Target) -> None:
    view = soell_casts.make_view(host_target, 500, 3, (64, 64), soell2015.READINGS[0])
    ordered = soell_casts.in_morton_order(host_target, view)
    before, after = (np.column_stack([one.centres, one.radii]) for one in (view, ordered))
    np.testing.assert_array_equal(before[np.lexsort(before.T)], after[np.lexsort(after.T)])
    steps = [np.linalg.norm(np.diff(rows[:, :3], axis=0), axis=1).mean() for rows in (before, after)]
    assert steps[1] < 0.4 * steps[0]


def page_of(report: SuiteReport) -> str:
    """The page of the suite on little, and that it says what there is and what not."""
    page = report.markdown({"device": "a machine", "commit": "0" * 40, "date": "today"})
    shown = {number: here for number, _, here in contents_rows(report)}
    assert shown["figure 5.1"] == "1 picture below" and shown["figure 5.2"] == "not in this run"
    assert shown["table 3.1"] == "table 3.1 below" and shown["table 5.10"] == "table 5.10 below"
    assert shown["figure 3.2"].startswith("not drawn: ") and len(shown) == 18
    for line in (
        "| published scene | spheres | taken here | spheres here |",
        "| sorted (published) | 20.581 | - | 256 | 32x4 | 100.0 % |",
        "| boxes (stand-in) |",
        "v4* (spheres_by_spheres), 1K spheres of 3 px",
        "Published: picture not correct",
        "| 224 (published) | 76.6 % | 20.85 |",
        "| 32, tiles cut as his (stand-in) | 66.7 % |",
        "| 1K spheres of 3 px (published) | 61 | - | 4.806 | 1.904 |",
        "| 1K spheres of 3 px (stand-in) | - | 0.500 |",
        "OpenGL here: a chip.",
        "| lists by the CPU |",
        f"| 1K spheres of 3 px (stand-in) | {48 * 32 * 60:,} |",
        "| 1K spheres of 3 px | Morton | ",
    ):
        assert line in page, line
    return page


def ask_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 spheres, two variants, two grids."""
    monkeypatch.setattr(choosing, "CANDIDATES", {"host": ({"arrangement": "splat"}, *choosing.CANDIDATES["host"])})
    few = (SceneChoice("1K spheres of 3 px", 60, demo("spheres", 60), False, soell2015.WHY),)
    for name, value in {
        "SCENES": few,
        "GRIDS": (32, 64),
        "VARIANTS": {name: soell2015.VARIANTS[name] for name in ("v1", "v4")},
        "AXES": (soell2015.AXES[0], ("lists by the CPU", {"lists": "cpu"})),
        "AXES_OF": ("v4",),
        "STEPS": {name: soell2015.STEPS[name] for name in ("sorted", "boxes")},
        "OURS": soell2015.OURS[:1],
        "PICTURED": {few[0].published: "5.1"},
    }.items():
        monkeypatch.setattr(soell2015, name, value)


def test_the_whole_suite_on_little(
    host_target: Target, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    ask_little(monkeypatch)
    kept: list[int] = []
    heard = Heard()
    drawn_as: dict[str, np.ndarray] = {}

    def save_picture(name: str, pixels: np.ndarray) -> str:
        drawn_as[name] = pixels
        return f"{name}.png"

    job = SuiteJob(
        host_target,
        lambda source: pytest.fail("the suite makes its own spheres"),
        keep=lambda report: kept.append(len(report.rows)),
        begin=heard.begin,
        advance=heard.advance,
        repeat=1,
        size=(48, 32),
        save_picture=save_picture,
    )
    asked: list[dict[str, Any]] = []

    def ask(what: str, job: dict[str, Any]) -> dict[str, Any]:
        asked.append(job)
        return ANSWER

    monkeypatch.setattr(soell_glsl, "ask_window", ask)

    use = KernelUse(40, 8192, 128, 6)
    monkeypatch.setattr(type(host_target), "kernel_use", lambda *asked: use, raising=False)
    report = soell2015.run(job)
    assert [(job["spheres"], job["size"], job["pixels"]) for job in asked] == [(60, [48, 32], 96.0)]
    assert kept[-1] == len(report.rows) and not report.absent
    heard.check()
    check_in_part(report, soell_tables.tabulate)
    cast = [row for row in report.rows if row["part"] != "glsl"]
    assert all(row["total_ms"] > 0.0 and row["kernel_ms"] > 0.0 for row in cast)
    swept = {(row["variant"], row["step"]) for row in report.rows if row["part"] == "steps"}
    assert swept == {("v1", "sorted"), ("v4", "sorted"), ("v4", "boxes")}
    (picture,) = drawn_as.values()
    assert picture.shape == (32, 48, 4) and picture[:, :, :3].std() > 10.0, "60 spheres of 96 px of a picture of 1024"
    assert [one.title for one in report.pictures] == ["stand-in for 1K spheres of 3 px: spheres, 60 spheres"]
    page = page_of(report)
    assert page.count("100.0 % | 40, 8,192, 6 |") == 3, "of each step that is ours, and of none that is published"
    drawn = {plot.number: plot for plot in report.plots}
    assert drawn["5.6-published"].series["v1"][0][0] == 64.0 and "v3" not in drawn["5.6"].series
    assert drawn["5.7"].x_names == ("1K spheres of 3 px",) and set(drawn["5.7"].series) == {"v1", "v4", "splat", "auto"}
    assert pages.again({**report.as_json({})}).markdown({}).count("###") == page.count("###")
    pytest.importorskip("matplotlib")
    assert draw(report, tmp_path / "soell", "a machine")[0].read_text().startswith("<?xml")


def test_a_machine_without_a_screen_says_so(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window itself is asked; Qt draws into memory here."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    choice = SceneChoice("1K spheres of 3 px", 60, demo("spheres", 60), False, soell2015.WHY)
    (row,) = soell_glsl.glsl_rows(SuiteJob(host_target, lambda source: pytest.fail()), choice, 3, (48, 32))
    assert row["part"] == "glsl" and "offscreen has no OpenGL" in row["why"]
    report = SuiteReport("soell2015", "", published_source("soell2015"), (48, 32), 1, rows=[row])
    soell_tables.tabulate(report)
    notes = next(table.notes for table in report.tables if table.number == "5.10")
    assert f"OpenGL was not measured: {row['why']}" in notes


def test_grids_that_do_not_divide_the_picture_are_part_pictures() -> None:
    """As the thesis' integers cut it."""
    shares = {grid: round(100.0 * soell_tables.drawn_share(grid), 1) for grid in soell_tables.GRIDS}
    assert shares == {
        32: 100,
        48: 96.9,
        64: 100,
        80: 87.9,
        96: 87.9,
        128: 100,
        160: 87.9,
        192: 87.9,
        224: 76.6,
        256: 100,
    }


def test_scenes_are_those_of_the_tables() -> None:
    assert [choice.published for choice in soell2015.SCENES] == list(published("soell2015")["tables"]["counts"]["rows"])
