"""What is selected, in one line above each panel of the workspace Inspect, from the pixel to the object: each part
leads to the panel that shows it."""

from __future__ import annotations

import html

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QWidget

from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.plain_text import RichLabel
from raygrove.app.ui.session.inspection import Inspected
from raygrove.app.ui.session.session import Session

NEXT = " › "


class SelectionLine(RichLabel):
    """See the module. One panel's line; all of them say the same."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("selection_line")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        links = Qt.TextInteractionFlag.LinksAccessibleByKeyboard | Qt.TextInteractionFlag.LinksAccessibleByMouse
        self.setTextInteractionFlags(links)
        self._session = session
        self._size: tuple[int, int] | None = None
        session.inspection.changed.connect(lambda before, after: self._show(after))
        session.loop.frame_arrived.connect(self._take_size)
        self.linkActivated.connect(session.inspection.panel_wanted)
        self._show(session.inspection.now)

    def _show(self, now: Inspected) -> None:
        links = [f'<a href="{panel}">{html.escape(text)}</a>' for panel, text in self.parts(now)]
        self.setText(NEXT.join(links) or self.tr("Nothing is selected"))

    def _take_size(self, frame: FinishedFrame) -> None:
        """The selected place is another pixel where the picture has another size."""
        if frame.request.size != self._size:
            self._size = frame.request.size
            self._show(self._session.inspection.now)

    def parts(self, now: Inspected) -> list[tuple[str, str]]:
        """The name of the panel that shows each part of a selection, and the part in words."""
        found, frame = list[tuple[str, str]](), self._session.loop.last_frame
        if now.pixel is not None and frame is not None:
            x, y = (
                min(int(part * count), count - 1) for part, count in zip(now.pixel, frame.request.size, strict=True)
            )
            found.append(("pick", self.tr("pixel {x}, {y}").format(x=x, y=y)))
            found.append(("ray", self.tr("ray")))
        if now.warp is not None:
            found.append(("divergence", self.tr("tile {x}, {y}").format(x=now.warp[0], y=now.warp[1])))
        if now.node is not None:
            is_node = now.node >= 0
            name = self.tr("node {id}").format(id=now.node) if is_node else self.tr("leaf ~{id}").format(id=~now.node)
            found.append(("tree", name))
        if now.primitive is not None:
            found.append(("pick", self.tr("primitive {id}").format(id=f"{now.primitive:,}")))
        name = self._session.inspection.name_of(now.object)
        return [*found, ("objects", name)] if name else found


def put_above(panel: QWidget, session: Session) -> SelectionLine:
    """The line, above what a panel has."""
    line, layout = SelectionLine(session, panel), panel.layout()
    assert isinstance(layout, QBoxLayout)
    layout.insertWidget(0, line)
    return line
