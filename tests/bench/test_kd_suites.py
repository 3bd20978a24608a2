"""The two evaluations of kd-trees: published figures as printed, small runs from end to end, and what is not there said
instead of guessed."""

from __future__ import annotations

import dataclasses
import itertools
import json
from types import ModuleType

import numpy as np
import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.suites import SuiteJob, SuiteReport, chang2012, kolodzey2014, kolodzey_figures, kolodzey_switches
from raygrove.bench.suites.crowd import with_body, with_runners
from raygrove.bench.suites.published import published_row
from raygrove.bench.suites.report import SuiteTable, report_from_json
from raygrove.bench.suites.scenes import SceneAbsentError, SceneSource
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target
from tests.bench.heard import Heard, check_in_part

CONTEXT = {"device": "a machine", "commit": "0" * 40, "date": "today"}


def small(source: SceneSource) -> Scene:
    """A few hundred triangles in place of any scene; no body in the place of a knot."""
    if source.body:
        raise SceneAbsentError(f"{source.body} is not in this test.")
    scene = make_demo(source.demo or "blob", 300)
    return with_runners(scene, make_demo("walker", 800), source.runners) if source.runners else scene


def job(target: Target, *scenes: str) -> SuiteJob:
    return SuiteJob(
        target,
        small,
        repeat=1,
        scenes=scenes,
        size=(32, 24),
        key_frames=2,
        save_picture=lambda name, pixels: f"{name} {pixels.shape[1]}x{pixels.shape[0]}",
    )


def run(suite: ModuleType, target: Target, *scenes: str) -> SuiteReport:
    """A suite over a few small scenes, which counts its rows right."""
    heard = Heard()
    found = suite.run(dataclasses.replace(job(target, *scenes), begin=heard.begin, advance=heard.advance))
    heard.check()
    assert isinstance(found, SuiteReport)
    return found


def test_figures_are_those_printed() -> None:
    assert published_row("kolodzey2014", "7.1", "Happy") == {
        "wu_build_ms": 645, "wu_trace_ms": 51, "build_ms": 448, "trace_ms": 20, "exact_trace_ms": 19,
    }  # fmt: skip
    assert published_row("kolodzey2014", "6.2", "hybrid reduction")["factor"] == 2.25
    assert published_row("chang2012", "construction", "SR1")["original"] == 120.9
    assert published_row("chang2012", "construction", "FF")["all.kernels"] == 30.4
    assert published_row("chang2012", "launches", "KR2") == {"original": 995, "all": 219}
    assert published_row("chang2012", "rendering", "KR3")["all.frame"] == 173.0


def test_scenes_have_the_published_counts() -> None:
    for choice in (*kolodzey2014.STILL, *kolodzey2014.MOVING, *chang2012.SCENES):
        assert choice.why
        assert choice.is_same == (choice.published == "Bunny")
        if choice.source.demo and not choice.source.runners and not choice.source.body:
            assert choice.source.triangles == choice.published_triangles
    assert [choice.published_triangles for choice in chang2012.SCENES] == [
        144_483,
        222_512,
        300_541,
        179_044,
        257_073,
        335_102,
        174_117,
    ]


def test_a_crowd_is_a_place_with_runners_that_move(host_target: Target) -> None:
    place, walker = make_demo("room", 300), make_demo("walker", 3000)
    scene = with_runners(place, walker, 2)
    floor = len(walker.meshes[0].triangles)
    assert scene.triangle_count == place.triangle_count + 2 * (walker.triangle_count - floor)
    assert scene.duration(0) == walker.duration(0)
    assert max(material for mesh in scene.meshes for material in mesh.material_ids) < len(scene.materials)
    assert max(texture for material in scene.materials for texture in material.texture_ids) < len(scene.textures)
    animator = Animator(host_target, scene)
    seen = [host_target.download(animator.at(Moment(time)).positions).reshape(-1, 3).copy() for time in (0.0, 1.0)]
    animator.close()
    moved = np.abs(seen[1] - seen[0]).max(axis=1) > 0.0
    assert 0.3 < moved.mean() < 1.0
    low, high = np.array(place.lower) - 0.1, np.array(place.upper) + 0.1
    assert all(((positions >= low) & (positions <= high)).all() for positions in seen)
    assert scene.eye == place.eye is not None
    within = with_runners(dataclasses.replace(place, eye=None, look_at=None), walker, 1)
    assert within.eye is not None and within.look_at is not None
    assert all(a < at < b for a, at, b in zip(place.lower, within.eye, place.upper, strict=True))
    assert within.look_at[0] - within.eye[0] > 2.0, "along its longer side"
    wide = dataclasses.replace(place, eye=None, look_at=None, lower=(-1.0, 0.0, -4.0), upper=(1.0, 3.0, 4.0))
    across = with_runners(wide, walker, 3)
    assert across.eye is not None and across.look_at is not None and across.look_at[2] - across.eye[2] > 4.0
    runners = [node.translation for node in across.nodes if node.name.startswith("runner ")]
    assert len(runners) == 3 and len({at[2] for at in runners}) == 3
    slopes = [(at[0] - across.eye[0]) / (at[2] - across.eye[2]) for at in runners]
    assert min(abs(a - b) for a, b in zip(slopes, slopes[1:], strict=False)) > 0.005, "none is behind another"


def test_a_body_takes_the_place_of_the_knot(host_target: Target) -> None:
    """As large as it, of its material, turned as it is; all else stays."""
    place, body = make_demo("glass", 3000), make_demo("blob", 300)
    scene = with_body(place, body)
    knot = next(index for index, mesh in enumerate(place.meshes) if mesh.name == "knot")
    assert scene.triangle_count == place.triangle_count - len(place.meshes[knot].triangles) + body.triangle_count
    own = scene.meshes[len(place.meshes) :]
    assert own and {int(one) for mesh in own for one in mesh.material_ids} == {int(place.meshes[knot].material_ids[0])}
    assert place.materials[int(place.meshes[knot].material_ids[0])].transmission == 1.0
    animator = Animator(host_target, scene)
    seen = [host_target.download(animator.at(Moment(time)).positions).reshape(-1, 3).copy() for time in (0.0, 1.0)]
    animator.close()
    count = sum(len(mesh.positions) for mesh in own)
    bodies = [positions[-count:] for positions in seen]
    sizes = [float(np.max(np.ptp(positions, axis=0))) for positions in (bodies[0], place.meshes[knot].positions)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.02) and np.abs(bodies[1] - bodies[0]).max() > 0.1, "it turns"
    with pytest.raises(ValueError, match="no object of the mesh 'knot'"):
        with_body(body, body)


@pytest.fixture(scope="module")
def kolodzey(host_target: Target) -> SuiteReport:
    with pytest.MonkeyPatch.context() as patch:
        switches = {one.row: one for one in kolodzey_switches.OPTIMISATIONS}
        absent = kolodzey_switches.Optimisation("a block a node", {"not_there": 1}, "none")
        few = (*(switches[name] for name in ("SAH shuffle reduction", "moving by gaps", "moving by masks")), absent)
        patch.setattr(kolodzey_switches, "OPTIMISATIONS", few)
        return run(kolodzey2014, host_target, "Angel", "Dabrovic Sponza", "Bunny in a ring of spheres")


def test_kolodzey_is_measured_and_what_cannot_be_switched_is_said(kolodzey: SuiteReport) -> None:
    still = {row["tree"]: row for row in kolodzey.rows if row["part"] == "still" and row["published_scene"]}
    published_leaves, usual = still["leaves below 64, short stack"], still["defaults"]
    assert published_leaves["traversal"] == "short_stack" and published_leaves["node_count"] < usual["node_count"]
    assert all(
        row[name] > 0.0
        for row in still.values()
        for name in ("build_ms", "graph_ms", "overall_ms", "kernels_ms", "trace_ms", "sah_cost")
    )
    switched = {row["without"]: row for row in kolodzey.rows if row["part"] == "switch"}
    assert switched["a block a node"]["needs"] == "needs sah_events's option not_there"
    whole = switched["with all"]
    assert sum(whole["shares_ms"].values()) == pytest.approx(whole["kernels_ms"])
    assert whole["shares_ms"]["other"] == 0.0, "a kernel without a sub-algorithm: " + ", ".join(whole["by_kernel"])
    assert min(whole["shares_ms"][name] for name in kolodzey_switches.SUB_ALGORITHMS) > 0.0, (
        "the smallest has a share too"
    )
    assert [scene["relation"] for scene in kolodzey.scenes] == [
        "stand-in",
        "ours",
        *["stand-in"] * 3,
    ] and kolodzey.scenes[1]["published"] is None
    assert kolodzey.size == (32, 24)


def test_kolodzeys_factors_stand_beside_his_own_switches(kolodzey: SuiteReport) -> None:
    """His clip mask is worth what lists with gaps take without it over what they take with it, by his other steps, not
    what our own way of moving gains over either."""
    factors = {row[0]: row[1] for row in table(kolodzey, "6.2").rows}
    switched = {row["without"]: row for row in kolodzey.rows if row["part"] == "switch"}
    assert factors["clip mask (published)"] == 1.32
    assert factors["moving by gaps (ours)"] == pytest.approx(
        switched["moving by gaps"]["kernels_ms"] / switched["moving by masks"]["kernels_ms"]
    )
    assert factors["moving by masks (ours)"] == pytest.approx(
        switched["moving by masks"]["kernels_ms"] / switched["with all"]["kernels_ms"]
    )
    assert (
        factors["SAH shuffle reduction (published)"] == 1.03
        and float(str(factors["SAH shuffle reduction (ours)"])) > 0.0
    )
    assert factors["a block a node (ours)"] == "needs sah_events's option not_there"
    for name, why in kolodzey_switches.NOT_SWITCHED.items():
        assert factors[f"{name} (here)"] is None and why in table(kolodzey, "6.2").markdown().replace("\\|", "|"), (
            "no switch, no factor"
        )
    his = switched["as the thesis"]["kernels_ms"]
    for name, row in (
        ("SAH shuffle reduction", "as the thesis, shared memory"),
        ("clip mask", "as the thesis, by gaps"),
        ("binary scan", "as the thesis, words"),
        ("hybrid reduction", "as the thesis, by segments"),
        ("all optimisations", "as the thesis, without any"),
    ):
        assert factors[f"{name} (here)"] == pytest.approx(switched[row]["kernels_ms"] / his), "his steps over his steps"
    assert float(str(factors["all optimisations (ours)"])) > 0.0 < float(str(factors["the thesis' steps (ours)"]))


def test_table_6_2_says_which_sub_algorithms_a_step_touches(kolodzey: SuiteReport) -> None:
    rows = {str(row[0]): row[4:] for row in table(kolodzey, "6.2").rows}
    assert rows["binary scan (published)"] == (None, "X", "X", None, "X")
    assert rows["hybrid reduction (published)"] == (None, "X", None, None, None)
    assert all(isinstance(cell, float) for cell in rows["hybrid reduction (here)"])
    switched = {row["without"]: row for row in kolodzey.rows if row["part"] == "switch"}
    assert switched["as the thesis"]["shares_ms"]["other"] == 0.0, "its kernels have their sub-algorithms"
    shares = [row[1:3] for row in table(kolodzey, "6.15").rows[1:]]
    assert ("the thesis'", "all but streams") in shares and ("the thesis'", "none") in shares and len(shares) == 4
    after = next(plot for plot in kolodzey.plots if plot.number == "6.16").series["after"][1]
    assert sum(after) == pytest.approx(switched["as the thesis"]["kernels_ms"]), "his steps, not ours"
    assert {"write_kinds", "scan_kinds", "list_candidates"} <= set(switched["as the thesis"]["by_kernel"])
    assert "reduce_whole" not in switched["as the thesis, by segments"]["by_kernel"]


def test_single_steps_are_figures(kolodzey: SuiteReport) -> None:
    plots = {plot.number: plot for plot in kolodzey.plots}
    assert set(plots) == {"6.15", "6.16", "6.8", "6.11", "6.12", "6.13", "6.14"}, "6.7 has no switch in this run"
    assert set(plots["6.13"].series) == {"whole", "segmented"} and len(plots["6.11"].series) == 5
    for number in ("6.8", "6.11", "6.12", "6.13"):
        assert all(min(y) > 0.0 and len(x) == len(y) > 2 for x, y in plots[number].series.values())
    assert set(plots["6.14"].series) == {"without a clip mask", "with a clip mask"}


def test_kolodzeys_scenes_are_traced_recursively_and_move_as_metal_and_glass(kolodzey: SuiteReport) -> None:
    moving = [row for row in kolodzey.rows if row["part"] == "moving"]
    assert [(row["scene"].split(": ")[1].split(",")[0], row["tree"]) for row in moving] == [
        (name, tree) for name in ("orbit", "metal", "glass") for tree in ("leaves below 64, short stack", "defaults")
    ]
    assert [row[6] for row in table(kolodzey, "7.2").rows] == ["1024x768", *["32x24"] * 6], "what was asked for is told"
    rows = {
        str(row[0]): dict(zip(kolodzey2014.BUILD_COLUMNS, row[1:], strict=True)) for row in table(kolodzey, "7.1").rows
    }
    published = rows["Angel (published)"]
    assert (published["recursive_ms"], published["exact_recursive_ms"], published["trace_ms"]) == (15, 14, None), (
        "the thesis' rays are recursive"
    )
    for name, row in rows.items():
        if name.endswith(("short stack", "defaults")):
            assert all(
                row[field] > 0.0 for field in ("recursive_ms", "exact_recursive_ms", "trace_ms", "exact_trace_ms")
            )


@pytest.fixture(scope="module")
def chang(host_target: Target) -> SuiteReport:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chang2012, "STEPS", (("original", {"not_there": 1}), *chang2012.STEPS[1:]))
        patch.setattr(
            chang2012,
            "missing",
            lambda hierarchy, options: [] if "small_nodes" in options or not options else ["needs what is not there"],
        )
        return run(chang2012, host_target, "SR2")


def test_chang_is_measured_in_total_and_kernels(chang: SuiteReport) -> None:
    assert chang2012.BUILDER in structures()
    rows = {row["step"]: row for row in chang.rows if row["part"] == "construction"}
    assert rows["ours"]["overall_ms"] > 0.0 and rows["ours"]["kernels_ms"] > 0.0
    assert rows["all"]["launches"] > rows["ours"]["launches"] > 20, (
        "the published steps by themselves, in rounds, and ours"
    )
    assert [(one.number, one.file) for one in chang.pictures] == [
        ("scenes", "scenes-sr2-sponza-dabrovic-with-2-of-walker 32x24")
    ]
    construction = table(chang, "construction").rows
    assert [row[1] for row in construction] == ["total", "total", "kernels", "kernels", "as one graph"]
    assert construction[3][8] == rows["ours"]["kernels_ms"] and construction[4][8] == rows["ours"]["graph_ms"]
    assert table(chang, "construction").columns[2:8] == (
        "original",
        "[A]",
        "[A] to [B]",
        "[A] to [C]",
        "[A] to [D]",
        "[A] to [E]",
    )
    assert construction[0][2:] == (146.2, 93.0, 89.2, 67.5, 66.4, 64.3, None, 146.2 / 64.3, None)
    assert construction[1][2] == "needs what is not there" and construction[1][-2:] == (None, None)
    assert float(str(construction[1][7])) > 0.0 and float(str(construction[1][8])) > 0.0
    launches = table(chang, "launches").rows
    assert launches[0][1:] == (1041, 229, None) and launches[1][1] == "needs what is not there"
    rendering = table(chang, "rendering").rows[1]
    assert rendering[1] == "needs what is not there" and float(str(rendering[6])) > float(str(rendering[5])) > 0.0
    assert (
        table(chang, "rendering").columns[3:5] == ("picture ms, [A] to [E]", "frame ms, [A] to [E]")
        and float(str(rendering[4])) > 0.0
    )


@pytest.mark.parametrize("suite", [kolodzey2014, chang2012])
def test_tables_are_made_of_the_first_rows(suite: ModuleType, request: pytest.FixtureRequest) -> None:
    check_in_part(request.getfixturevalue(suite.__name__.rpartition(".")[2].rstrip("0123456789")), suite.tabulate)


@pytest.mark.parametrize("name", ["kolodzey", "chang"])
def test_a_row_is_published_or_ours_and_survives_json(name: str, request: pytest.FixtureRequest) -> None:
    report: SuiteReport = request.getfixturevalue(name)
    assert report.tables and report.plots
    for one in report.tables:
        assert one.rows
        for row in one.rows:
            assert len(row) == len(one.columns)
            first = str(row[0])
            assert "(published" in first or "(here)" in first or "(ours)" in first or first.startswith("stand-in for ")
    again = report_from_json(json.loads(json.dumps(report.as_json(CONTEXT))))
    assert again.markdown(CONTEXT) == report.markdown(CONTEXT)


def table(report: SuiteReport, number: str) -> SuiteTable:
    return next(one for one in report.tables if one.number == number)


def test_made_lists_are_what_the_kernels_read(host_target: Target) -> None:
    """The reductions give the best of each segment, and the scan the sums, by numpy."""
    count, segments = 4096, 7
    words, ranges = kolodzey_figures.made_candidates(count), kolodzey_figures.made_ranges(count, segments)
    ends = [*(2 * ranges[:, 0]), count]
    assert ends[0] == 0 and all(first < last for first, last in itertools.pairwise(ends))
    expected = [words[first:last].max() for first, last in itertools.pairwise(ends)]
    unit = kolodzey_figures._unit(host_target)
    for kernel in ("reduce_whole", "reduce_segments"):
        best = host_target.zeros(segments, np.uint64, "test.best")
        given = {
            "level": kolodzey_figures._level(host_target, segments, count // 2),
            "ranges": host_target.upload(ranges, "test.ranges"),
            "candidates": host_target.upload(words, "test.candidates"),
        }
        host_target.launch(unit, kernel, 20 * 256, **given, best=best, block=256)
        assert host_target.download(best).tolist() == expected, kernel
