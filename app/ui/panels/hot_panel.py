"""Hot spots: where rays spend their steps, as a table by node, depth, object, material or triangle, and what that means
as cards above it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from raygrove.app.settings.hot_options import FRAMES, HotOptions
from raygrove.app.settings.titles import structure_title
from raygrove.app.ui.panels.finding_card import FindingCard
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table
from raygrove.app.ui.widgets.rays_choice import RaysChoice, SensorPlaces
from raygrove.app.ui.widgets.text_table import TextTable
from raygrove.gpu.analysis.hot_words import BY, GIVEN, KINDS, RAYS
from raygrove.gpu.brief import filled, percent

if TYPE_CHECKING:
    from raygrove.app.frames.hot_clips import CountedClip
    from raygrove.gpu.analysis.hot_findings import HotFinding
    from raygrove.gpu.analysis.hot_lists import HotList
    from raygrove.gpu.analysis.hot_spots import HotSpots, Spot

MOST_ROWS = 200
SOME = {"some": 24, "all": 0}
"""So many frames of the clip are counted (0: each)."""
COLUMNS = ("name", "share", "visits", "missed", "depth", "box_tests", "tests", "hits")
IN_TREE = ("node", "triangle")
"""Lines that the panel Tree has a place for."""


def shown(value: Any, column: str) -> str:
    """A cell's text."""
    if value is None:
        return ""
    return percent(value, 1) if column in ("share", "missed") else f"{value:,}" if column != "name" else str(value)


class HotPanel(QWidget):
    """See the module. `wanted` carries the rays and the kind that are to be counted, `clip_wanted` also of how many
    frames (0: of each), `frame_wanted` the seconds of one to go to, `chosen` the line that is selected
    (None: none), `tree_wanted` that it is to be seen in the tree, `shown` and `tried` a finding, whose
    cards `findings_shown` tells of;
    `live_wanted` whether picture after picture is to be counted, `asked_anew` that other rays or lines are,
    `option_chosen` the name of a setting and its value, `seen` whether the panel is."""

    wanted = Signal(str, str)
    clip_wanted, frame_wanted = Signal(str, str, int), Signal(float)
    chosen, shown, tried, findings_shown = Signal(object), Signal(object), Signal(object), Signal()
    option_chosen = Signal(str, str)
    live_wanted, asked_anew, seen, tree_wanted = Signal(bool), Signal(), Signal(bool), Signal(object)

    def __init__(self, places: Callable[[], SensorPlaces] = SensorPlaces, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("hot_spots")
        self.measured = RaysChoice(places, self, is_narrow=True)
        self.found: HotSpots | None = None
        self.clip: CountedClip | None = None
        self._counted: dict[str, tuple[object, str]] = {}  # by structure: whose rays, and what was said
        self.cards: list[FindingCard] = []
        self.is_old = False  # whether the cards are of an earlier picture
        self.rays = self._combo("rays", RAYS, self.tr("Rays that are counted"))
        self.kind = self._combo("kind", KINDS, self.tr("Rays that look for their closest hit, for any, or both"))
        self.by = self._combo("by", BY, self.tr("What the lines are"))
        self.frames = self._combo("frames", FRAMES, self.tr("What is counted"))
        names = (self.tr("The picture"), self.tr("24 frames of the clip"), self.tr("All frames of the clip"))
        for place, title in enumerate(names):
            self.frames.setItemText(place, title)
        self.dearest = QPushButton(self)
        self.dearest.setObjectName("dearest")
        self.dearest.setToolTip(self.tr("Go to the frame whose rays cost most"))
        self.dearest.clicked.connect(self._go_to_dearest)
        self.count = QPushButton(self.tr("Count"), self)
        self.count.setToolTip(self.tr("Count what the rays of the picture do, once: no later frame pays for it"))
        self.count.clicked.connect(self.ask)
        self.live = QCheckBox(self.tr("Live"), self)
        self.live.setToolTip(
            self.tr("Count picture after picture while this panel is seen, in a share of the time (hot_spots.share)")
        )
        self.live.clicked.connect(self.live_wanted)
        self.live_list: HotList | None = None
        self.by.currentIndexChanged.connect(lambda: self._list())
        for combo in (self.rays, self.kind, self.by):
            combo.currentIndexChanged.connect(lambda: self.asked_anew.emit())
        for combo in self._choices:
            combo.currentIndexChanged.connect(
                lambda _, box=combo: self.option_chosen.emit(box.objectName(), box.currentData())
            )
        self.hint = Label(self)
        self.hint.setWordWrap(True)
        self.spots: tuple[Spot, ...] = ()
        titles = (
            (self.tr("Where"), ""),
            (self.tr("Share"), self.tr("Of all cost: a node entered and a primitive tested, as SAH counts them")),
            (self.tr("Visits"), self.tr("Rays that entered it, as often as they did")),
            (self.tr("Missed"), self.tr("Visits by rays that did not find there what they hit")),
            (self.tr("Depth"), ""),
            (self.tr("Boxes"), self.tr("Boxes tested there")),
            (self.tr("Tests"), self.tr("Primitives tested there")),
            (self.tr("Hits"), self.tr("Primitives hit there, before where the ray ended by then")),
        )
        self.lines = TextTable(self.tr("Hot spots"), titles, self)
        self.lines.row_chosen.connect(self._choose)
        self.in_tree = QPushButton(self.tr("Show in tree"), self)
        self.in_tree.setToolTip(self.tr("Go to this node, or to the leaf of this triangle, in the panel Tree"))
        self.in_tree.clicked.connect(lambda: self.tree_wanted.emit(self.spots[self.lines.currentIndex().row()]))
        self.bar = PanelBar("hot_spots", self.table, self.text, self)
        self.bar.pause.hide()  # nothing comes unasked
        self._lay_out()
        self.clear()

    @property
    def _choices(self) -> tuple[QComboBox, ...]:
        return self.rays, self.kind, self.by, self.frames

    def show_options(self, options: HotOptions) -> None:
        """Show what is chosen to be counted."""
        for combo in self._choices:
            combo.setCurrentIndex(combo.findData(getattr(options, combo.objectName())))

    @property
    def listed(self) -> str:
        """What the lines are."""
        return BY[self.by.currentIndex()]

    def show_measured(self, text: str) -> None:
        """Show which rays are measured; those of the picture can be told apart."""
        self.measured.show_text(text)
        self.rays.setEnabled(self.measured.is_of_picture)

    @property
    def asked(self) -> tuple[str, str]:
        """The rays that are chosen, and what they look for."""
        return RAYS[self.rays.currentIndex()], KINDS[self.kind.currentIndex()]

    def ask(self) -> None:
        """Count the rays that are chosen."""
        self.count.setEnabled(False)
        self.hint.setText(self.tr("Counting …"))
        name = FRAMES[self.frames.currentIndex()]
        if name not in SOME:
            self.wanted.emit(*self.asked)
        else:
            self.clip_wanted.emit(*self.asked, SOME[name])

    def show_live(self, is_live: bool) -> None:
        """Whether picture after picture is counted; then there is nothing else to ask for."""
        self.live.setChecked(is_live)
        for widget in (self.count, self.frames):
            widget.setEnabled(not is_live)
        self.hint.setMinimumHeight(0)
        if self.live_list is not None:
            if not is_live:
                self.hint.setText(self.tr("Of the last picture that was counted."))
        elif is_live:
            self.hint.setText(self.tr("Counting …"))

    def take_live(self, found: HotList | str | None, said: str) -> None:
        """What a picture's rays did, or why they were not counted; `said` is what that costs."""
        if found is None or isinstance(found, str):
            self._forget()
            self.hint.setText(found or self.tr("There is no picture by rays yet."))
            return
        if self.live_list is None:
            self._forget()
            self.chosen.emit(None)
        before, self.live_list = self.live_list, found
        text = self.tr("{structure}: {rays:,} rays, {visits:,} visits, {tests:,} primitives tested.")
        figures = {"rays": found.ray_count, "visits": found.visits, "tests": found.tests}
        self.hint.setText(f"{filled(text, structure=structure_title(found.configuration), **figures)}\n{said}")
        self.hint.setMinimumHeight(max(self.hint.minimumHeight(), self.hint.heightForWidth(self.hint.width())))
        chosen = self.lines.selectionModel().selectedRows()
        number = self.spots[chosen[0].row()].number if chosen and before is not None and before.by == found.by else None
        place = next((row for row, spot in enumerate(found.spots) if spot.number == number), None)
        self.spots = found.spots
        self.lines.show_newer(self._cells(), place)
        self.in_tree.setEnabled(place is not None and self.listed in IN_TREE)

    def take(self, found: HotSpots | str | None, of: object = None) -> None:
        """What was counted, or why nothing was. `of` says whose rays they are: what the same ones did in the structure
        that they were counted in before is told, too."""
        self.count.setEnabled(not self.live.isChecked())
        if found is None or isinstance(found, str):
            self.clear(found or self.tr("There is no picture by rays yet."))
            return
        self._forget()
        self.found = found
        visits, tests, rays = int(found.visits.sum()), int(found.tests.sum()), found.counts.rays
        text = self.tr("{structure}: {rays:,} rays, {visits:,} visits, {tests:,} primitives tested, {each} per ray.")
        each = f"{visits / max(rays, 1):.1f} + {tests / max(rays, 1):.2f}"
        figures = {"rays": rays, "visits": visits, "tests": tests, "each": each}
        said = filled(text, structure=structure_title(found.configuration), **figures)
        self.hint.setText(said + self._beside_before((of, found.rays, found.kind), said, found))
        from raygrove.gpu.analysis.hot_findings import HotFinding  # what has counted has imported it

        self._show_cards([one for one in found.findings if isinstance(one, HotFinding)])
        self._list()

    def _beside_before(self, key: object, said: str, found: HotSpots) -> str:
        kept = {name: (of, text) for name, (of, text) in self._counted.items() if of == key}
        others = [text for name, (_, text) in kept.items() if name != found.configuration]
        self._counted = {**{name: kept[name] for name in kept if name != found.configuration},
                         found.configuration: (key, said)}  # fmt: skip
        return "".join(self.tr("\nBefore: {said}").format(said=text) for text in others[-1:])

    def take_clip(self, found: CountedClip) -> None:
        """What was counted of several frames together."""
        self.clear()
        self.clip, frames = found, found.frames.frames
        place, most, mean = found.frames.dearest
        text = self.tr(
            "{structure}: {frames:,} frames, {visits:,} visits, {tests:,} primitives tested. Frame {number} costs "
            "most: {most:.1f} per ray, the mean is {mean:.1f}."
        )
        visits, tests = (sum(getattr(one, of) for one in frames) for of in ("visits", "tests"))
        number = frames[place].frame
        self.hint.setText(
            filled(text, structure=structure_title(found.configuration), frames=len(frames), visits=visits, tests=tests,
                   number=number, most=most, mean=mean)
        )  # fmt: skip
        self.dearest.setText(self.tr("Go to frame {number}").format(number=number))
        self.dearest.show()
        if self.listed not in found.spots:  # nodes are others after each build; what a person chose stays the setting
            with QSignalBlocker(self.by):
                self.by.setCurrentIndex(BY.index("depth"))
        self._list()

    def end_clip(self) -> None:
        """The frames are counted, or are not: it was cancelled, or failed."""
        if not self.count.isEnabled() and self.clip is None and self.found is None:
            self.clear(self.tr("The clip was not counted."))
        self.count.setEnabled(not self.live.isChecked())

    def _go_to_dearest(self) -> None:
        if self.clip is not None:
            self.frame_wanted.emit(self.clip.times[self.clip.frames.dearest[0]])

    def take_gain(self, before: HotFinding, after: HotFinding | str | None) -> None:
        """What a remedy gains, why it could not be built, or the same finding where it was ended before."""
        card = next((one for one in self.cards if one.finding is before), None)
        if card is None:
            return
        if after is not None and not isinstance(after, str):
            card.take(after)
        else:
            card.fail(after or self.tr("There is no picture by rays any more."))

    def clear(self, sentence: str = "") -> None:
        """Nothing is counted, and why."""
        self._forget()
        self.count.setEnabled(not self.live.isChecked())
        asked = self.tr("Press Count to see where the rays of the picture spend their steps.")
        self.hint.setText(sentence or (self.tr("Counting …") if self.live.isChecked() else asked))
        self.chosen.emit(None)

    def _forget(self) -> None:
        self.found = self.clip = self.live_list = None
        self.dearest.hide()
        self._show_cards([])
        self._show(())

    def mark_old(self, *, is_playing: bool = False) -> None:
        """The picture is another by now. While the clip plays, the figures that are live are always of an earlier one,
        and stay to be read."""
        if self.found is not None:
            self.is_old = True
            self.hint.setText(self.tr("Of an earlier picture. Count anew."))
            self.lines.clearSelection()
            self.in_tree.setEnabled(False)
            for card in self.cards:
                card.show_it.setEnabled(False)
        elif self.live_list is not None and self.live.isChecked() and not is_playing:
            self.hint.setText(self.tr("Of an earlier picture; the next one is counted soon."))

    def mark_nodes(self, rows: frozenset[int]) -> None:
        """Show in bold which nodes the ray of a pixel entered."""
        places = (place for place, spot in enumerate(self.spots) if spot.number in rows and self.listed == "node")
        self.lines.rows.mark(frozenset(places))

    def select_node(self, row: int) -> None:
        """Select the line of a node, where it is listed."""
        for place, spot in enumerate(self.spots):
            if self.listed == "node" and spot.number == row:
                self.lines.selectRow(place)

    def table(self) -> Table:
        """What is listed."""
        return COLUMNS, [{name: getattr(spot, name) for name in COLUMNS} for spot in self.spots]

    def text(self) -> str:
        """Findings and lines as text."""
        lines = [
            self.hint.text(),
            *(f"{card.sentence.text()} {card.help.text()}" for card in self.cards if card.finding.is_told),
        ]
        return "\n".join(
            [*lines, *("\t".join(shown(getattr(spot, name), name) for name in COLUMNS) for spot in self.spots)]
        )

    def _list(self) -> None:
        if self.found is not None:
            self._show(self.found.top(MOST_ROWS, self.listed))
            self.chosen.emit(None)
        elif self.clip is not None:
            of = self.clip.spots.get(self.listed)
            self._show(of.top(MOST_ROWS) if of is not None else ())

    def _choose(self, row: int) -> None:
        self.in_tree.setEnabled(self.listed in IN_TREE)
        self.chosen.emit(self.spots[row])

    def _show(self, spots: tuple[Spot, ...]) -> None:
        self.spots = spots
        self.in_tree.setEnabled(False)
        self.lines.show_rows(self._cells())

    def _cells(self) -> list[list[str]]:
        return [[shown(getattr(spot, name), name) for name in COLUMNS] for spot in self.spots]

    def showEvent(self, event: QShowEvent) -> None:
        """What is counted live goes on."""
        super().showEvent(event)
        self.seen.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """And ends."""
        super().hideEvent(event)
        self.seen.emit(False)

    def _show_cards(self, findings: list[HotFinding]) -> None:
        self.is_old = False
        for card in self.cards:
            card.hide()
            card.deleteLater()
        self.cards = [FindingCard(one, self) for one in findings]
        for card in self.cards:
            card.shown.connect(self.shown)
            card.tried.connect(self.tried)
            self._card_column.addWidget(card)
            if self.found is not None and self.found.rays == GIVEN:
                card.show_it.hide()  # they belong to no pixel
        if self.cards:
            self.findings_shown.emit()

    def _combo(self, name: str, words: tuple[str, ...], tip: str) -> QComboBox:
        combo = QComboBox(self)
        combo.setObjectName(name)
        combo.setAccessibleName(tip)
        combo.setToolTip(tip)
        for word in words:
            combo.addItem(self.tr("Both kinds") if word == "both" else self.tr(word.capitalize()), word)
        return combo

    def _lay_out(self) -> None:
        first = QHBoxLayout()
        for widget in (self.rays, self.kind, self.by):
            first.addWidget(widget)
        second = QHBoxLayout()
        second.addWidget(self.frames)
        second.addWidget(self.count)
        second.addWidget(self.live)
        second.addWidget(self.dearest)
        second.addStretch(1)
        self._card_column = QVBoxLayout()
        self._card_column.setSpacing(3)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 4, 6, 4)
        column.setSpacing(4)
        column.addWidget(self.measured)
        column.addLayout(first)
        column.addLayout(second)
        column.addWidget(self.hint)
        column.addLayout(self._card_column)
        column.addWidget(self.lines, 1)
        end = QHBoxLayout()
        end.addWidget(self.in_tree)
        end.addWidget(self.bar, 1)
        column.addLayout(end)
