"""Light, dark, or as the desktop has it; dark where the desktop says nothing. The colours are the program's own
(app/ui/colors.py).

What was chosen in the window is remembered for the next start, unless that start says something else than this one did:
a file of settings that was changed, or the command line.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from raygrove.app.document.state import State
from raygrove.app.ui import colors
from raygrove.app.ui.session.session import Session

KEY = "settings.window.theme"
FONT = "Inter"
"""Its figures are of one width, and it is drawn for small sizes on screens (docs/decisions/tour.md)."""

SCHEMES = {"system": Qt.ColorScheme.Unknown, "light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}

Role = QPalette.ColorRole
Group = QPalette.ColorGroup

BORDERED = (
    *("QCheckBox", "QRadioButton", "QGroupBox", "QLineEdit", "QAbstractSpinBox", "QComboBox", "QPushButton"),
    *("QSlider", "Menu", "QTreeView", "QListView"),
)
"""What has a border that must be seen: controls, and what holds boxes to tick; of menus the window's own class, since
Qt draws the lists of drop-downs with what its own class has."""

OUTLINE, BOX_OUTLINE = 1.4, 1.1
"""Qt's style Fusion draws borders in the colour of the window, so many times darker: on dark, none is seen. Those of
boxes to tick are so many times lighter than others."""


def apply(choice: str) -> None:
    """Take a theme: system, light or dark. Every window follows at once."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    QGuiApplication.styleHints().setColorScheme(SCHEMES[choice])  # of what the platform draws: title bars, its dialogs
    is_light = choice == "light" or (choice == "system" and desktop_scheme() == Qt.ColorScheme.Light)
    wanted = palette(colors.LIGHT if is_light else colors.DARK)
    if application.palette() != wanted:
        application.setPalette(wanted)
        for name in BORDERED:
            application.setPalette(bordered(wanted), name)  # type: ignore[arg-type]  # its stub says bytes, it takes str


def take_font() -> None:
    """Texts in FONT where the system has it, in the size of the desktop's font; else in that."""
    font = QApplication.font()
    if FONT not in font.families() and QFontDatabase.hasFamily(FONT):
        font.setFamilies([FONT, *font.families()])
        QApplication.setFont(font)


def desktop_scheme() -> Qt.ColorScheme:
    """What the desktop says, as long as no other theme is asked for."""
    return QGuiApplication.styleHints().colorScheme()


def palette(scheme: colors.Scheme) -> QPalette:
    """A scheme's colours in Qt's roles."""
    made = QPalette()
    is_dark = scheme is colors.DARK
    raised, sunk = (scheme.selected, scheme.window) if is_dark else (scheme.panel, scheme.selected)
    for role, color in (
        *((role, scheme.text) for role in (Role.WindowText, Role.Text, Role.ButtonText, Role.HighlightedText)),
        *((role, scheme.text) for role in (Role.ToolTipText, Role.Accent, Role.Link)),
        *((role, scheme.secondary) for role in (Role.PlaceholderText, Role.LinkVisited)),
        *((role, scheme.panel) for role in (Role.Base, Role.ToolTipBase)),
        *((role, scheme.border) for role in (Role.Mid, Role.Dark)),
        *((Role.Window, scheme.window), (Role.Button, scheme.field), (Role.AlternateBase, scheme.field)),
        *((Role.Highlight, scheme.selected), (Role.BrightText, scheme.error)),
        *((Role.Light, raised), (Role.Midlight, scheme.field), (Role.Shadow, sunk)),
    ):
        made.setColor(role, QColor(color))
    for role in (Role.WindowText, Role.Text, Role.ButtonText, Role.HighlightedText, Role.PlaceholderText):
        made.setColor(Group.Disabled, role, QColor(scheme.disabled))
    made.setColor(Group.Disabled, Role.Highlight, QColor(scheme.field))
    return made


def bordered(made: QPalette) -> QPalette:
    """Those colours for what is drawn on a window or panel and fills nothing with the window's colour itself, so that
    its border is that of the scheme; where it cannot be used, half as strong."""
    changed, border, panel = QPalette(made), made.color(Role.Mid), made.color(Role.Base)
    channels = (QColor.red, QColor.green, QColor.blue)
    faint = QColor(*((of(border) + of(panel)) // 2 for of in channels))
    times = OUTLINE if border.lightness() > panel.lightness() else OUTLINE / BOX_OUTLINE  # the fainter of them counts
    for group, color in ((Group.Active, border), (Group.Inactive, border), (Group.Disabled, faint)):
        value = min(255, round(color.value() * times))
        changed.setColor(group, Role.Window, QColor.fromHsv(color.hsvHue(), color.hsvSaturation(), value))
    return changed


class Follower(QObject):
    """Gives the application the theme of a session's settings as long as its window is there, beginning with the one
    that was chosen last."""

    def __init__(self, session: Session, window: QObject) -> None:
        super().__init__(window)
        self._document, self._memory = session.document, session.memory
        self._first = self._document.state.settings.window.theme
        kept = self._memory.chosen("theme", self._first)
        if kept in SCHEMES:
            self._document.begin_with(KEY, kept)
        take_font()
        self.apply()
        self._document.observe(self._changed)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self.apply)

    def apply(self) -> None:
        """Take the theme that is chosen now."""
        apply(self._document.state.settings.window.theme)

    def _changed(self, before: State, after: State) -> None:
        if before.settings.window.theme != after.settings.window.theme:
            self.apply()
            self._memory.keep_chosen("theme", after.settings.window.theme, self._first)
