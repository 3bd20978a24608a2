"""The first page: what to open, the built-in scenes under the question that each answers, and where to begin."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QHideEvent, QIcon, QPalette, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.ui.commands.menu import Menu
from raygrove.app.ui.plain_text import Label, tip
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.widgets.elided_label import ElidedLabel
from raygrove.app.ui.widgets.list_rows import add_row
from raygrove.app.ui.window.machine_line import MachineLine
from raygrove.app.ui.window.previews import SIZE, Previews
from raygrove.app.ui.window.recent_pictures import SIZE as PLATE
from raygrove.app.ui.window.recent_pictures import RecentPictures
from raygrove.app.ui.window.scene_cards import CARD, Card, CardGroups
from raygrove.version import VERSION

SIDE_WIDTH = 230
EDGE, SPACE = 28, 24
"""Pixels at the left and the right of the page, and between what opens files and the scenes."""
NARROW, NARROW_EDGE = 1000, 12
"""In a page that is narrower there is less of them."""
HEADING_HEIGHT, STARTS_HEIGHT, FOOT_HEIGHT = 68, 48, 34
"""Pixels of the heading, of the starts where they stand below the scenes, and of the last line, which never scrolls."""
STARTS_AT = 3
"""Their place at the left: behind what opens files."""

ROOT = Path(__file__).resolve().parents[3]
GUIDE, NEWS = ROOT / "docs" / "guide.md", ROOT / "CHANGELOG.md"
"""Pages of the checkout; a package without them does not offer them."""


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("WelcomePage", text)


def questions() -> Mapping[str, tuple[str, ...]]:
    """The built-in scenes by what they are for; those that are nowhere here stand at the end."""
    return {
        tr("Refit or rebuild?"): ("explode", "cloth"),
        tr("A character"): ("walker",),
        tr("Many moving objects"): ("orbit",),
        tr("Light"): ("metal", "glass", "room"),
        tr("Pure ray speed"): ("blob",),
        tr("Particles"): ("spheres", "mixed", "galaxy", "molecule"),
    }


RECENT_HEIGHT = 76
"""Of the list of recent files, at least."""


class WelcomePage(QScrollArea):
    """See the module. `demo_chosen` carries a name, `file_chosen` a path; `open_wanted`, `tree_wanted`, `race_wanted`,
    `tour_wanted` and `left` (back to the scene that is open) nothing. `pictures` are those of recent files,
    `fill_lessons` makes the entries of a menu."""

    demo_chosen = Signal(str)
    file_chosen = Signal(str)
    open_wanted = Signal()
    tree_wanted = Signal()
    race_wanted = Signal()
    tour_wanted = Signal()
    left = Signal()

    def __init__(
        self,
        demos: Sequence[Any],
        previews: Previews,
        pictures: RecentPictures | None = None,
    ) -> None:
        super().__init__()
        self._pictures = pictures
        self.fill_lessons: Callable[[QMenu], object] = lambda menu: None
        self._machine, self._has_looked = MachineLine(self), False
        self.setObjectName("welcome")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._previews = previews
        self._previews.ready.connect(self._show_picture)
        self.cards = {info.name: Card(info) for info in demos if not info.variant}
        for card in self.cards.values():
            card.clicked.connect(functools.partial(self.demo_chosen.emit, card.name))
        self.groups = CardGroups(questions(), self.cards, self.tr("More"))
        page = QWidget()
        column = self._column = QVBoxLayout()
        column.setSpacing(12)
        column.addWidget(self._heading())
        row = self._row = QHBoxLayout()
        row.addWidget(self._side())
        self._starts = self._ways_in()
        self._right = QVBoxLayout()
        self._right.setSpacing(12)
        self._right.addLayout(self.groups, 1)
        self._right.addWidget(self._starts)
        row.addLayout(self._right, 1)
        column.addLayout(row)
        column.addStretch(1)
        page.setLayout(column)  # now, since what it holds may move: Python is told of the items in a layout that is
        # added to one with a widget, not of their end, and takes whatever lies at their addresses later for them
        self.setWidget(page)
        self._foot = self._last_line()
        self.setViewportMargins(0, 0, 0, FOOT_HEIGHT)

    # -- parts ----------------------------------------------------------------------------------------------------
    def _heading(self) -> Label:
        heading = Label(self.tr("See what your ray-tracing structure costs, frame by frame."))
        font = heading.font()
        font.setPixelSize(22)
        font.setBold(True)
        heading.setFont(font)
        heading.setWordWrap(True)
        return heading

    def _side(self) -> QWidget:
        self._recent = QListWidget()
        self._recent.setObjectName("recent")
        self._recent.setIconSize(PLATE)
        self._recent.setWordWrap(True)
        self._recent.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # it scrolls, not the page
        self._recent.setMinimumHeight(RECENT_HEIGHT)
        self._recent.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for chosen in (self._recent.itemActivated, self._recent.itemClicked):
            chosen.connect(lambda item: self.file_chosen.emit(item.data(Qt.ItemDataRole.UserRole)))
        self._recent_title = Label(self.tr("Recent files"))
        hint = Label(
            self.tr("or drop files here. Several files, or a numbered sequence, are the key frames of one scene.")
        )
        hint.setWordWrap(True)
        self._back = self._button("back", self.tr("Back to the scene"), self.left)
        side = QWidget()
        side.setFixedWidth(SIDE_WIDTH)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (
            self._button("open", self.tr("Open a model…"), self.open_wanted),
            hint,
            self._button("open_tree", self.tr("Open a tree…"), self.tree_wanted),
            self._back,
            self._recent_title,
        ):
            column.addWidget(widget)
        column.addWidget(self._recent, 1)
        column.addStretch(0)
        self._left = column
        return side

    def _ways_in(self) -> QWidget:
        """Where to begin without a model of one's own."""
        self._tour = self._button("tour", "", self.tour_wanted)
        race = self._button("race", self.tr("Race two structures on Explode"), self.race_wanted)
        starts = QWidget()
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight, starts)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for button in (race, self._tour, self._lessons()):
            row.addWidget(button)
        row.addStretch(1)
        return starts

    def _place_starts(self, *, is_low: bool) -> None:
        """Below the scenes, or where there is no room at the left, where they are seen at once."""
        row = self._starts.layout()
        assert isinstance(row, QBoxLayout), "made above"
        directions = QBoxLayout.Direction
        row.setDirection(directions.TopToBottom if is_low else directions.LeftToRight)
        if is_low:
            self._left.insertWidget(STARTS_AT, self._starts)
        else:
            self._right.addWidget(self._starts)

    def _lessons(self) -> QPushButton:
        """What opens the list of lessons, which is made when it opens."""
        button = QPushButton(self.tr("Lessons"))
        button.setObjectName("lessons")
        button.setMinimumHeight(36)
        menu = Menu(button)
        menu.aboutToShow.connect(lambda: self.fill_lessons(menu))
        button.setMenu(menu)
        return button

    def _button(self, name: str, title: str, wanted: Any) -> QPushButton:
        button = QPushButton(title)
        button.setObjectName(name)
        button.setMinimumHeight(36)
        button.clicked.connect(wanted)
        return button

    def _last_line(self) -> QWidget:
        foot = QWidget(self)
        row = QHBoxLayout(foot)
        version, machine = Label(self.tr("Raygrove {version}").format(version=VERSION)), ElidedLabel()
        machine.setObjectName("machine")
        self._machine.found.connect(machine.setText)
        row.addWidget(version)
        row.addSpacing(12)
        row.addWidget(machine, 1)
        for name, title, path in (("guide", tr("Documentation"), GUIDE), ("news", tr("What is new"), NEWS)):
            if path.is_file():
                link = QPushButton(title)
                link.setObjectName(name)
                link.setFlat(True)
                link.clicked.connect(functools.partial(QDesktopServices.openUrl, QUrl.fromLocalFile(str(path))))
                row.addWidget(link)
        return foot

    # -- what it shows --------------------------------------------------------------------------------------------
    def show_recent(self, paths: Sequence[str]) -> None:
        """List the files opened last."""
        self._recent.clear()
        for path in paths:
            item = add_row(self._recent, recent_files.title_of(path, with_folder=False))
            item.setToolTip(tip(recent_files.title_of(path, with_folder=True)))
            item.setIcon(QIcon(self._plate(path)))
            item.setData(Qt.ItemDataRole.UserRole, path)
        self._recent.setVisible(bool(paths))
        self._recent_title.setVisible(bool(paths))

    def forget_recent(self) -> None:
        """The list was forgotten, and so are its pictures."""
        if self._pictures is not None:
            self._pictures.forget()
        self.show_recent([])

    def _plate(self, entry: str) -> QPixmap:
        """The picture of a file, or an empty plate, so that all titles begin at the same place."""
        picture = self._pictures.of(entry) if self._pictures is not None else QPixmap()
        if picture.isNull():
            picture = QPixmap(PLATE)
            picture.fill(self.palette().color(QPalette.ColorRole.Midlight))
        return picture

    def show_ways(self, *, has_scene: bool, took_tour: bool) -> None:
        """Offer the way back to an open scene, and the tour."""
        self._back.setVisible(has_scene)
        self._tour.setText(self.tr("Take the tour again") if took_tour else self.tr("Take the tour (6 steps, 5 min)"))

    def _show_picture(self, name: str, picture: QPixmap) -> None:
        if name in self.cards:
            self.cards[name].show_picture(picture)

    # -- Qt -------------------------------------------------------------------------------------------------------
    def showEvent(self, event: QShowEvent) -> None:
        """Draw the previews that are missing."""
        super().showEvent(event)
        self._previews.ask(self.cards)
        if not self._has_looked:
            self._has_looked = True
            self._machine.look()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave the machine to the scene that was opened."""
        self._previews.stop()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many cards in a row as there is room for, all of them on the page if they can be, in its middle."""
        super().resizeEvent(event)
        width, height = self.width(), self.height() - FOOT_HEIGHT - HEADING_HEIGHT
        edge, space = (NARROW_EDGE, NARROW_EDGE) if width < NARROW else (EDGE, SPACE)
        room = width - SIDE_WIDTH - 2 * edge - space
        is_low = not self.groups.fit(room, height - STARTS_HEIGHT)
        if is_low and not self.groups.fit(room, height):
            width -= self.verticalScrollBar().sizeHint().width()
            self.groups.fit(width - SIDE_WIDTH - 2 * edge - space, 0)
        edge = max(edge, (width - SIDE_WIDTH - space - self.groups.row_width) // 2)
        self._column.setContentsMargins(edge, 16, edge, 12)
        self._row.setSpacing(space)
        self._place_starts(is_low=is_low)
        self._foot.setGeometry(0, self.height() - FOOT_HEIGHT, self.width(), FOOT_HEIGHT)
        layout = self._foot.layout()
        assert layout is not None, "made above"
        layout.setContentsMargins(edge, 0, edge, 0)


assert SIZE[0] * CARD.height() == SIZE[1] * CARD.width()
