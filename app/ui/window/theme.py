"""Light, dark, or as the system has it. Where the system's own theme cannot be asked for a colour scheme, the program
brings its palettes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from raygrove.app.document.document import Document
from raygrove.app.document.state import State

SCHEMES = {"system": Qt.ColorScheme.Unknown, "light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}

Role = QPalette.ColorRole
DARK = {
    Role.Window: "#26282b", Role.WindowText: "#e6e6e6", Role.Base: "#1b1d1f", Role.AlternateBase: "#232528",
    Role.Text: "#e6e6e6",
    Role.Button: "#33363a", Role.ButtonText: "#e6e6e6", Role.BrightText: "#ff6b5e", Role.ToolTipBase: "#33363a",
    Role.ToolTipText: "#e6e6e6",
    Role.PlaceholderText: "#8d9299", Role.Link: "#6cb2ff", Role.LinkVisited: "#b49cff", Role.Highlight: "#2f78c4",
    Role.HighlightedText: "#ffffff",
    Role.Light: "#44484d", Role.Midlight: "#3a3d42", Role.Mid: "#55595f", Role.Dark: "#17181a", Role.Shadow: "#000000",
}  # fmt: skip
LIGHT = {
    Role.Window: "#efefef", Role.WindowText: "#000000", Role.Base: "#ffffff", Role.AlternateBase: "#f7f7f7",
    Role.Text: "#000000",
    Role.Button: "#efefef", Role.ButtonText: "#000000", Role.BrightText: "#ffffff", Role.ToolTipBase: "#ffffdc",
    Role.ToolTipText: "#000000",
    Role.PlaceholderText: "#7f7f7f", Role.Link: "#0057ae", Role.LinkVisited: "#7a3fb0", Role.Highlight: "#308cc6",
    Role.HighlightedText: "#ffffff",
    Role.Light: "#ffffff", Role.Midlight: "#f7f7f7", Role.Mid: "#b8b8b8", Role.Dark: "#9f9f9f", Role.Shadow: "#767676",
}  # fmt: skip
FADED = {"dark": "#6d7278", "light": "#a0a0a0"}


def apply(choice: str) -> None:
    """Take a theme: system, light or dark. Every window follows at once."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    QGuiApplication.styleHints().setColorScheme(SCHEMES[choice])
    application.setPalette(QPalette())  # what the platform gives, with the scheme that was asked for
    if choice != "system" and is_dark() != (choice == "dark"):
        application.setPalette(palette(choice))


def is_dark() -> bool:
    """Whether windows are dark now."""
    return QGuiApplication.palette().color(QPalette.ColorRole.Window).lightness() < 128


def palette(choice: str) -> QPalette:
    """The program's own light or dark palette."""
    made = QPalette()
    for role, color in (DARK if choice == "dark" else LIGHT).items():
        made.setColor(role, QColor(color))
    for role in (Role.WindowText, Role.Text, Role.ButtonText, Role.HighlightedText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(FADED[choice]))
    made.setColor(QPalette.ColorGroup.Disabled, Role.Highlight, QColor(FADED[choice]).darker(150))
    return made


def follow(document: Document) -> None:
    """Give the application the theme of the settings, from now on."""
    if document.state.settings.window.theme != "system":
        apply(document.state.settings.window.theme)
    document.observe(_changed)


def _changed(before: State, after: State) -> None:
    if before.settings.window.theme != after.settings.window.theme:
        apply(after.settings.window.theme)
