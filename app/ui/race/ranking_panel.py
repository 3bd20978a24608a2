"""The ranking of a race while it is run: medians with their intervals, ratios, the reasons in words, whether all find
the same hits, and what a frame of each is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from raygrove.app.settings.race_options import MOST
from raygrove.app.settings.titles import structure_title
from raygrove.app.ui.pipeline.faces import milliseconds
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.race.parts_table import PartsTable
from raygrove.app.ui.widgets.elided_label import ElidedLabel
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table
from raygrove.gpu.analysis.intervals import Measured
from raygrove.gpu.analysis.live_race import LiveRace
from raygrove.gpu.analysis.race import LETTERS, Contestant, told_once
from raygrove.gpu.brief import filled
from raygrove.gpu.ray_sources import PICTURE

SHORT_MS = 0.995
"""Below this a frame's milliseconds have three decimals."""
LOPSIDED = 2.0
"""An interval that reaches so many times farther to one side than to the other is no median with a half beside it."""

COLUMNS = ("rank", "last_rank", "letter", "configuration", "ms", "low_ms", "high_ms", "ratio", "update_ms", "trace_ms",
           "shade_ms", "mrays_per_s", "mean_visits", "mean_tests", "sah_cost", "depth", "bytes")  # fmt: skip


class RankingPanel(QWidget):
    """See the module. `show_wanted`: whether rays that found something else are to be marked."""

    show_wanted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel.ranking")
        self._standing: tuple[Contestant, ...] = ()
        self._text, self.rays = "", PICTURE
        self.heading = Label("", self)
        self.heading.setWordWrap(True)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(2, 1)
        bold = QFont(self.font())
        bold.setBold(True)
        self.rows: list[tuple[Label, ...]] = []
        for place in range(MOST):
            labels = tuple(ElidedLabel("", self) if column == 2 else Label("", self) for column in range(5))
            for column, label in enumerate(labels):
                label.setAlignment(Qt.AlignmentFlag.AlignRight if column > 2 else Qt.AlignmentFlag.AlignLeft)
                grid.addWidget(label, place, column)
            for label in labels[:2]:
                label.setFont(bold)
            self.rows.append(labels)
        self.reasons, self.hits = Label("", self), Label("", self)
        self.reasons.setObjectName("reasons")
        self.hits.setObjectName("hits")
        for label in (self.reasons, self.hits):
            label.setWordWrap(True)
        self.show_hits = QPushButton(self.tr("Show"), self)
        self.show_hits.setObjectName("show")
        self.show_hits.setCheckable(True)
        self.show_hits.setEnabled(False)
        self.show_hits.setToolTip(self.tr("Pause, and outline the rays that found something else"))
        self.show_hits.toggled.connect(self.show_wanted)
        line = QHBoxLayout()
        line.addWidget(self.hits, 1)
        line.addWidget(self.show_hits)
        self.parts = PartsTable(self)
        self.parts.hide()
        self.bar = PanelBar("race", self._table, lambda: self._text)
        stack = QVBoxLayout(self)
        stack.setContentsMargins(6, 6, 6, 6)
        stack.setSpacing(8)
        stack.addWidget(self.heading)
        stack.addLayout(grid)
        stack.addWidget(self.reasons)
        stack.addLayout(line)
        stack.addWidget(self.parts)
        stack.addStretch(1)
        stack.addWidget(self.bar)

    @property
    def standing(self) -> tuple[Contestant, ...]:
        """What is shown, in the order of the race."""
        return self._standing

    def take(self, race: LiveRace, is_moving: bool) -> None:
        """Show how a race stands."""
        if self.bar.is_frozen:
            return
        self._standing = race.standing()
        self.heading.setText(self._said_of_frames(race, is_moving))
        ranked = sorted(self._standing, key=lambda one: (one.rank, one.ms.median))
        for line, labels in enumerate(self.rows):
            texts = self._texts(ranked[line], ranked[0]) if line < len(ranked) else ("",) * 5
            for label, text in zip(labels, texts, strict=True):
                label.setText(text)
                label.setVisible(bool(text))
            labels[2].setToolTip(ranked[line].configuration if line < len(ranked) else "")
            is_shared = line < len(ranked) and ranked[line].rank < ranked[line].last_rank
            labels[0].setToolTip(self.tr("Between these no difference is shown.") if is_shared else "")
        sentences = [f"{reason}." for reason in told_once(ranked) if reason]
        sentences += [f"{one.letter}: {one.note}" for one in ranked if one.note]
        self.reasons.setText("\n".join(sentences))
        said = self._said_of_hits(race)
        self.hits.setText(said)
        differ = self.rays == PICTURE and any(one.mismatches for one in race.proofs)
        self.show_hits.setEnabled(self.show_hits.isChecked() or differ)
        lines = ["  ".join(self._texts(one, ranked[0])) for one in ranked]
        self.parts.take(self._standing)
        told = self.parts.lines(self._standing)
        self._text = "\n".join([self.heading.text(), *lines, self.reasons.text(), said, *told])

    def _texts(self, one: Contestant, best: Contestant) -> tuple[str, ...]:
        """Rank, letter, name, median with its interval, and ratio to the first."""
        name = structure_title(one.configuration, one.layout)
        ratio = "" if one is best else f"{one.ms.median / max(best.ms.median, 1e-9):.2f} x"
        return one.place, one.letter, name, self._with_interval(one.ms), ratio or "1.00 x"

    def _with_interval(self, ms: Measured) -> str:
        """The median and half of its interval, or where that lies where its sides are far from each other."""
        digits = 3 if ms.median < SHORT_MS else 1
        median, low, high = (f"{one:.{digits}f}" for one in (ms.median, ms.low, ms.high))
        shorter, longer = sorted((ms.high - ms.median, ms.median - ms.low))
        if longer > LOPSIDED * shorter and low != high:
            return self.tr("{median} ({low} to {high}) ms").format(median=median, low=low, high=high)
        return f"{median} ± {longer:.{digits}f} ms"

    def _said_of_frames(self, race: LiveRace, is_moving: bool) -> str:
        if not self._standing:
            return self.tr("Measuring: an interval takes more frames.")
        width, height = race.size
        text = self.tr("Build, trace and shade, medians of the last {count} frames at {width} x {height}.")
        words = filled(text, count=race.count, width=width, height=height)
        if self.rays != PICTURE:
            text = self.tr("Build and trace, medians of the last {count} frames, {rays:,} rays of {measured}.")
            words = filled(text, count=race.count, rays=race.newest[0].rays, measured=self.rays)
        return words if is_moving else f"{words} {self.tr('The clip stands.')}"

    def _said_of_hits(self, race: LiveRace) -> str:
        rays, ties = sum(one.rays for one in race.proofs[1:]), sum(one.ties for one in race.proofs)
        wrong = {letter: proof.mismatches for letter, proof in zip(LETTERS, race.proofs, strict=False)}
        if not rays:
            return self.tr("Hits are not compared yet.")
        tied = filled(self.tr("{ties:,} ties"), ties=ties)
        if not any(wrong.values()):
            return filled(self.tr("Hits: equal, {rays:,} rays compared, {tied}."), rays=rays, tied=tied)
        who = ", ".join(f"{letter} {count:,}" for letter, count in wrong.items() if count)
        return filled(self.tr("HITS DIFFER: {who} of {rays:,} rays compared, {tied}."), who=who, rays=rays, tied=tied)

    def _table(self) -> Table:
        rows: list[dict[str, Any]] = []
        ranked: Sequence[Contestant] = sorted(self._standing, key=lambda one: (one.rank, one.ms.median))
        for one in ranked:
            values = (one.rank, one.last_rank, one.letter, one.configuration, one.ms.median, one.ms.low, one.ms.high,
                      one.ms.median / max(ranked[0].ms.median, 1e-9), one.update_ms.median, one.trace_ms.median,
                      one.shade_ms.median, *(getattr(one, name) for name in COLUMNS[11:]))  # fmt: skip
            rows.append(dict(zip(COLUMNS, values, strict=True)))
        return COLUMNS, rows


def figure(race: LiveRace, place: int) -> str:
    """What a contestant costs, for its header."""
    parts = race.parts(place)
    return milliseconds(sum(parts.values())) if parts else ""
