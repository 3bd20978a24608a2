"""The figures of a frame, as rows and as text."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QToolButton, QTreeWidget

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.render_thread import FinishedFrame, FrameRequest
from raygrove.app.frames.rows import row_of
from raygrove.app.settings import option_tables
from raygrove.app.ui.panels.phase_chart import Chart, band_image
from raygrove.app.ui.panels.stats_panel import StatsPanel
from raygrove.app.ui.panels.stats_rows import phases_of, rows_of
from raygrove.app.ui.panels.value_cells import MARGIN, Values
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics, KeyStreaming
from tests.app.stand_ins import made_statistics


def frame(**changes: Any) -> FinishedFrame:
    request = FrameRequest(Scene("a scene"), State(), Moment(), (), is_moving=True)
    values = {
        "request": request, "frame_id": 7, "drawn": (512, 384), "samples": 1, "samples_wanted": 4,
        "statistics": made_statistics(),
        "frame_ms": 19.5, "target_name": "host", "device_name": "a processor", **changes,
    }  # fmt: skip
    return FinishedFrame(**values)


def test_rows_hold_every_figure_the_issue_asks_for() -> None:
    rows = {row.key: row for row in rows_of(frame(), 42.0, 0.8, (1024, 768), "painted by Qt")}
    values = {key: row.value for key, row in rows.items()}
    assert values["fps"] == "42.0" and values["drawn"] == "512 x 384 (25%)" and values["samples"] == "1 of 4"
    assert values["animate"] == "0.750 ms" and values["build"] == "2.000 ms" and values["trace"] == "12.0 ms"
    assert values["shade"] == "3.000 ms" and values["display"] == "0.800 ms"
    assert rows["build.sort"].parent == "build" and values["build.sort"] == "1.500 ms"
    assert rows["resolve"].parent == "shade" and values["resolve"] == "0.500 ms"
    assert values["mrays"] == "65.5" and values["triangles"] == "100,000" and values["nodes"] == "99,999"
    assert values["leaves"] == "25,000" and values["depth"] == "21" and values["sah"] == "57.25"
    assert values["memory"] == "16.0 MiB" and values["launches"] == "19" and "refit" not in values


def test_how_old_the_phases_are_is_said_and_old_ones_are_charted_once(qtbot: Any) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    for age, said in ((0, "in this frame"), (3, "3 frames ago"), (4, "4 frames ago")):
        panel.take(
            frame(frame_id=7 + age, statistics=made_statistics(phases_age=age)), 42.0, 0.8, (1024, 768), "painted by Qt"
        )
        panel.show_latest()
        row = next(row for row in panel.rows if row.key == "timed")
        assert row.value == said and "every eighth" in row.tip
    assert panel._chart.milliseconds().shape[1] == 1


def test_rays_of_a_kind_fit_a_narrow_panel() -> None:
    made = made_statistics()
    view = dataclasses.replace(made.views[0], rays_by_kind={"primary": 397_736, "shadow": 375_154})
    rows = {
        row.key: row
        for row in rows_of(
            frame(statistics=dataclasses.replace(made, views=(view,))), 42.0, 0.8, (1024, 768), "painted by Qt"
        )
    }
    found, rate = rows["rays.shadow"], view.mrays_per_s_by_kind["shadow"]
    assert found.value == f"375,154 at {rate:,.1f} M/s" and found.parent == "rays" and "a second" in found.tip


def test_quality_has_rows_where_it_was_measured() -> None:
    made = made_statistics()
    assert not {"epo", "lcv", "levels"} & {row.key for row in rows_of(frame(), 42.0, 0.8, (1024, 768), "painted by Qt")}
    tree = dataclasses.replace(
        made.views[0].structure, end_point_overlap=0.5, leaf_variability=3.25, levels=((1, 0), (1, 1), (0, 2))
    )
    judged = dataclasses.replace(made, views=(dataclasses.replace(made.views[0], structure=tree),))
    rows = {row.key: row for row in rows_of(frame(statistics=judged), 42.0, 0.8, (1024, 768), "painted by Qt")}
    assert rows["epo"].value == "0.500" and rows["lcv"].value == "3.25" and rows["levels"].value == "3, inner + leaves"
    assert rows["levels.1"].value == "1 + 1" and rows["levels.1"].parent == "levels"


def test_a_kd_tree_has_empty_leaves_and_references() -> None:
    made = made_statistics()
    tree = dataclasses.replace(
        made.views[0].structure, leaf_count=900, empty_leaf_count=200, reference_count=3000, primitive_count=1200
    )
    shown = dataclasses.replace(made, views=(dataclasses.replace(made.views[0], structure=tree),))
    rows = {row.key: row for row in rows_of(frame(statistics=shown), 42.0, 0.8, (1024, 768), "painted by Qt")}
    assert rows["empty"].value == "200" and rows["empty"].parent == "leaves" and rows["references"].value == "3,000"
    assert rows["references.each"].value == "2.50"
    assert row_of(3, 0.5, shown)["empty_leaf_count"] == 200
    assert "behind" not in rows
    behind = dataclasses.replace(
        made, views=(dataclasses.replace(made.views[0], structure=dataclasses.replace(tree, is_stale=True)),)
    )
    late = {row.key: row.value for row in rows_of(frame(statistics=behind), 42.0, 0.8, (1024, 768), "painted by Qt")}
    assert late["behind"] == "of an earlier frame"
    none_empty = dataclasses.replace(
        made, views=(dataclasses.replace(made.views[0], structure=dataclasses.replace(tree, empty_leaf_count=0)),)
    )
    assert "empty" not in {
        row.key for row in rows_of(frame(statistics=none_empty), 42.0, 0.8, (1024, 768), "painted by Qt")
    }


def test_a_grid_says_that_it_has_no_sah_cost() -> None:
    """Before anything is measured that is not known yet."""
    made = made_statistics()
    counts = {"leaf_count": 5000, "empty_leaf_count": 4000, "reference_count": 3000, "sah_cost": None}
    for depth, shown in ((None, "…"), (1, "not defined")):
        tree = dataclasses.replace(made.views[0].structure, depth=depth, **counts)
        grid = dataclasses.replace(made, views=(dataclasses.replace(made.views[0], structure=tree),))
        rows = rows_of(frame(statistics=grid), 42.0, 0.8, (1024, 768), "painted by Qt")
        values = {row.key: row.value for row in rows}
        assert values["sah"] == shown and values["references.leaf"] == "3.00"


def test_key_frames_that_stream_say_how_and_those_that_do_not_only_how_many() -> None:
    def values(streaming: KeyStreaming) -> dict[str, str]:
        statistics = dataclasses.replace(made_statistics(), key_frames=streaming)
        return {
            row.key: row.value
            for row in rows_of(frame(statistics=statistics), 42.0, 0.8, (1024, 768), "")
            if row.key.startswith("keys")
        }

    assert values(KeyStreaming(1200, 300, 1 << 30, 5 << 20, True, 3)) == {
        "keys": "300 of 1,200", "keys.streamed": "5.0 MiB", "keys.stalls": "3",
    }  # fmt: skip
    assert values(KeyStreaming(48, 48, 1 << 20)) == {"keys": "48 of 48"}


def test_memory_that_nobody_has_is_told_apart() -> None:
    def memory(statistics: FrameStatistics) -> dict[str, str]:
        return {
            row.key: row.value
            for row in rows_of(frame(statistics=statistics), 42.0, 0.8, (1024, 768), "")
            if row.key[:4] in ("memo", "idle")
        }

    assert memory(made_statistics()) == {
        "memory": "16.0 MiB",
        "memory.hierarchy": "12.0 MiB",
        "memory.scratch": "4.0 MiB",
    }
    assert memory(made_statistics(idle_bytes=512 << 20)) == memory(made_statistics()) | {"idle": "512.0 MiB"}


def test_phases_are_those_of_the_chart() -> None:
    assert phases_of(made_statistics(), 0.5) == {
        "animate": 0.75,
        "build": 2.0,
        "refit": 0.0,
        "trace": 12.0,
        "shade": 3.0,
        "display": 0.5,
    }


def test_the_panel_shows_and_copies_the_rows(qtbot: Any) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    panel.show()
    panel.take(
        frame(frame_ms=80.0, statistics=made_statistics(animate_ms=60.0)), 12.0, 0.8, (512, 384), "painted by Qt"
    )
    tree = panel.findChild(QTreeWidget, "rows")
    assert tree is not None
    qtbot.waitUntil(lambda: tree.topLevelItemCount() > 10)
    hint = panel.findChild(QLabel, "bottleneck")
    assert hint is not None and "animate takes the time" in hint.text()
    button = panel.findChild(QToolButton, "copy")
    assert button is not None
    button.click()
    from PySide6.QtGui import QGuiApplication

    lines = QGuiApplication.clipboard().text().splitlines()
    assert any(line.split() == ["SAH", "cost", "57.25"] for line in lines)
    assert any(line.startswith("  sort") for line in lines)


def test_the_chart_has_a_line_a_phase_in_a_fixed_range(qtbot: Any) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    panel.show()
    chart = panel.findChild(Chart)
    assert chart is not None

    def is_drawn() -> bool:
        panel.take(frame(), 12.0, 0.8, (512, 384), "painted by Qt")
        return len(chart.lines()["trace"]) > 3

    qtbot.waitUntil(is_drawn)
    assert chart.limit() == 20.0, "the range fits all phases together"
    assert chart.milliseconds()[:, -1].tolist() == [0.75, 2.0, 0.0, 12.0, 3.0, 0.8]
    lines = {name: line[-1] for name, line in chart.lines().items()}
    assert lines == pytest.approx(
        {"animate": 0.75, "build": 2.75, "refit": 2.75, "trace": 14.75, "shade": 17.75, "display": 18.55}
    )
    assert panel.grab().toImage().width() > 200


def test_frozen_figures_stay_and_are_written(qtbot: Any, tmp_path: Path) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    panel.show()
    panel.take(frame(), 12.0, 0.8, (512, 384), "painted by Qt")
    panel.show_latest()
    panel.bar.pause.click()
    panel.take(frame(frame_ms=99.0), 12.0, 0.8, (512, 384), "painted by Qt")
    panel.show_latest()
    assert (
        panel.bar.save(str(tmp_path / "s.csv"), "csv") == "" and panel.bar.save(str(tmp_path / "s.json"), "json") == ""
    )
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert lines[0] == "key,name,value" and "frame,Frame,19.5 ms" in lines and "sah,SAH cost,57.25" in lines
    assert {"key": "sah", "name": "SAH cost", "value": "57.25"} in json.loads((tmp_path / "s.json").read_text())
    panel.bar.pause.click()
    panel.take(frame(frame_ms=99.0), 12.0, 0.8, (512, 384), "painted by Qt")
    panel.show_latest()
    assert next(row.value for row in panel.rows if row.key == "frame") == "99.0 ms"


def test_bands_lie_on_one_another_up_to_their_edges() -> None:
    edges = np.array([[1.0, 0.0, 4.0], [3.0, 0.0, 4.0]])
    image = band_image(edges, 4.0, 8, ["#ff0000", "#0000ff"])
    colors = [
        [image.pixelColor(column, row).name() if image.pixelColor(column, row).alpha() else "" for row in range(8)]
        for column in range(3)
    ]
    assert colors == [["", "", *["#0000ff"] * 4, *["#ff0000"] * 2], [""] * 8, ["#ff0000"] * 8]
    assert band_image(np.zeros((2, 0)), 1.0, 8, ["#ff0000", "#0000ff"]).isNull()


def test_updates_come_at_most_ten_times_a_second(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    panel.show()
    shown: list[object] = []
    monkeypatch.setattr(panel, "_show_rows", shown.append)
    start = time.monotonic()
    for number in range(60):
        panel.take(frame(frame_id=number), 100.0, 0.1, (512, 384), "")
        qtbot.wait(5)
    assert len(shown) <= 2 + 10 * (time.monotonic() - start)
    qtbot.waitUntil(lambda: bool(shown))


def test_a_picture_shown_again_keeps_the_figures_of_when_it_was_drawn(qtbot: Any) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    drawn = made_statistics()
    view = dataclasses.replace(
        drawn.views[0],
        update="nothing",
        build_ms=0.0,
        rays=0,
        mrays_per_s=0.0,
        trace_ms=0.0,
        phases_ms={"resolve": 0.5},
    )
    panel.take(frame(), 12.0, 0.8, (512, 384), "painted by Qt")
    panel.take(frame(statistics=made_statistics(views=(view,)), frame_ms=0.7), 12.0, 0.8, (512, 384), "painted by Qt")
    panel.show_latest()
    values = {row.key: row.value for row in panel.rows}
    assert (values["rays"], values["mrays"], values["trace"], values["frame"]) == (
        "786,432",
        "65.5",
        "12.0 ms",
        "19.5 ms",
    )


def test_what_the_structure_cost_stays_while_it_is_kept(qtbot: Any) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    drawn = made_statistics()
    kept = made_statistics(views=(dataclasses.replace(drawn.views[0], update="nothing", build_ms=0.0),))
    panel.take(frame(statistics=kept, last_update=drawn), 12.0, 0.8, (512, 384), "painted by Qt")
    panel.show_latest()
    values = {row.key: row.value for row in panel.rows}
    assert values["update"] == "reused" and values["last_update"] == "rebuilt, 2.000 ms" and "build" not in values
    steps = [(row.name, row.value, row.parent) for row in panel.rows if row.key.startswith("last_update.")]
    assert steps == [("sort", "1.500 ms", "last_update"), ("emit", "0.500 ms", "last_update")]
    other = made_statistics(views=(dataclasses.replace(drawn.views[0], hierarchy="hploc", build_ms=0.3),))
    for past in (None, other):
        panel.take(frame(statistics=kept, last_update=past), 12.0, 0.8, (512, 384), "painted by Qt")
        panel.show_latest()
        assert "last_update" not in {row.key for row in panel.rows}, (
            "what another structure cost is not told of this one"
        )


def test_why_an_automatic_choice_refits_is_read_in_full(qtbot: Any) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    panel.resize(300, 700)
    panel.show()
    label = panel.findChild(QLabel, "reason")
    reason = (
        "to measure what it costs: a rebuild costs 17.3 ms more than a refit, one more refit costs 1.25 ms of tracing"
    )
    view = dataclasses.replace(made_statistics().views[0], update="refit", reason=reason)
    for mode in ("rebuild", "auto"):
        request = dataclasses.replace(frame().request, state=replaced(State(), "settings.update.mode", mode))
        panel.take(
            frame(request=request, statistics=made_statistics(views=(view,))), 12.0, 0.8, (512, 384), "painted by Qt"
        )
        panel.show_latest()
        assert label.isVisible() == (mode == "auto")
    assert label.text() == f"Refitted: {reason}."
    assert label.heightForWidth(label.width()) <= label.height(), "the longest reason fits"


def test_an_optimiser_is_named_and_its_steps_are_part_of_the_build() -> None:
    made = made_statistics().views[0]
    phases = {
        "build.nodes": 1.5,
        "build.layout": 0.5,
        "optimise.treelets": 4.0,
        "optimise.nodes": 0.25,
        "trace.primary": 12.0,
    }
    request = dataclasses.replace(
        frame().request, state=replaced(State(), "settings.render.optimiser", "treelet_restructure")
    )
    view = dataclasses.replace(made, phases_ms=phases, build_ms=6.25)
    rows = rows_of(
        frame(request=request, statistics=made_statistics(views=(view,))), 12.0, 0.8, (512, 384), "painted by Qt"
    )
    steps = [(row.name, row.value) for row in rows if row.parent == "build"]
    assert steps == [
        ("nodes", "1.500 ms"),
        ("layout", "0.500 ms"),
        ("optimise: treelets", "4.000 ms"),
        ("optimise: nodes", "0.250 ms"),
    ]
    shown = {row.key: row.value for row in rows}
    assert [shown[key] for key in ("structure", "structure.optimiser", "structure.layout")] == [
        "Linear BVH", "Treelet restructuring", "4-wide",
    ]  # fmt: skip


def test_no_name_of_a_structure_is_cut_where_the_panel_is_narrowest(qtbot: Any) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    panel.resize(panel.minimumWidth(), 700)
    longest = max(option_tables.builders(), key=len), max(option_tables.optimisers(), key=len)
    layouts = {name for builder in option_tables.builders() for name in option_tables.layouts(builder)}
    view = dataclasses.replace(made_statistics().views[0], hierarchy=longest[0], layout=max(layouts, key=len))
    request = dataclasses.replace(frame().request, state=replaced(State(), "settings.render.optimiser", longest[1]))
    panel.show()
    panel.take(frame(request=request, statistics=made_statistics(views=(view,))), 12.0, 0.8, (512, 384), "by Qt")
    panel.show_latest()
    tree = panel.findChild(QTreeWidget, "rows")
    assert tree is not None
    values = tree.itemDelegateForColumn(1)
    assert isinstance(values, Values)
    for key in ("structure", "structure.optimiser", "structure.layout"):
        item = panel._items[key]
        index = tree.indexFromItem(item, 1)
        room, name = values.room_of(index, tree.visualRect(index)), tree.visualRect(index.siblingAtColumn(0))
        assert tree.fontMetrics().horizontalAdvance(item.text(1)) + 2 * MARGIN <= room.width(), item.text(1)
        assert name.left() + tree.fontMetrics().horizontalAdvance(item.text(0)) < room.left()
        assert room.right() <= tree.viewport().width()
        assert item.toolTip(1).startswith(item.text(1))


def test_levels_are_closed_until_somebody_opens_them(qtbot: Any) -> None:
    panel = StatsPanel()
    qtbot.addWidget(panel)
    tree = dataclasses.replace(made_statistics().views[0].structure, levels=((1, 0), (1, 1), (0, 2)))
    measured = made_statistics(views=(dataclasses.replace(made_statistics().views[0], structure=tree),))
    for statistics in (made_statistics(), measured):
        panel.take(frame(statistics=statistics), 12.0, 0.8, (512, 384), "painted by Qt")
        panel.show_latest()
    assert not panel._items["levels"].isExpanded() and panel._items["build"].isExpanded()
