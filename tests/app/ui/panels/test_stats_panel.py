"""The figures of frames, as rows and as text, and the panel that shows them."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QToolButton

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.frame_history import PARTS, Sample, Spread, figures_of, figures_of_one
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.rows import row_of
from raygrove.app.ui.panels import stats_rows
from raygrove.app.ui.panels.stats_panel import StatsPanel
from raygrove.app.ui.panels.stats_row import DASH, Row, four_digits, milliseconds, plain, whole_span_of
from raygrove.app.ui.panels.stats_rows import as_text, rows_of
from raygrove.app.ui.panels.stats_table import SPREAD, VALUE, merged
from raygrove.app.ui.panels.structure_rows import structure_title
from raygrove.app.ui.panels.value_cells import MARGIN, Values
from raygrove.app.ui.session.figures import Figures
from raygrove.app.user_files.published import PUBLISHED
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics, KeyStreaming
from tests.app.stand_ins import made_statistics

REQUEST = FrameRequest(Scene("a scene"), State(), Moment(), (), is_moving=True)


def frame(number: int = 7, **changes: Any) -> FinishedFrame:
    values = {
        "request": REQUEST, "frame_id": number, "drawn": (512, 384), "samples": 1, "samples_wanted": 4,
        "statistics": made_statistics(), "frame_ms": 19.5, "target_name": "host", "device_name": "a processor",
        **changes,
    }  # fmt: skip
    return FinishedFrame(**values)


def sample(number: int = 7, at: float = 0.0, **changes: Any) -> Sample:
    return Sample(frame(number, **changes), at, 0.8, 42.0, (1024, 768), "painted by Qt")


def rows(*samples: Sample) -> dict[str, Row]:
    return {row.key: row for row in rows_of(figures_of(list(samples or (sample(),))))}


def values(*samples: Sample) -> dict[str, str]:
    return {key: plain(row.value) for key, row in rows(*samples).items()}


def with_view(**changes: Any) -> FrameStatistics:
    return made_statistics(views=(dataclasses.replace(made_statistics().views[0], **changes),))


def with_structure(**changes: Any) -> FrameStatistics:
    return with_view(structure=dataclasses.replace(made_statistics().views[0].structure, **changes))


@pytest.fixture
def panel(qtbot: Any) -> StatsPanel:
    made = StatsPanel(Figures())
    qtbot.addWidget(made)
    made.resize(320, 700)
    made.show()
    return made


def show(panel: StatsPanel, *samples: Sample) -> None:
    for one in samples:
        panel.figures.take(one)
    panel.show_latest()


# -- rows -------------------------------------------------------------------------------------------------------------
def test_numbers_have_four_digits() -> None:
    shown = [
        four_digits(value) for value in (0.0, 0.0844, 4.12, 9.9996, 41.2, 99.996, 412.0, 999.96, 4120.4, 1234567.0)
    ]
    assert shown == ["0.000", "0.084", "4.120", "10.00", "41.20", "100.0", "412.0", "1,000", "4,120", "1,234,567"]
    assert milliseconds(4.12) == "4.120\u202fms" and plain(milliseconds(4.12)) == "4.120 ms" and plain(DASH) == ""


def test_five_headings_have_every_figure() -> None:
    found, made = values(), rows()
    headings = [row.name for row in made.values() if not row.parent]
    assert headings == ["Frame", "Build", "Trace", "Structure", "Memory"]
    assert found["frame"] == "20.30 ms" and found["fps"] == "42.00" and found["drawn"] == "512 x 384 (25 %)"
    assert [found[name] for name in PARTS] == [
        "0.750 ms", "2.000 ms", "", "", "12.00 ms", "3.000 ms", "0.800 ms", "1.750 ms",
    ]  # fmt: skip
    assert found["build.sort"] == "1.500 ms" and made["build.sort"].parent == "update"
    assert found["resolve"] == "0.500 ms" and made["resolve"].parent == "rate"
    assert found["rate"] == "65.50 M rays/s" and found["rays"] == "786,432" and found["triangles"] == "100,000"
    assert (found["nodes"], found["leaves"], found["depth"], found["sah"]) == ("99,999", "25,000", "21", "57.25")
    assert found["memory"] == "16.0 MiB" and found["launches"] == "19" and found["samples"] == "1 of 4"
    assert values(sample(noise=0.0123))["samples"] == "1 of 4, noise 1.2 %"
    assert all(row.parent in made for row in made.values() if row.parent)


def test_phases_and_other_add_up_to_the_frame() -> None:
    for one in (figures_of([sample(at=0.01 * number, frame_ms=18.0 + number % 5) for number in range(20)]),
                figures_of_one(sample())):  # fmt: skip
        made = {row.key: row for row in rows_of(one)}
        parts = [float(plain(made[name].value).split()[0]) for name in PARTS if made[name].value != DASH]
        assert sum(parts) == pytest.approx(float(made["frame"].value.split("\u202f")[0]), abs=0.01)
        assert sum(made[name].share or 0.0 for name in PARTS) == pytest.approx(1.0)


def test_medians_and_ranges_are_of_the_last_second() -> None:
    made = [sample(number, number / 60.0, statistics=with_view(trace_ms=10.0 + number % 3)) for number in range(60)]
    found = rows(*made)
    assert plain(found["trace"].value) == "11.00 ms" and found["trace"].spread == "10.0 to 12.0"
    assert found["other"].spread and rows(sample())["trace"].spread == "", "one frame has no range"


def test_what_did_not_happen_keeps_its_place() -> None:
    kept = sample(statistics=with_view(update="nothing", build_ms=0.0, phases_ms={"trace.primary": 12.0}))
    for found in (rows(), rows(kept)):
        assert {"build", "refit", "optimise", "each.rebuild", "each.refit", "epo", "lcv", "levels"} <= set(found)
    assert rows(kept)["build"].value == DASH and rows(kept)["update"].value == "reused"
    before = [Row("a", "A", "1"), Row("a.x", "x", "2", "a"), Row("a.y", "y", "3", "a"), Row("b", "B", "4")]
    now = [Row("a", "A", "5"), Row("b", "B", "6")]
    assert [(row.key, row.value) for row in merged(before, now)] == [
        ("a", "5"), ("a.x", DASH), ("a.y", DASH), ("b", "6"),
    ]  # fmt: skip
    assert merged([], now) == now and merged(now, before) == before


def test_how_old_the_phases_are_is_said() -> None:
    for age, said in ((0, "in this frame"), (3, "3 frames ago")):
        row = rows(sample(statistics=made_statistics(phases_age=age)))["timed"]
        assert row.value == said and "every eighth" in row.tip


def test_how_often_the_structure_was_rebuilt_is_said() -> None:
    refitted = with_view(update="refit", build_ms=0.0, refit_ms=0.5)
    made = [
        sample(number, 0.01 * number, statistics=refitted if number % 3 else made_statistics()) for number in range(9)
    ]
    found = rows(*made)
    assert (plain(found["each.rebuild"].value), found["each.rebuild"].spread) == ("2.000 ms", "3 of 9 frames")
    assert (plain(found["each.refit"].value), found["each.refit"].spread) == ("0.500 ms", "6 of 9 frames")


def test_rays_of_a_kind_are_told_apart() -> None:
    statistics = with_view(rays_by_kind={"primary": 397_736, "shadow": 375_154})
    found, rate = rows(sample(statistics=statistics))["rays.shadow"], statistics.views[0].mrays_per_s_by_kind["shadow"]
    assert found.value == f"375,154 at {four_digits(rate)} M/s" and found.parent == "rays" and "per second" in found.tip
    tiles = rows(sample(statistics=with_view(primary="splat")))["primary"]
    assert tiles.value == "splat" and "splat" not in tiles.tip  # the figure's own tip begins with it


def test_quality_has_figures_where_it_was_measured() -> None:
    assert {values()[key] for key in ("epo", "lcv", "levels")} == {""}
    judged = with_structure(end_point_overlap=0.5, leaf_variability=3.25, levels=((1, 0), (1, 1), (0, 2)))
    found = rows(sample(statistics=judged))
    assert (
        found["epo"].value == "0.500" and found["lcv"].value == "3.25" and found["levels"].value == "3, inner + leaves"
    )
    assert found["levels.1"].value == "1 + 1" and found["levels.1"].parent == "levels"


def test_a_kd_tree_has_empty_leaves_and_references() -> None:
    counts = {"leaf_count": 900, "empty_leaf_count": 200, "reference_count": 3000, "primitive_count": 1200}
    tree = with_structure(**counts)
    found = values(sample(statistics=tree))
    assert (found["empty"], found["references"], found["references.each"]) == ("200", "3,000", "2.50")
    assert row_of(3, 0.5, tree)["empty_leaf_count"] == 200 and "behind" not in found
    assert values(sample(statistics=with_structure(**counts, is_stale=True)))["behind"] == "of an earlier frame"
    assert values(sample(statistics=with_structure(**{**counts, "empty_leaf_count": 0})))["empty"] == ""


def test_a_grid_says_that_it_has_no_sah_cost() -> None:
    """Before anything is measured that is not known yet."""
    counts = {"leaf_count": 5000, "empty_leaf_count": 4000, "reference_count": 3000, "sah_cost": None}
    for depth, shown in ((None, "…"), (1, "not defined")):
        found = values(sample(statistics=with_structure(depth=depth, **counts)))
        assert found["sah"] == shown and found["references.leaf"] == "3.00"


def test_key_frames_that_stream_say_how_and_those_that_do_not_only_how_many() -> None:
    def keys(streaming: KeyStreaming) -> dict[str, str]:
        found = values(sample(statistics=made_statistics(key_frames=streaming)))
        return {key: value for key, value in found.items() if key.startswith("keys")}

    assert keys(KeyStreaming(1200, 300, 1 << 30, 5 << 20, True, 3)) == {
        "keys": "300 of 1,200", "keys.streamed": "5.0 MiB", "keys.stalls": "3",
    }  # fmt: skip
    assert keys(KeyStreaming(48, 48, 1 << 20)) == {"keys": "48 of 48"}


def test_memory_of_structure_scene_and_caches_is_told_apart() -> None:
    sizes = {"hierarchy": 12 << 20, "surface": 3 << 20, "animation": 2 << 20, "film": 8 << 20, "scratch": 4 << 20,
             "of_a_plug_in": 1 << 20}  # fmt: skip
    found = values(sample(statistics=made_statistics(bytes=sizes, idle_bytes=512 << 20)))
    owners = {key: found[f"memory.{key}"] for key in ("structure", "scene", "picture", "work", "idle")}
    assert owners == {
        "structure": "12.0 MiB", "scene": "5.0 MiB", "picture": "8.0 MiB", "work": "5.0 MiB", "idle": "512.0 MiB",
    }  # fmt: skip
    assert found["memory"] == "30.0 MiB", "what is kept for reuse is not the scene's"
    named = rows(sample(statistics=made_statistics(bytes=sizes)))
    assert named["memory.work.of_a_plug_in"].name == "of a plug in"
    assert named["memory.scene.animation"].name == "key frames, skins, morph targets"


def test_an_optimiser_is_named_and_its_steps_are_part_of_the_build() -> None:
    phases = {"build.nodes": 1.5, "build.layout": 0.5, "optimise.treelets": 4.0, "optimise.fit_boxes": 0.25}
    state = replaced(State(), "settings.render.optimiser", "treelet_restructure")
    request = dataclasses.replace(REQUEST, state=state)
    found = rows(sample(request=request, statistics=with_view(phases_ms=phases, build_ms=6.25)))
    steps = [(row.name, plain(row.value)) for row in found.values() if row.parent == "update" and "." in row.key]
    assert [step for step in steps if not step[0].startswith("Each")] == [
        ("nodes", "1.500 ms"), ("layout", "0.500 ms"), ("optimise: treelets", "4.000 ms"),
        ("optimise: fit boxes", "0.250 ms"),
    ]  # fmt: skip
    assert (plain(found["optimise"].value), plain(found["build"].value)) == ("4.250 ms", "2.000 ms")
    assert found["optimiser"].value == "Treelet restructuring"


def test_ranges_of_counts_have_room_in_their_column() -> None:
    assert whole_span_of(Spread(5.0, 5.0, 5.0)) == ""
    assert whole_span_of(Spread(786_100.0, 786_000.0, 786_432.0)) == "786,000 to 786,432"
    assert plain(whole_span_of(Spread(1_690_000.0, 1_684_590.0, 1_702_345.0))) == "1.68 to 1.70 M"


def test_structures_have_human_names() -> None:
    found = values()
    assert (found["structure"], found["layout"]) == ("Linear BVH", "4-wide (BVH4)")
    assert structure_title("hploc", "cwbvh") == "H-PLOC / CWBVH" and structure_title("grid", "cells8") == "Uniform grid"
    assert structure_title("of_a_plug_in", "x") == "Of a plug in"


def test_a_published_preset_in_force_is_named() -> None:
    assert values()["published"] == ""
    drawn = sample()
    form = PUBLISHED["published/meister2014/lbvh"]
    state = dataclasses.replace(drawn.frame.request.state, settings=form.settings)
    request = dataclasses.replace(drawn.frame.request, state=state)
    named = dataclasses.replace(drawn, frame=dataclasses.replace(drawn.frame, request=request))
    assert values(named)["published"] == "meister2014/lbvh" and form.sentence in rows(named)["published"].tip


def test_what_the_structure_cost_stays_while_it_is_kept() -> None:
    drawn, kept = made_statistics(), with_view(update="nothing", build_ms=0.0, phases_ms={})
    found = rows(sample(statistics=kept, last_update=drawn))
    assert found["update"].value == "reused" and plain(found["last_update"].value) == "rebuilt, 2.000 ms"
    steps = [(row.name, plain(row.value)) for row in found.values() if row.parent == "last_update"]
    assert steps == [("sort", "1.500 ms"), ("emit", "0.500 ms")]
    for past in (None, with_view(hierarchy="hploc", build_ms=0.3)):
        found = rows(sample(statistics=kept, last_update=past))
        assert found["last_update"].value == DASH, "what another structure cost is not told of this one"


# -- the panel --------------------------------------------------------------------------------------------------------
def test_the_panel_shows_and_copies_the_rows(panel: StatsPanel, qtbot: Any) -> None:
    show(
        panel,
        sample(frame_ms=80.0, statistics=made_statistics(animate_ms=60.0)),
        sample(8, 0.1, statistics=with_view()),
    )
    panel.figures.take(dataclasses.replace(sample(9, 0.2, statistics=made_statistics(animate_ms=60.0)), fps=12.0))
    qtbot.waitUntil(lambda: panel.table_view.topLevelItemCount() == 5)
    button = panel.findChild(QToolButton, "copy")
    assert button is not None
    button.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert any(line.split() == ["SAH", "cost", "57.25"] for line in lines)
    assert any(line.startswith("  sort") for line in lines) and not any(
        DASH in line or "\u202f" in line for line in lines
    )
    assert as_text(panel.rows) == QGuiApplication.clipboard().text()


def test_the_diagnosis_names_what_the_figures_carry(panel: StatsPanel) -> None:
    slow = dataclasses.replace(sample(statistics=made_statistics(animate_ms=60.0), frame_ms=80.0), fps=12.0)
    show(panel, slow)
    hint = panel.findChild(QLabel, "bottleneck")
    assert hint is not None and "animate takes the time (60.0 ms)" in hint.text()
    assert plain(next(row.value for row in panel.rows if row.key == "animate")) == "60.00 ms"


def test_frozen_figures_stay_and_are_written(panel: StatsPanel, tmp_path: Path) -> None:
    show(panel, sample())
    panel.bar.pause.click()
    show(panel, sample(8, 5.0, frame_ms=99.0))
    assert panel.bar.save(str(tmp_path / "s.csv"), "csv") == panel.bar.save(str(tmp_path / "s.json"), "json") == ""
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert lines[0] == "key,name,value,range" and "frame,Frame,20.30 ms," in lines and "sah,SAH cost,57.25," in lines
    found = json.loads((tmp_path / "s.json").read_text())
    assert {"key": "sah", "name": "SAH cost", "value": "57.25", "range": ""} in found
    panel.bar.pause.click()
    show(panel, sample(9, 9.0, frame_ms=99.0))
    assert plain(next(row.value for row in panel.rows if row.key == "frame")) == "99.80 ms"


def test_updates_come_at_most_ten_times_a_second(
    panel: StatsPanel, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[object] = []
    monkeypatch.setattr(panel.table_view, "show_rows", shown.append)
    start = time.monotonic()
    for number in range(60):
        panel.figures.take(sample(number, 0.005 * number))
        qtbot.wait(5)
    assert len(shown) <= 3 + 10 * (time.monotonic() - start)
    qtbot.waitUntil(lambda: bool(shown))


def test_rows_keep_their_places_until_another_choice(panel: StatsPanel) -> None:
    show(panel, sample())
    first = [row.key for row in panel.rows]
    items = dict(panel.table_view._items)
    show(panel, sample(8, 5.0, statistics=with_view(update="nothing", build_ms=0.0, phases_ms={"trace.primary": 9.0})))
    assert [row.key for row in panel.rows] == first and panel.table_view._items == items, "nothing jumps"
    assert next(row for row in panel.rows if row.key == "build.sort").value == DASH
    other = dataclasses.replace(REQUEST, state=replaced(State(), "settings.render.hierarchy", "hploc"))
    show(panel, sample(9, 9.0, request=other, statistics=with_view(phases_ms={"build.merge": 1.0})))
    assert "build.sort" not in {row.key for row in panel.rows}


def test_figures_are_right_aligned_with_digits_of_one_width(panel: StatsPanel) -> None:
    show(panel, sample())
    item = panel.table_view._items["trace"]
    for column in (VALUE, SPREAD):
        assert item.textAlignment(column) & int(Qt.AlignmentFlag.AlignRight)
    assert QFont.Tag("tnum") in panel.table_view.font().featureTags()


def test_why_an_automatic_choice_refits_is_read_in_full(panel: StatsPanel) -> None:
    label = panel.findChild(QLabel, "reason")
    assert label is not None
    reason = (
        "to measure what it costs: a rebuild costs 17.3 ms more than a refit, one more refit costs 1.25 ms of tracing"
    )
    for number, mode in enumerate(("rebuild", "auto")):
        request = dataclasses.replace(REQUEST, state=replaced(State(), "settings.update.mode", mode))
        show(panel, sample(number, number, request=request, statistics=with_view(update="refit", reason=reason)))
        assert label.isVisible() == (mode == "auto")
    assert label.text() == f"Refitted: {reason}."
    assert label.heightForWidth(label.width()) <= label.height(), "the longest reason fits"


def test_wide_values_have_the_room_of_the_range_and_the_name(panel: StatsPanel) -> None:
    panel.resize(panel.minimumWidth(), 700)
    show(panel, sample(statistics=with_view(hierarchy="hlbvh_treelets", layout="bvh2_compact")))
    tree = panel.table_view
    cells = tree.itemDelegateForColumn(VALUE)
    assert isinstance(cells, Values)
    for key in ("structure", "layout", "drawn"):
        item = tree._items[key]
        index = tree.indexFromItem(item, VALUE)
        room, name = cells.room_of(index, tree.visualRect(index)), tree.visualRect(index.siblingAtColumn(0))
        assert tree.fontMetrics().horizontalAdvance(item.text(VALUE)) + 2 * MARGIN <= room.width(), item.text(VALUE)
        assert name.left() + tree.fontMetrics().horizontalAdvance(item.text(0)) < room.left()
        assert room.right() <= tree.viewport().width() and item.toolTip(VALUE).startswith(item.text(VALUE))


def test_levels_are_closed_until_somebody_opens_them(panel: StatsPanel) -> None:
    show(panel, sample())
    show(panel, sample(8, 5.0, statistics=with_structure(levels=((1, 0), (1, 1), (0, 2)))))
    assert not panel.table_view._items["levels"].isExpanded() and panel.table_view._items["frame"].isExpanded()


def test_the_table_is_worked_by_its_own_keys(panel: StatsPanel) -> None:
    """Left, Right and Home are the timeline's elsewhere (D18 of the first visit)."""
    show(panel, sample())
    tree = panel.table_view
    tree.setCurrentItem(tree._items["trace"])
    QTest.keyClick(tree, Qt.Key.Key_Home)
    assert tree.currentItem() is tree._items["frame"]
    QTest.keyClick(tree, Qt.Key.Key_Left)
    assert not tree._items["frame"].isExpanded()
    QTest.keyClick(tree, Qt.Key.Key_Right)
    assert tree._items["frame"].isExpanded()


def test_the_sah_row_asks_for_a_comparison(panel: StatsPanel, qtbot: Any) -> None:
    show(panel, sample())
    with qtbot.waitSignal(panel.compare_wanted):
        panel.table_view.itemActivated.emit(panel.table_view._items["sah"], 0)
    panel.compare("12 % above binned SAH", "At 0.250 s ...")
    row = next(row for row in panel.rows if row.key == "compared")
    assert row.value == "12 % above binned SAH" and row.tip.startswith("At 0.250 s")
    panel.clear()
    show(panel, sample(8, 9.0))
    assert next(row for row in panel.rows if row.key == "compared").value == DASH


def test_steps_of_tracing_are_named_without_their_heading() -> None:
    assert stats_rows._step_name("trace.primary") == "primary", "the panel's column has no room for more"
    assert stats_rows._step_name("shade.shadow") == "shade: shadow", "it stands under Trace"
