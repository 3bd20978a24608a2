"""A sheet: what a chip opens. Arrow keys try, Return keeps, Esc takes back all that was tried as one step; `/` filters.

What is tried acts on the next frame. A click beside the sheet keeps, as Return does.
"""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.ui.colors import scheme
from raygrove.app.ui.pipeline.member_list import HEADING, MEMBER, MemberList
from raygrove.app.ui.pipeline.offers import Group, SheetContent
from raygrove.app.ui.pipeline.segments import SegmentRow
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.list_rows import add_row
from raygrove.app.ui.widgets.svg_icons import svg_icon

WIDTH, FAMILIES = 640, 164
MOST_HEIGHT, LEAST_LIST = 470, 120
MARGIN, EDGE = 8, 4
"""Pixels within, and to the edges of the screen."""


class Sheet(QFrame):
    """See the module. `closed` comes when it is gone, with whether what was tried was kept."""

    closed = Signal(bool)

    def __init__(self, document: Document, content: SheetContent, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName(f"sheet.{content.name}")
        self.setAccessibleName(content.title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._document, self.content = document, content
        self._first: State = document.state
        self._is_kept = True
        self._is_over = self._has_recorded = False
        self.filter = QLineEdit(self)
        self.families = QListWidget(self)
        self.members = MemberList(self)
        self.rows = [SegmentRow(row, self) for row in content.rows]
        self._groups: tuple[Group, ...] = tuple(content.groups())
        self._lay_out()
        if content.is_tried:
            document.steps.open_step()
        self._forget = document.observe(self._changed)

    # -- making ---------------------------------------------------------------------------------------------------
    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        column.setSpacing(6)
        if self._groups:
            self._make_lists()
            column.addWidget(self.filter)
            beside = QHBoxLayout()
            beside.setSpacing(6)
            beside.addWidget(self.families)
            beside.addWidget(self.members, 1)
            column.addLayout(beside, 1)
        for widget in (self.filter, self.families, self.members):
            widget.setHidden(not self._groups)
        self.families.setHidden(len(self._groups) < 2)
        column.addLayout(self._make_rows())
        column.addLayout(self._make_foot())

    def _make_lists(self) -> None:
        self.filter.setObjectName("filter")
        self.filter.setPlaceholderText(self.tr("Filter ( / )"))
        self.filter.setAccessibleName(self.tr("Filter"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._fill)
        self.filter.installEventFilter(self)
        self.families.setObjectName("families")
        self.families.setAccessibleName(self.tr("Families"))
        self.families.setFixedWidth(FAMILIES)
        self.families.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.families.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Left and Right go through them
        self.families.setIconSize(QSize(18, 18))
        self.families.itemClicked.connect(self._go_to)
        for widget in (self.families, self.members):
            widget.setFrameShape(QFrame.Shape.NoFrame)
        self.members.chosen.connect(self._choose)
        self.members.clicked_on.connect(self._choose if self.content.is_tried else self._take)
        self.members.taken.connect(self._take)
        self.members.currentItemChanged.connect(lambda item, before: self._mark_family())
        self._fill("")

    def _make_rows(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for place, row in enumerate(self.rows):
            label = Label(row.row.title, self)
            grid.addWidget(label, place, 0)
            grid.addWidget(row, place, 1)
        return grid

    def _make_foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        tried = self.tr("Arrow keys try, Return keeps, Esc takes back")
        hint = Label(tried if self.content.is_tried else self.tr("Return opens, Esc closes"), self)
        hint.setObjectName("hint")
        foot.addWidget(hint, 1)
        for way in self.content.ways:
            button = QPushButton(way.title, self)
            button.setObjectName(way.name)
            button.setAutoDefault(False)
            button.clicked.connect(lambda checked=False, run=way.run: self._leave_for(run))
            foot.addWidget(button)
        return foot

    # -- opening and closing --------------------------------------------------------------------------------------
    def open_below(self, widget: QWidget) -> None:
        """Show it below a widget: on the screen as a whole, and within the window where that is wide enough."""
        room = widget.screen().availableGeometry().adjusted(EDGE, EDGE, -EDGE, -EDGE)
        self.ensurePolished()
        width = max(WIDTH if self._groups else 0, self.sizeHint().width())
        self.resize(min(width, room.width()), min(self._height(), room.height()))
        corner = widget.mapToGlobal(QPoint(0, widget.height() + 2))
        right = min(widget.window().geometry().right(), room.right()) + 1
        left = max(min(corner.x(), right - self.width()), room.left())
        top = max(min(corner.y(), room.bottom() + 1 - self.height()), room.top())
        self.move(left, top)
        self.show()
        first = self.members if self._groups else self._first_segment()
        if first is not None:
            first.setFocus(Qt.FocusReason.PopupFocusReason)

    def _height(self) -> int:
        listed = sum(HEADING + MEMBER * len(group.offers) for group in self._groups) + 4
        lists = max(min(listed, MOST_HEIGHT - 40 * len(self.rows)), LEAST_LIST) if self._groups else 0
        rest = self.sizeHint().height() - (self.members.sizeHint().height() if self._groups else 0)
        return lists + max(rest, 60)

    def _first_segment(self) -> QWidget | None:
        found = [segment for row in self.rows for segment in row.segments if segment.isChecked()]
        return found[0] if found else None

    def hideEvent(self, event: QHideEvent) -> None:
        """The sheet is left: what was tried is kept as one step, or taken back."""
        super().hideEvent(event)
        if self._is_over:
            return
        self._is_over = True
        self._forget()
        if self.content.is_tried:
            self._end_step()
        self.closed.emit(self._is_kept)

    def _end_step(self) -> None:
        document = self._document
        document.steps.close_step()
        has_changed = self._has_recorded and document.can_undo
        is_same = document.state.settings == self._first.settings and document.state.timeline.clip == (
            self._first.timeline.clip
        )
        if has_changed and (is_same or not self._is_kept):
            document.undo()  # a step that changes nothing is none
            self._put_head_back()

    def _put_head_back(self) -> None:
        """Undo leaves the playing head alone where the step's first change was none of it."""
        head, first = self._document.state.timeline, self._first.timeline
        if head.clip != first.clip:
            self._document.change("timeline", dataclasses.replace(head, clip=first.clip, time=first.time))

    def _leave_for(self, run: object) -> None:
        self.close()
        if callable(run):
            run()

    # -- what is chosen -------------------------------------------------------------------------------------------
    def _changed(self, before: State, after: State) -> None:
        if before.settings is after.settings and before.timeline.clip == after.timeline.clip:
            return
        self._has_recorded = True
        for row in self.rows:
            row.refresh()
        self.refresh()

    def refresh(self) -> None:
        """Show what can be chosen now, and newer figures."""
        if self._groups:
            self._groups = tuple(self.content.groups())
            self.members.update_offers(self._groups)

    def _choose(self, value: str) -> None:
        if self.content.is_tried and value != self.content.current():
            self.content.choose(value)

    def _take(self, value: str) -> None:
        """Return, or a click where nothing is tried: choose, and close."""
        self.close()
        if not self.content.is_tried and value:
            self.content.choose(value)

    def _fill(self, words: str) -> None:
        self.members.show_groups(self._groups, self.content.current(), words)
        self.families.clear()
        for place, group in enumerate(self._groups):
            offers = [offer for offer in group.offers if all(word in offer.searched for word in words.lower().split())]
            if offers:
                icon = svg_icon(group.icon, self.palette()) if group.icon else None
                item = add_row(self.families, group.title)
                item.setData(Qt.ItemDataRole.UserRole, place)
                if icon is not None:
                    item.setIcon(icon)
        self._mark_family()

    def _mark_family(self) -> None:
        self.families.setCurrentRow(self.members.group_of_row())

    def _go_to(self, item: QListWidgetItem) -> None:
        self.members.go_to_group(self.families.row(item))
        self.members.setFocus()

    # -- keys -----------------------------------------------------------------------------------------------------
    def event(self, event: QEvent) -> bool:
        """No key goes past the sheet to the window's commands."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc takes back, Return keeps, `/` filters."""
        if event.key() == Qt.Key.Key_Escape:
            self._is_kept = False
            self.close()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.close()
        elif event.text() == "/" and self._groups:
            self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the filter: Down and Return go to what is found, Esc first takes the words away."""
        if watched is self.filter and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.members.setFocus(Qt.FocusReason.TabFocusReason)
                offer = self.members.marked()
                if offer is not None and self.content.is_tried:
                    self._choose(offer.value)
                elif offer is not None and event.key() != Qt.Key.Key_Down:
                    self._take(offer.value)
                return True
            if event.key() == Qt.Key.Key_Escape and self.filter.text():
                self.filter.clear()
                self.members.setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A panel with a border."""
        painter, colors = QPainter(self), scheme()
        painter.fillRect(self.rect(), QColor(colors.panel))
        painter.setPen(QPen(QColor(colors.border), 1.0))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
