"""A ray debugger: what the ray of a pixel did, event by event, forwards and backwards: the stack, the children with
their entry distances, what was tested and culled, and the line of pseudocode that stands for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QFontDatabase, QPalette, QResizeEvent, QShowEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QSpinBox,
    QSplitter,
    QTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.camera.gestures import Gestures
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.icons import icon
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table

if TYPE_CHECKING:
    from raygrove.gpu.analysis.followed_ray import FollowedRay

STEP_MS = 120
COLUMNS = ("event", "kind", "id", "entry", "line")
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class EventRows(QAbstractListModel):
    """The events of a ray as rows; nothing is made of them but what is seen."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.ray: FollowedRay | None = None

    def take(self, ray: FollowedRay | None) -> None:
        """Another ray."""
        self.beginResetModel()
        self.ray = ray
        self.endResetModel()

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() or self.ray is None else len(self.ray.log)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        if role != Qt.ItemDataRole.DisplayRole or self.ray is None:
            return None
        return f"{index.row() + 1}  {self.ray.log[index.row()].sentence}"


class RayPanel(QWidget):
    """See the module. `pixel_wanted` carries a place of the picture, from 0 to 1 of its width and height, `stepped` the
    event that is shown, `node_wanted` a node that is to be seen in the tree, `all_wanted` whether all boxes that the
    ray met are to be drawn; `seen` tells that the panel is shown."""

    pixel_wanted = Signal(float, float)
    stepped = Signal(int)
    node_wanted = Signal(object)
    all_wanted = Signal(bool)
    seen = Signal()

    def __init__(self, gestures: Gestures | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("ray")
        self._gestures = gestures or Gestures()
        self._gestures.on_change.append(lambda: None if self.ray is not None else self.clear())
        self.ray: FollowedRay | None = None
        self.at = -1
        self._size = (0, 0)
        self.hint, self.sentence = Label(self), Label(self)
        self.hint.setWordWrap(True)
        self.sentence.setObjectName("sentence")
        self.sentence.setWordWrap(True)
        self.across, self.down = (self._box(name) for name in ("column", "row"))
        self.follow = QPushButton(self.tr("Follow"), self)
        self.follow.setToolTip(self.tr("Follow the ray through this pixel of the picture as it is now"))
        self.follow.clicked.connect(self._want_pixel)
        self.all_boxes, self.met = QCheckBox(self.tr("All boxes it met"), self), Label(self)
        self.all_boxes.setToolTip(
            self.tr("Draw all boxes that the ray met over the picture, by what became of them (boxes.of_ray)")
        )
        self.all_boxes.clicked.connect(self.all_wanted)
        self.met.setWordWrap(True)
        self.met.hide()
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName(self.tr("Event"))
        self.slider.valueChanged.connect(self.go)
        self._timer = QTimer(self, interval=STEP_MS)
        self._timer.timeout.connect(self._play_on)
        self.buttons = {name: self._button(name, tip, move) for name, tip, move in self._moves()}
        self.rows, self.events = EventRows(self), QListView(self)
        self.events.setModel(self.rows)
        self.events.setUniformItemSizes(True)
        self.events.setAccessibleName(self.tr("Events of the ray"))
        self.events.selectionModel().currentChanged.connect(lambda now, before: self.go(now.row()))
        self.code, self.state = self._text(self.tr("Pseudocode")), self._text(self.tr("State of the ray"))
        self.show_node = QPushButton(self.tr("Show in tree"), self)
        self.show_node.clicked.connect(self._want_node)
        self.bar = PanelBar("ray", self.table, self.text, self)
        self.bar.pause.hide()  # nothing comes unasked
        self._lay_out()
        self.clear()

    def show_ray(self, ray: FollowedRay | None, node: int | None = None) -> None:
        """Show another ray, at the event that entered `node` where it did."""
        if ray is None:
            self.clear(self.tr("There is no picture by rays yet."))
            return
        self.ray = ray
        blocker = QSignalBlocker(self.slider)
        self.slider.setRange(0, max(0, len(ray.log) - 1))
        del blocker
        self.rows.take(ray)
        self.at = -1
        self.hint.setText(" ".join(filter(None, [", ".join(ray.names) + ".", ray.remark])))
        if not len(ray.log):
            self.sentence.setText(self.tr("The ray meets nothing of the structure: no event."))
        entered = None if node is None else ray.log.entered(node)
        self._enable()
        self._show_met()
        self.code.setPlainText("\n".join(ray.pseudocode.lines) if ray.pseudocode else self.tr("No pseudocode."))
        self.go(entered if entered is not None else 0)

    def show_all_boxes(self, is_wanted: bool) -> None:
        """Whether all boxes that the ray met are drawn: then a legend says how many there are of each kind."""
        self.all_boxes.setChecked(is_wanted)
        self._show_met()

    def _show_met(self) -> None:
        self.met.setVisible(self.all_boxes.isChecked() and self.ray is not None)
        if self.ray is None or not self.all_boxes.isChecked():
            return
        met = {fate: len(nodes) for fate, nodes in self.ray.met().items()}
        words = (
            ("node", self.tr("{count:,} (white)")),
            ("leaf", self.tr("leaves {count:,} (green)")),
            ("missed", self.tr("missed {count:,} (red)")),
            ("beyond", self.tr("beyond its end by then {count:,} (blue)")),
            ("dropped", self.tr("dropped for a nearer hit {count:,} (violet)")),
            ("waiting", self.tr("not come to {count:,} (grey)")),
        )
        told = [text.format(count=met[fate]) for fate, text in words if met[fate] or fate in ("node", "leaf")]
        self.met.setText(self.tr("Nodes entered {boxes}.").format(boxes=", ".join(told)))

    def clear(self, sentence: str = "") -> None:
        """Show no ray, and say why."""
        self.stop()
        self.ray, self.at = None, -1
        self._show_met()
        self.rows.take(None)
        self.hint.setText(sentence or self._how())
        for text in (self.code, self.state):
            text.clear()
        self.sentence.setText("")
        self._enable()
        self.stepped.emit(-1)

    def _how(self) -> str:
        """How to choose a pixel."""
        pick = next(iter(self._gestures.ways("mouse.pick")), "")
        if not pick:
            return self.tr("Type the column and row of a pixel, and press Follow.")
        return self.tr("{pick} picks a pixel of the picture; or type its column and row.").format(pick=pick)

    @property
    def node(self) -> int | None:
        """The node or leaf that the ray is in after the event that is shown."""
        return None if self.ray is None or self.at < 0 else self.ray.log.state(self.at).node

    def go_to_node(self, node_id: int) -> None:
        """Show the event that entered a node; where none did, the first that tells of it; else stay."""
        ray = self.ray
        if ray is None or node_id == self.node:
            return
        from raygrove.gpu.analysis.ray_log import Event  # there is a ray: it is imported already

        told = np.flatnonzero((ray.log.ids == node_id) & (ray.log.kinds < Event.PRIMITIVE_TESTED))
        entered = ray.log.entered(node_id)
        if entered is not None or len(told):
            self.go(entered if entered is not None else int(told[0]))

    def showEvent(self, event: QShowEvent) -> None:
        """What was selected meanwhile is to be seen."""
        super().showEvent(event)
        self.seen.emit()

    def show_pixel(self, place: tuple[float, float] | None, size: tuple[int, int]) -> None:
        """The pixel that is selected, of a picture of that size."""
        if size != self._size:  # a box whose range is set lays its panel out
            self._size = size
            self._limit_boxes(size)
        if place is not None:
            for box, part, count in zip((self.across, self.down), place, size, strict=True):
                box.setValue(min(int(part * count), count - 1))

    def _limit_boxes(self, size: tuple[int, int]) -> None:
        for box, count in zip((self.across, self.down), size, strict=True):
            box.setMaximum(max(0, count - 1))

    def wait(self) -> None:
        """The ray of the pixel that is shown is on its way."""
        text = self.tr("Following the ray of column {column}, row {row} …")
        self.hint.setText(text.format(column=self.across.value(), row=self.down.value()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The current event and its line stay in sight."""
        super().resizeEvent(event)
        self.events.scrollTo(self.events.currentIndex())
        self.code.ensureCursorVisible()

    def mark_old(self) -> None:
        """The picture has another tree by now."""
        if self.ray is not None:
            self.hint.setText(self.tr("Of an earlier picture: its tree has changed since. Follow the ray anew."))

    def go(self, n: int) -> None:
        """Show the state after event n, from 0 on."""
        if self.ray is None or not 0 <= n < len(self.ray.log) or n == self.at:
            return
        self.at = n
        log = self.ray.log
        self.slider.setValue(n)
        index = self.rows.index(n)
        self.events.setCurrentIndex(index)
        self.events.scrollTo(index)
        step = log[n].sentence
        self.sentence.setText(self.tr("{n:,} of {count:,}: {step}").format(n=n + 1, count=len(log), step=step))
        self.state.setPlainText("\n".join(self.state_lines()))
        self._mark_line(self.ray.line(n))
        self.stepped.emit(n)

    def step(self, count: int) -> None:
        """So many events on, or back."""
        if self.ray is not None:
            self.go(min(max(self.at + count, 0), len(self.ray.log) - 1))

    def toggle(self) -> None:
        """Play event after event, from the beginning where the end was shown; or stop."""
        if self._timer.isActive() or self.ray is None:
            self.stop()
            return
        if self.at == len(self.ray.log) - 1:
            self.go(0)
        self._timer.start()
        self.buttons["play"].setIcon(icon("pause"))

    def stop(self) -> None:
        """Stay at this event."""
        self._timer.stop()
        self.buttons["play"].setIcon(icon("play"))

    def state_lines(self) -> list[str]:
        """Node, ends, children and stack after the event that is shown."""
        if self.ray is None or self.at < 0:
            return []
        state = self.ray.log.state(self.at)
        kind = self.tr("Leaf") if state.is_leaf else self.tr("Node")
        found = self.tr("primitive {id} at {t:.6g}").format(id=state.primitive, t=state.t_max)
        nothing = self.tr("nothing yet")
        tested = ", ".join(str(one) for one in state.tested) or self.tr("none")
        children = self.tr("Children:") if state.children else self.tr("Children: none decided about yet")
        lines = [
            f"{kind} {_shown(state.node)}" if state.node is not None else self.tr("Before the root"),
            self.tr("Nearest hit: {what}").format(what=found if state.primitive >= 0 else nothing),
            self.tr("Tested here: {tested}").format(tested=tested) if state.is_leaf else children,
        ]
        lines += [f"  {step.sentence}" for step in state.children]
        stack = self.tr("Stack of {count}, the top first:") if state.stack else self.tr("Stack: empty")
        lines.append(stack.format(count=len(state.stack)))
        lines += [f"  {_shown(one.id)} at {one.entry:.6g}" for one in reversed(state.stack)]
        return lines

    def table(self) -> Table:
        """All events, with the line of the pseudocode that each stands for."""
        ray = self.ray
        if ray is None:
            return COLUMNS, []
        steps = [(n, ray.log[n], ray.line(n)) for n in range(len(ray.log))]
        return COLUMNS, [
            {"event": n + 1, "kind": step.event.name.lower(), "id": step.id, "entry": step.entry,
             "line": None if line is None else line + 1}
            for n, step, line in steps
        ]  # fmt: skip

    def text(self) -> str:
        """All events as lines."""
        log = () if self.ray is None else self.ray.log
        return "".join(f"{n + 1}  {log[n].sentence}\n" for n in range(len(log)))

    def _mark_line(self, line: int | None) -> None:
        """The current line, by a mark in front and by its ground."""
        code = self.ray.pseudocode if self.ray is not None else None
        if code is None:
            return
        marks = ("> " if number == line else "  " for number in range(len(code.lines)))
        self.code.setPlainText("\n".join(mark + text for mark, text in zip(marks, code.lines, strict=True)))
        if line is None:
            self.code.setExtraSelections([])
            return
        chosen = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.code.document().findBlockByNumber(line))
        chosen.cursor = cursor  # type: ignore[attr-defined]
        chosen.format.setBackground(self.palette().color(QPalette.ColorRole.Highlight))  # type: ignore[attr-defined]
        chosen.format.setForeground(  # type: ignore[attr-defined]
            self.palette().color(QPalette.ColorRole.HighlightedText)
        )
        chosen.format.setProperty(QTextFormat.Property.FullWidthSelection, True)  # type: ignore[attr-defined]
        self.code.setExtraSelections([chosen])
        self.code.setTextCursor(cursor)

    def _play_on(self) -> None:
        self.step(1)
        if self.ray is None or self.at >= len(self.ray.log) - 1:
            self.stop()

    def _want_pixel(self) -> None:
        width, height = self._size
        if width and height:
            self.pixel_wanted.emit((self.across.value() + 0.5) / width, (self.down.value() + 0.5) / height)

    def _want_node(self) -> None:
        if self.node is not None:
            self.node_wanted.emit(self.node)

    def _enable(self) -> None:
        has_events = self.ray is not None and len(self.ray.log) > 0
        for widget in (self.slider, self.events, self.show_node, *self.buttons.values()):
            widget.setEnabled(has_events)

    def _moves(self) -> tuple[tuple[str, str, Callable[[], object]], ...]:
        return (
            ("first", self.tr("First event"), lambda: self.go(0)),
            ("step_back", self.tr("One event back"), lambda: self.step(-1)),
            ("play", self.tr("Play event after event, or stop"), self.toggle),
            ("step", self.tr("One event on"), lambda: self.step(1)),
            ("last", self.tr("Last event"), lambda: self.step(len(self.ray.log) if self.ray else 0)),
        )

    def _button(self, name: str, tip: str, move: Callable[[], object]) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"ray_{name}")
        button.setIcon(icon(name))
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(move)
        return button

    def _box(self, name: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setObjectName(name)
        box.setAccessibleName(self.tr("Column of the pixel") if name == "column" else self.tr("Row of the pixel"))
        return box

    def _text(self, name: str) -> QPlainTextEdit:
        text = QPlainTextEdit(self)
        text.setReadOnly(True)
        text.setAccessibleName(name)
        text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        text.setTabChangesFocus(True)
        return text

    def _lay_out(self) -> None:
        pixel, transport, end = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for widget in (Label(self.tr("Pixel"), self), self.across, self.down, self.follow, self.all_boxes):
            pixel.addWidget(widget)
        pixel.addStretch(1)
        for button in self.buttons.values():
            transport.addWidget(button)
        transport.addWidget(self.slider, 1)
        end.addWidget(self.show_node)
        end.addWidget(self.bar, 1)
        parts = QSplitter(Qt.Orientation.Vertical, self)
        for area in (self.events, self.code, self.state):
            area.setMinimumHeight(70)
            parts.addWidget(area)
        parts.setSizes([150, 260, 150])
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        for part in (self.hint, pixel, self.met, transport, self.sentence):
            column.addWidget(part) if isinstance(part, QWidget) else column.addLayout(part)
        column.addWidget(parts, 1)
        column.addLayout(end)


def _shown(node_id: int) -> str:
    return f"{node_id}" if node_id >= 0 else f"~{~node_id}"
