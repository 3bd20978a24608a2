"""What a frame of each contestant is made of, below the ranking of a race: a column a contestant, a row a figure. The
steps of rays say why one traces faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QGridLayout, QWidget

from raygrove.app.settings.race_options import MOST
from raygrove.app.ui.plain_text import Label
from raygrove.gpu.analysis.race import Contestant

FIGURES: dict[str, Callable[[Contestant], float | None]] = {
    "update": lambda one: one.update_ms.median,
    "trace": lambda one: one.trace_ms.median,
    "shade": lambda one: one.shade_ms.median or None,
    "rays": lambda one: one.mrays_per_s,
    "visits": lambda one: one.mean_visits,
    "tests": lambda one: one.mean_tests,
    "sah": lambda one: one.sah_cost,
    "memory": lambda one: one.bytes / 2**20 if one.bytes else None,
}


def titles() -> dict[str, tuple[str, str]]:
    """Of each figure its name, and its tip."""
    tr = QCoreApplication.translate
    return {
        "update": (tr("Race", "Update, ms"), tr("Race", "Builds and refits, the median of the frames that count")),
        "trace": (tr("Race", "Trace, ms"), tr("Race", "Rays alone, whoever builds faster")),
        "shade": (tr("Race", "Shade, ms"), ""),
        "rays": (tr("Race", "Million rays/s"), tr("Race", "Rays through the structure, by the time of Trace")),
        "visits": (tr("Race", "Nodes per ray"), tr("Race", "Nodes that a ray visits, on average, leaves among them")),
        "tests": (tr("Race", "Primitives per ray"), tr("Race", "Primitives that a ray is tested against, on average")),
        "sah": (tr("Race", "SAH cost"), ""),
        "memory": (tr("Race", "MiB"), tr("Race", "What the structure takes")),
    }


class PartsTable(QWidget):
    """See the module. `take` shows contestants in the order of their letters; rows that none has a figure for are
    left out."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("race.parts")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        bold = QFont(self.font())
        bold.setBold(True)
        self.heads = [self._cell(grid, 0, place) for place in range(MOST)]
        for head in self.heads:
            head.setFont(bold)
        self.rows: dict[str, tuple[Label, ...]] = {}
        for line, (name, (title, tip)) in enumerate(titles().items(), 1):
            words = Label(title, self)
            words.setToolTip(tip)
            grid.addWidget(words, line, 0)
            self.rows[name] = (words, *(self._cell(grid, line, place) for place in range(MOST)))

    def _cell(self, grid: QGridLayout, line: int, place: int) -> Label:
        made = Label("", self)
        made.setAlignment(Qt.AlignmentFlag.AlignRight)
        grid.addWidget(made, line, 1 + place)
        return made

    def take(self, contestants: Sequence[Contestant]) -> None:
        """Show their figures; of none, nothing."""
        self.setVisible(bool(contestants))
        letters = [one.letter for one in contestants]
        for place, head in enumerate(self.heads):
            head.setText(letters[place] if place < len(letters) else "")
            head.setVisible(place < len(letters))
        for name, (title, *cells) in self.rows.items():
            texts = self._texts(name, contestants)
            title.setVisible(any(texts))
            for place, cell in enumerate(cells):
                cell.setText(texts[place] if place < len(texts) else "")
                cell.setVisible(place < len(texts) and any(texts))

    def _texts(self, name: str, contestants: Sequence[Contestant]) -> list[str]:
        values = [FIGURES[name](one) for one in contestants]
        return ["" if value is None else _three(value) for value in values]

    def lines(self, contestants: Sequence[Contestant]) -> list[str]:
        """The same as lines of text."""
        found = []
        for name, (title, *_) in self.rows.items():
            texts = self._texts(name, contestants)
            if any(texts):
                told = (f"{one.letter} {text or '–'}" for one, text in zip(contestants, texts, strict=True))
                found.append(f"{title.text()}: {', '.join(told)}")
        return found


def _three(value: float) -> str:
    """Three digits, so that those of a row stand below each other: 32.0, 4.12, 1,072."""
    for places, end in ((2, 9.995), (1, 99.95)):
        if abs(value) < end:
            return f"{value:.{places}f}"
    return f"{value:,.0f}"
