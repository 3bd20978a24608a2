"""The members of a sheet: a list with a heading a group, in which each member has a title, a sentence, and at its right
what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from raygrove.app.ui.colors import scheme
from raygrove.app.ui.pipeline.chip import CAPTION, SMALL, TITLE, font_of
from raygrove.app.ui.pipeline.offers import Group, Offer
from raygrove.app.ui.plain_text import tip
from raygrove.app.ui.widgets.list_rows import add_row
from raygrove.app.ui.widgets.svg_icons import SIDE, drawn

MEMBER, HEADING = 42, 28
MARGIN = 10
INK = 3
"""Pixels of the bar at the member that counts."""

BETWEEN = 12
"""Pixels between a sentence and the notes beside it."""

ROLE = Qt.ItemDataRole.UserRole


class MemberList(QListWidget):
    """See the module. `chosen` carries a value when an arrow key comes to it, `clicked_on` when the mouse does, `taken`
    when Return is pressed on it."""

    chosen = Signal(str)
    clicked_on = Signal(str)
    taken = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("members")
        self.setAccessibleName(self.tr("Choices"))
        self.setItemDelegate(Painted(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.currentItemChanged.connect(self._moved)
        self.itemClicked.connect(self._clicked)
        self._is_filled = True
        self._firsts: list[int] = []

    def show_groups(self, groups: Sequence[Group], current: str, words: str = "") -> None:
        """List the members that fit the words; the one that is called exactly so is marked, or the current one."""
        self._is_filled = False
        self.clear()
        self._firsts = []
        for group in groups:
            offers = [offer for offer in group.offers if all(word in offer.searched for word in words.lower().split())]
            if offers:
                self._add_heading(group)
                self._firsts.append(self.count())
                for offer in offers:
                    self._add(offer, offer.value == current)
        called = self._called(words.lower().strip())
        if called >= 0:
            self.setCurrentRow(called)
        elif self.currentItem() is None and words and self._firsts:
            self.setCurrentRow(self._firsts[0])
        self._is_filled = True

    def _called(self, name: str) -> int:
        """The row of the member of that title, or of that name in files; -1 for none."""
        found = (self.item(row).data(ROLE) for row in range(self.count()))
        names = [{offer.title.lower(), offer.value} if isinstance(offer, Offer) else set() for offer in found]
        return next((row for row, both in enumerate(names) if name in both), -1)

    def values(self) -> list[str]:
        """What is listed."""
        return [offer.value for offer in self._offers()]

    def group_of_row(self) -> int:
        """Which of the listed groups the marked member is in; -1 for none."""
        return sum(first <= self.currentRow() for first in self._firsts) - 1

    def go_to_group(self, number: int) -> None:
        """Mark the first member of a group that can be chosen."""
        last = self._firsts[number + 1] - 1 if number + 1 < len(self._firsts) else self.count()
        for row in range(self._firsts[number], last):
            if self.item(row).flags() & Qt.ItemFlag.ItemIsEnabled:
                self.setCurrentRow(row)
                self.scrollToItem(self.item(self._firsts[number] - 1), QListWidget.ScrollHint.PositionAtTop)
                return

    def update_offers(self, groups: Sequence[Group]) -> None:
        """New notes and refusals for what is listed, without another mark."""
        fresh = {offer.value: offer for group in groups for offer in group.offers}
        for row in range(self.count()):
            item = self.item(row)
            old = item.data(ROLE)
            if isinstance(old, Offer) and fresh.get(old.value, old) != old:
                self._describe(item, fresh[old.value])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right go to the group before and behind; Return takes what is marked."""
        number = self.group_of_row()
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and self._firsts:
            step = -1 if event.key() == Qt.Key.Key_Left else 1
            self.go_to_group(min(max(number + step, 0), len(self._firsts) - 1))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            offer = self.marked()
            self.taken.emit(offer.value if offer is not None else "")
        elif event.text().isprintable() and event.text():
            event.ignore()  # letters are the sheet's: `/` filters
        else:
            super().keyPressEvent(event)

    def _offers(self) -> list[Offer]:
        found = [self.item(row).data(ROLE) for row in range(self.count())]
        return [offer for offer in found if isinstance(offer, Offer)]

    def marked(self) -> Offer | None:
        """The member that is marked; None where it cannot be chosen."""
        item = self.currentItem()
        offer = item.data(ROLE) if item is not None else None
        return offer if isinstance(offer, Offer) and not offer.refusal else None

    def _moved(self, item: QListWidgetItem | None, before: QListWidgetItem | None) -> None:
        offer = self.marked()
        if self._is_filled and offer is not None:
            self.chosen.emit(offer.value)

    def _clicked(self, item: QListWidgetItem) -> None:
        offer = self.marked()
        if offer is not None and item is self.currentItem():
            self.clicked_on.emit(offer.value)

    def _add_heading(self, group: Group) -> None:
        item = add_row(self, group.title)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setSizeHint(QSize(0, HEADING))
        item.setData(ROLE, group.icon)

    def _add(self, offer: Offer, is_current: bool) -> None:
        item = add_row(self)
        item.setSizeHint(QSize(0, MEMBER))
        self._describe(item, offer)
        if is_current:
            self.setCurrentItem(item)

    def _describe(self, item: QListWidgetItem, offer: Offer) -> None:
        """Its texts for painting, pointing and reading aloud."""
        item.setText(offer.title)
        item.setData(ROLE, offer)
        said = ". ".join(part.rstrip(".") for part in (offer.refusal or offer.sentence, *offer.notes) if part)
        item.setToolTip(tip(f"{offer.title}\n{said}"))
        item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, said)
        free = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        item.setFlags(Qt.ItemFlag.NoItemFlags if offer.refusal else free)


class Painted(QStyledItemDelegate):
    """Paints members and headings."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """One row."""
        painter.save()
        area: QRect = option.rect  # type: ignore[attr-defined]
        data = index.data(ROLE)
        if isinstance(data, Offer):
            self._paint_member(painter, area, data, option.state)  # type: ignore[attr-defined]
        else:
            self._paint_heading(painter, area, str(data), str(index.data()))
        painter.restore()

    def _paint_heading(self, painter: QPainter, area: QRect, icon: str, title: str) -> None:
        colors = scheme()
        if icon:
            ratio = painter.device().devicePixelRatioF()
            painter.drawPixmap(area.left() + MARGIN, area.top() + 5, drawn(icon, colors.secondary, SIDE - 4, ratio))
        painter.setFont(font_of(CAPTION))
        painter.setPen(QColor(colors.secondary))
        place = area.adjusted(MARGIN + (SIDE + 2 if icon else 0), 0, 0, 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title.upper())

    def _paint_member(self, painter: QPainter, area: QRect, offer: Offer, state: QStyle.StateFlag) -> None:
        colors = scheme()
        is_current, is_under = state & QStyle.StateFlag.State_Selected, state & QStyle.StateFlag.State_MouseOver
        if is_current or (is_under and not offer.refusal):
            painter.fillRect(area, QColor(colors.selected if is_current else colors.field))
        if is_current:
            painter.fillRect(QRect(area.left(), area.top(), INK, area.height()), QColor(colors.text))
        notes = notes_width(offer)
        room = area.adjusted(MARGIN, 4, -MARGIN - (notes + BETWEEN if notes else 0), -4)
        top, bottom = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignBottom
        strong, weak = (colors.disabled, colors.disabled) if offer.refusal else (colors.text, colors.secondary)
        _write(painter, room, TITLE, strong, offer.title, top | Qt.AlignmentFlag.AlignLeft)
        _write(painter, room, SMALL, weak, offer.refusal or offer.sentence, bottom | Qt.AlignmentFlag.AlignLeft)
        beside = QRect(area.right() - notes - MARGIN + 4, room.top(), notes, room.height())
        for note, place in zip(offer.notes, (top, bottom), strict=False):
            _write(painter, beside, SMALL, weak, note, place | Qt.AlignmentFlag.AlignRight)


def notes_width(offer: Offer) -> int:
    """The room that the notes of a member take: they are read whole, its sentence gives way."""
    metrics = QFontMetrics(font_of(SMALL))
    return max((metrics.horizontalAdvance(note) + 2 for note in offer.notes if note), default=0)  # 2: for rounding


def _write(painter: QPainter, room: QRect, pixels: int, color: str, text: str, place: Qt.AlignmentFlag) -> None:
    painter.setFont(font_of(pixels))
    painter.setPen(QColor(color))
    words = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, place, words)
