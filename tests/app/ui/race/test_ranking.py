"""A contestant's header and the ranking by themselves: what they say of figures."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from raygrove.app.frames.race_hits import StepDifference
from raygrove.app.settings.titles import structure_title
from raygrove.app.ui.race.header import RaceHeader
from raygrove.app.ui.race.naming import policy_title
from raygrove.app.ui.race.race import said_of as difference_said
from raygrove.app.ui.race.ranking_panel import RankingPanel
from raygrove.app.ui.widgets.elided_label import ElidedLabel
from raygrove.gpu.analysis.hit_proof import HitProof
from raygrove.gpu.analysis.intervals import Measured
from raygrove.gpu.analysis.live_race import LiveRace
from tests.gpu.analysis.race_views import view


def test_a_bar_that_leaves_the_scale_says_so(qtbot: Any) -> None:
    header = RaceHeader("A")
    qtbot.addWidget(header)
    header.resize(300, 44)
    header.show_costs({"build": 2.0, "trace": 6.0}, 10.0, "8.0 ms", "1st")
    first, second = (place for _, place in header.segments())
    assert not header.leaves_scale and second.width() > 2.5 * first.width() and second.left() >= first.right()
    header.show_costs({"build": 2.0, "trace": 60.0}, 10.0, "62 ms", "4th")
    assert header.leaves_scale and header.segments()[-1][1].right() <= 300 - 64


def test_the_policy_is_whole_in_a_narrow_header(qtbot: Any) -> None:
    """Contestants may differ in it alone. How narrow that is depends on the font, which tests before may have set."""
    header = RaceHeader("A")
    qtbot.addWidget(header)
    header.name("Linear BVH / BVH4", "every_n n=7", "lbvh@every_n:n=7", may_leave=True)
    header.show_costs({}, 1.0, "", "1st–4th")
    header.resize(600, 44)
    assert header.texts() == ("Linear BVH / BVH4", "every_n n=7")
    while "…" not in header.texts()[0]:
        header.resize(header.width() - 10, 44)
    title, policy = header.texts()
    assert policy == "every_n n=7" and title.endswith("4")


def test_figures_that_come_leave_what_is_typed(qtbot: Any) -> None:
    header = RaceHeader("A")
    qtbot.addWidget(header)
    header.show()
    header.name("Linear BVH", "rebuild", "lbvh", may_leave=True)
    header.edit()
    QTest.keyClicks(header.line, "hploc")
    header.name("Linear BVH", "rebuild", "lbvh", may_leave=True)  # as each time when figures are shown
    QTest.keyClicks(header.line, "@auto")
    with qtbot.waitSignal(header.spelt) as told:
        QTest.keyClick(header.line, Qt.Key.Key_Return)
    assert told.args == ["hploc@auto"]


def test_a_name_that_has_no_room_ends_in_dots(qtbot: Any) -> None:
    label = ElidedLabel("Linear BVH / BVH4")
    qtbot.addWidget(label)
    label.resize(label.fontMetrics().horizontalAdvance(label.text()) // 2, 20)
    assert label.shown.endswith("…") and label.text() == "Linear BVH / BVH4"
    label.resize(400, 20)
    assert label.shown == "Linear BVH / BVH4" and label.minimumSizeHint().width() == 0


def test_a_ranking_that_is_paused_stays(qtbot: Any) -> None:
    panel = RankingPanel()
    qtbot.addWidget(panel)
    live = LiveRace(["lbvh@refit", "hploc"])
    for _ in range(6):
        live.take([view(1.0, 1.0), view(1.0, 1.0)])
    panel.take(live, True)
    assert panel.reasons.text() == "A shows no difference from B."
    assert [labels[0].text() for labels in panel.rows[:2]] == ["1st–2nd"] * 2
    assert "no difference" in panel.rows[0][0].toolTip()
    panel.bar.pause.click()
    live.take([view(9.0, 1.0), view(1.0, 1.0)])
    panel.take(live, True)
    assert panel.standing[0].ms.median == 3.0
    columns, rows = panel._table()
    assert [row["configuration"] for row in rows] == ["lbvh@refit", "hploc"] and set(rows[0]) == set(columns)


def test_below_the_ranking_stands_what_frames_are_made_of(qtbot: Any) -> None:
    """Figures that nobody has are left out, and come once steps were counted; what is copied has them, too."""
    panel = RankingPanel()
    qtbot.addWidget(panel)
    live = LiveRace(["lbvh@refit", "hploc"])
    panel.take(live, True)
    assert panel.parts.isHidden()
    for _ in range(6):
        live.take([view(0.0, 4.0, refit=1.5), view(2.0, 3.0)])
    panel.take(live, True)
    rows = panel.parts.rows
    assert not panel.parts.isHidden() and [head.text() for head in panel.parts.heads] == ["A", "B", "", ""]
    assert [cell.text() for cell in rows["update"]] == ["Update, ms", "1.50", "2.00", "", ""]
    assert [cell.text() for cell in rows["trace"]][1:3] == ["4.00", "3.00"] and rows["visits"][0].isHidden()
    live.prove([HitProof(32, 6), HitProof(32, 6)], [(20.0, 4.0), (15.0, 4.0)])
    panel.take(live, True)
    assert [cell.text() for cell in rows["visits"]][1:3] == ["20.0", "15.0"] and not rows["visits"][0].isHidden()
    assert "its rays visit 25 % fewer nodes" in panel.reasons.text() or "33 % more" in panel.reasons.text()
    assert "Nodes per ray: A 20.0, B 15.0" in panel._text
    columns, table = panel._table()
    assert {row["mean_visits"] for row in table} == {20.0, 15.0} and set(table[0]) == set(columns)


def test_hits_that_differ_are_said_before_anyone_is_ranked(qtbot: Any) -> None:
    panel = RankingPanel()
    qtbot.addWidget(panel)
    live = LiveRace(["lbvh@refit", "hploc"])
    live.take([view(1.0, 1.0), view(1.0, 1.0)])
    live.prove([HitProof(100, 50), HitProof(100, 50, 2, 7)])
    panel.take(live, True)
    assert panel.standing == () and panel.hits.text() == "HITS DIFFER: B 7 of 100 rays compared, 2 ties."


def test_a_difference_is_said_in_words() -> None:
    none = np.zeros((2, 2), bool)
    for steps, said in (
        ([[0, 3], [-3, 0]], "A takes as many steps as C in all; blue: up to 3 fewer per ray, brown: more."),
        ([[2, 0], [0, 2]], "A takes 4 steps more than C; blue: up to 2 fewer per ray, brown: more."),
    ):
        assert difference_said(StepDifference(np.array(steps), none), "A", "C") == said


def test_names_are_peoples_words() -> None:
    assert structure_title("hploc+reinsertion/cwbvh") == "H-PLOC + Parallel reinsertion / CWBVH"
    assert structure_title("lbvh:morton_bits=30", "bvh4") == "Linear BVH morton_bits=30 / BVH4"
    assert policy_title("lbvh") == policy_title("lbvh@rebuild") and policy_title("lbvh@every_n:n=7").endswith("n=7")


def test_a_half_interval_is_the_longer_side_and_a_lopsided_one_has_both_ends(qtbot: Any) -> None:
    """Of times the upper side is mostly the longer one; of a rate's it is not. 1.9 less 15.2 is no time."""
    panel = RankingPanel()
    qtbot.addWidget(panel)
    live = LiveRace(["lbvh@refit", "hploc"])
    for _ in range(6):
        live.take([view(1.0, 1.0), view(1.0, 1.0)])
    first, second = live.standing()
    short = (0.128, 0.121, 0.132, "0.128 ± 0.007 ms")  # as frames on a GPU take; 0.1 ± 0.0 says nothing
    busy = ((1.9, 1.7, 17.1, "1.9 (1.7 to 17.1) ms"), (0.128, 0.028, 0.129, "0.128 (0.028 to 0.129) ms"))
    equal = (5.0, 5.0, 5.01, "5.0 ± 0.0 ms")
    for ms, low, high, said in ((5.0, 4.0, 5.5, "5.0 ± 1.0 ms"), (5.0, 4.5, 6.0, "5.0 ± 1.0 ms"), short, *busy, equal):
        other = dataclasses.replace(second, ms=Measured(ms, low, high, (ms,)))
        assert panel._texts(other, first)[3] == said
