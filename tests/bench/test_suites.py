"""Suites: the published figures as printed, rows that are either published or ours, stand-ins called so, and a small
run from end to end."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import re
from collections.abc import Callable
from typing import Any

import pytest

from raygrove.app.cli import main as cli
from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.cases import main
from raygrove.bench.measure import Stage
from raygrove.bench.ray_tables import PEERS_FILE
from raygrove.bench.suites import (
    SuiteJob,
    SuiteReport,
    meister2014,
    meister_setup,
    meister_tables,
    scene_names,
    suites,
)
from raygrove.bench.suites.crowd import HALLS, seen_within
from raygrove.bench.suites.measure import still
from raygrove.bench.suites.plots import draw
from raygrove.bench.suites.published import FOLDER, published, published_row
from raygrove.bench.suites.report import Plot, report_from_json
from raygrove.bench.suites.scenes import SceneAbsentError, SceneSource
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.registry import structure, structures
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import OutOfMemoryError, Target
from tests.bench.heard import Heard, check_in_part

CONTEXT = {"device": "a machine", "commit": "0" * 40, "date": "today"}


def test_every_suite_has_its_published_figures() -> None:
    assert "meister2014" in suites()
    for name in suites():
        held = published(name)
        assert held["hardware"] and held["source"]
        for table in held["tables"].values():
            assert all(len(row) == len(table["columns"]) for row in table["rows"].values())
    assert {path.stem for path in FOLDER.glob("*.json")} == {*suites(), PEERS_FILE}


def test_figures_are_those_printed() -> None:
    """Some by hand: the first and the last row of a table, and one in the middle."""
    assert published_row("meister2014", "7.1", "Head")["kernels_ms.8"] == 1.8
    assert published_row("meister2014", "7.1", "Power Plant")["node_count.32"] == 1182525
    assert published_row("meister2014", "7.5", "Crytek Sponza")["sah_cost.8"] == 269
    assert published_row("meister2014", "7.9", "Exploding Dragon")["diffuse_fps"] == 7
    assert published_row("meister2014", "7.9", "Head") == {}


def test_every_published_scene_has_one_of_ours() -> None:
    tables = published("meister2014")["tables"]
    assert [choice.published for choice in meister2014.STILL] == list(tables["7.1"]["rows"])
    assert [choice.published for choice in meister2014.MOVING] == list(tables["7.8"]["rows"])
    for choice in meister2014.STILL + meister2014.MOVING:
        assert choice.why
        assert choice.is_same == (choice.published == "Crytek Sponza")
        if choice.source.demo:
            assert choice.source.triangles == choice.published_triangles


def test_halls_are_seen_from_inside() -> None:
    """Framed from outside, Crytek's Sponza is a box: its rays a second would be those of a wall."""
    hall = dataclasses.replace(make_demo("room", 300), eye=None, look_at=None)
    within = seen_within(hall, "crytek-sponza")
    assert within.eye == (-110.0, 25.0, -4.0) and within.look_at == (60.0, 45.0, -4.0)
    room = make_demo("room", 300)
    assert seen_within(room, "crytek-sponza") is room, "it has a view of its own"
    why = {choice.published: choice.why for choice in meister2014.STILL}
    assert {name for name, words in why.items() if "inside" in words or "along the hall" in words} == set(HALLS) - {
        "Dabrovic Sponza"
    }


def test_a_scene_that_a_suite_does_not_have_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    for name in suites():
        assert len(scene_names(name)) > 4
    assert scene_names("meister2014") == tuple(choice.published for choice in meister2014.STILL + meister2014.MOVING)
    assert cli.main(["bench", "suite", "meister2014", "--scenes", "Head,Sphinx", "--device", "cpu"]) == 2
    said = capsys.readouterr().err
    assert "Sphinx" in said
    assert "Crytek Sponza, Conference" in said


def test_the_derived_triangle_counts_agree_with_the_memory_table() -> None:
    """52 bytes per triangle of auxiliary memory, to the precision of the print."""
    for choice in meister2014.STILL:
        printed = published_row("meister2014", "7.2", choice.published)["auxiliary_mb"] * 1e6
        assert abs(choice.published_triangles * 52 - printed) < 0.06e6 + 0.002 * printed


def test_configurations_are_those_of_structures_that_exist() -> None:
    for configuration in meister2014.CONFIGURATIONS:
        assert configuration.hierarchy in structures()
        for leaf in meister2014.LEAVES:
            assert configuration.settings(leaf).hierarchy_options.max_leaf_size == leaf


def small(source: SceneSource) -> Scene:
    """Scenes of a few hundred triangles in place of all others."""
    if source.file:
        raise SceneAbsentError(f"{source.file} is not in this test.")
    return make_demo(source.demo, 300)


@pytest.fixture(scope="module")
def report(host_target: Target) -> SuiteReport:
    kept, heard = list[int](), Heard()
    names = ("Mitsuba", "Armadillo", "Toasters")
    job = SuiteJob(
        host_target,
        small,
        keep=lambda report: kept.append(len(report.rows)),
        begin=heard.begin,
        advance=heard.advance,
        repeat=1,
        scenes=names,
        size=(32, 24),
        key_frames=3,
    )
    found = meister2014.run(job)
    assert kept == sorted(kept)
    assert kept[-1] == len(found.rows)
    heard.check()
    return found


def test_tables_are_made_of_the_first_rows(report: SuiteReport) -> None:
    check_in_part(report, meister2014.tabulate)


def test_a_small_run_measures_every_configuration(report: SuiteReport) -> None:
    still = [row for row in report.rows if row["part"] == "still"]
    assert {(row["configuration"], row["leaf"]) for row in still} == {
        (c.title, leaf) for c in meister2014.CONFIGURATIONS for leaf in (8, 16, 32)
    }
    for row in still:
        assert row["kernels_ms"] > 0.0
        assert row["sah_cost"] > 1.0
        assert min(row[f"{rays}_mrays_per_s"] for rays in ("primary", "ao", "diffuse")) > 0.0
        assert row["node_count"] % 2 == 1
    by_leaf = {row["leaf"]: row["node_count"] for row in still if row["configuration"] == meister2014.MEDIAN.title}
    assert by_leaf[8] > by_leaf[16] > by_leaf[32]


def test_the_thesis_loop_stands_beside_ours(report: SuiteReport) -> None:
    """The same trees of median splits, with a launch a level; the SAH top is another one."""
    table = next(one for one in report.tables if one.number == "7.7-loop")
    columns = dict(zip(table.columns, zip(*table.rows, strict=True), strict=True))
    rows = len(table.rows)
    assert rows == 3 * 2 and columns["form"] == ("fewer launches", "as published") * 3
    for ours, loop in zip(range(0, rows, 2), range(1, rows, 2), strict=True):
        assert columns["launches"][loop] > columns["launches"][ours] + 30
        if columns["splits"][ours] != meister2014.SAH.title:
            assert columns["cost"][loop] == columns["cost"][ours] and columns["nodes"][loop] == columns["nodes"][ours]
    curves = [row for row in report.rows if row["part"] == "curve"]
    assert len(curves) == 3
    assert all(len(row["sah_costs"]) == len(row["times"]) == 3 for row in curves)
    refitted = next(row for row in curves if row["update"] == "refit")
    rebuilt = next(
        row for row in curves if row["update"] == "rebuild" and row["configuration"] == meister2014.SAH.title
    )
    assert refitted["sah_costs"][0] == rebuilt["sah_costs"][0]


def test_secondary_rays_are_the_thesis_own(report: SuiteReport) -> None:
    """Four a hit, ambient occlusion of length 1 in the scene's units; the list of scenes says how much of a scene that
    is."""
    for _, name, options in meister2014.secondary_rays():
        assert (options.rays, options.directions) == (4, "uniform")
        assert name != "ao" or (options.radius, options.radius_unit) == (1.0, "scene")
    blob = make_demo("blob", 300)
    taken = next(scene for scene in report.scenes if scene["ours"] == "blob")
    assert taken["diagonal"] == pytest.approx(
        sum((u - v) ** 2 for u, v in zip(blob.upper, blob.lower, strict=True)) ** 0.5
    )
    assert "| diagonal here, scene units |" in report.markdown(CONTEXT)


def test_moving_scenes_are_lit_by_one_light_without_shadows(report: SuiteReport) -> None:
    assert (meister2014.LIGHT.kind, [word for word, _, _ in meister2014.ray_types()]) == (
        "directional",
        list(meister_setup.RAYS),
    )
    moving = [row for row in report.rows if row["part"] == "moving"]
    assert {row["rays"] for row in moving} == set(meister_setup.RAYS)
    assert not [phase for row in moving for phase in row["phases_ms"] if "shadow" in phase]
    assert all(row["frames_per_s"] > 0.0 for row in moving)


def test_kernels_do_not_wait_for_the_host(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their times are those of a replayed graph; overall is what a caller waits for."""
    captured: list[object] = []
    capture = host_target.capture

    def watched(body: Callable[[], None]) -> Callable[[], None]:
        captured.append(body)
        return capture(body)

    monkeypatch.setattr(host_target, "capture", watched)
    row = still(host_target, make_demo("blob", 300), meister2014.SAH.settings(8), (16, 12), 1)
    assert len(captured) == 1
    assert row["launches"] > 20
    assert row["kernels_ms"] == sum(row["phases_ms"].values()) > 0.0


def test_memory_is_what_the_tree_fills_and_what_is_reserved(report: SuiteReport) -> None:
    """Larger leaves take less. On the host rays traverse wide nodes, which are not counted: no figure instead of a
    wrong one."""
    row = {
        "layout": "bvh2",
        "inner_count": 10,
        "node_count": 21,
        "reference_count": 60,
        "triangles": 60,
        "memory_mb": 1.0,
    }
    assert meister_tables.used_mb(row) == pytest.approx((101 * 10 + 52 * 60) / 1e6)
    assert meister_tables.used_mb({**row, "layout": "bvh4"}) is None
    (blob,) = (dict(zip(table.columns, table.rows[1], strict=True)) for table in report.tables if table.number == "7.2")
    assert float(str(blob["reserved MB"])) > 0.0 and blob["MB, leaf 8"] is None


def test_used_bytes_are_those_of_the_arrays_that_a_tree_fills(host_target: Target) -> None:
    """With leaves of one triangle the tree fills all that is reserved but a few bytes."""
    with contextlib.closing(
        Stage(
            host_target, make_demo("blob", 300), ViewSettings("lbvh", layout="bvh2", hierarchy_options=leaves_of_one())
        )
    ) as stage:
        stage.hierarchy.build(stage.show(Moment()).primitives)
        tree = stage.statistics()
        row = {
            "layout": "bvh2",
            "inner_count": tree.node_count,
            "reference_count": tree.reference_count,
            "node_count": 0,
            "triangles": 0,
        }
    assert tree.leaf_count == tree.reference_count
    assert meister_tables.used_mb(row) == pytest.approx(tree.bytes / 1e6, abs=100e-6)


def leaves_of_one() -> Any:
    return structure("lbvh").Options(max_leaf_size=1)


def test_odd_published_figures_are_named() -> None:
    """Where larger leaves are far better for rays than smaller ones, against all other rows; and where two tables
    differ about the same builds."""
    misprints = " ".join(published("meister2014")["misprints"])
    for number in ("7.2", "7.4", "7.6"):
        for scene in published("meister2014")["tables"][number]["rows"]:
            row = published_row("meister2014", number, scene)
            for rays in meister_setup.RAYS:
                small, middle, large = (row[f"{rays}_mrays_per_s.{leaf}"] for leaf in meister2014.LEAVES)
                assert max(middle / small, large / middle) < 1.15 or f"{number} {scene}" in misprints
    builds, phases = (published("meister2014")["tables"][number]["rows"] for number in ("7.5", "7.7"))
    pairs = {
        scene: (published_row("meister2014", "7.5", scene), published_row("meister2014", "7.7", scene))
        for scene in builds
    }
    assert set(builds) == set(phases)
    for word, named in (
        ("overall", meister_tables.OVERALL_NOTE.partition("kernels'")[0]),
        ("kernels", meister_tables.OVERALL_NOTE.partition("kernels'")[2]),
    ):
        differing = [scene for scene, (build, phase) in pairs.items() if build[f"{word}_ms.8"] != phase[f"{word}_ms"]]
        assert differing and all(scene in named for scene in differing), word
        assert sum(scene in named for scene in pairs) == len(differing)


def test_what_is_absent_is_said(report: SuiteReport) -> None:
    assert report.absent == ["Mitsuba: static/stanford-bunny.obj is not in this test."]


@pytest.mark.parametrize(
    "error", [HierarchyError("sbvh cannot do this."), OutOfMemoryError("a tree", 2 << 20, 1 << 20)]
)
def test_a_scene_that_a_structure_cannot_take_is_said_and_the_others_are_measured(
    host_target: Target, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The second tree of Armadillo fails: nothing of that scene is in the report but the sentence."""
    calls: list[int] = []

    def failing(target: Target, scene: Scene, *others: Any) -> dict[str, Any]:
        calls.append(scene.triangle_count)
        if len(calls) == 2:
            raise error
        return still(target, scene, *others)

    monkeypatch.setattr(meister2014, "still", failing)
    job = SuiteJob(host_target, small, repeat=1, scenes=("Armadillo", "Stanford Dragon"), size=(8, 6), key_frames=2)
    found = meister2014.run(job)
    assert found.absent == [f"Armadillo: {error}"]
    assert {row["published_scene"] for row in found.rows} == {"Stanford Dragon"} and len(found.rows) == 9 + 3
    assert any(table.rows for table in found.tables)


def test_a_row_is_published_or_ours(report: SuiteReport) -> None:
    numbers = [f"7.{i}" for i in range(1, 10)]
    assert [table.number for table in report.tables] == [*numbers[:7], "7.7-loop", *numbers[7:]]
    for table in report.tables:
        assert table.rows
        for row in table.rows:
            assert len(row) == len(table.columns)
            name = str(row[0])
            assert name.endswith("(published)") != name.startswith(("stand-in for ", "Crytek Sponza (same scene"))
            if name.endswith("(published)"):
                printed = published_row("meister2014", table.number, name.removesuffix(" (published)"))
                assert [value for value in row[1:] if value is not None] == list(printed.values())


def test_the_phases_of_the_sah_builder_have_their_columns(report: SuiteReport) -> None:
    table = next(table for table in report.tables if table.number == "7.7")
    ours = dict(zip(table.columns, table.rows[1], strict=True))
    parts = [ours[f"{name} ms"] for name in ("sort", "clusters", "sah splits", "median splits", "refit", "other")]
    assert all(isinstance(part, float) and part > 0.0 for part in parts)
    assert sum(float(part or 0.0) for part in parts) == pytest.approx(float(ours["kernels ms"] or 0.0))


def test_the_report_survives_json_and_is_drawn(report: SuiteReport, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "found.json"
    path.write_text(json.dumps(report.as_json(CONTEXT)))
    again = report_from_json(json.loads(path.read_text()))
    assert again.markdown(CONTEXT) == report.markdown(CONTEXT)
    assert "stand-in for Armadillo: blob, 320 triangles" in again.markdown(CONTEXT)
    pytest.importorskip("matplotlib")
    names = [file.name for file in draw(again, tmp_path / "plot", "a small machine")]
    assert names == [
        "plot-7.4.svg",
        "plot-7.4-published.svg",
        "plot-7.5.svg",
        "plot-7.5-published.svg",
        "plot-7.6.svg",
        "plot-7.6-published.svg",
        "plot-7.8.svg",
    ]
    assert "SAH tree of the first key, refitted" in (tmp_path / "plot-7.8.svg").read_text()
    for name, is_ours in (("plot-7.4.svg", True), ("plot-7.4-published.svg", False), ("plot-7.8.svg", True)):
        assert ("a small machine" in (tmp_path / name).read_text()) == is_ours
    assert main(["plots", str(path)]) == 0
    assert (tmp_path / "found-7.4.svg").exists()


def test_long_titles_of_plots_go_on_in_a_second_line(report: SuiteReport, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("matplotlib")
    title = "SAH cost over the key frames: stand-in for Exploding Dragon: explode, 250,880 triangles"
    plot = Plot("9.9", title, "time, s", "SAH cost", {"rebuilt": ([0.0, 1.0], [2.0, 3.0])})
    (file,) = draw(dataclasses.replace(report, plots=[plot]), tmp_path / "long", "a small machine")
    shown = re.findall(r">([^<>]*(?:SAH cost over|250,880)[^<>]*)<", file.read_text())
    assert " ".join(shown) == title
    assert len(shown) == 2


def test_a_kept_report_that_is_none_is_said(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path: Any = tmp_path / "other.json"
    path.write_text("{}")
    assert main(["plots", str(path)]) == 1
    assert "other.json" in capsys.readouterr().err
