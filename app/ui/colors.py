"""The colours of the window, in light and dark: the interface is grey, colour means a phase or a measured value.

tests/app/ui/test_colors.py computes what they promise: contrast after WCAG 2, and that any two phases are told apart
with normal sight and by people who lack one kind of cones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from PySide6.QtGui import QColor, QGuiApplication, QPalette

from raygrove.app.frames.frame_history import OTHER, PHASES


@dataclasses.dataclass(frozen=True)
class Scheme:
    """The colours of one theme, as #rrggbb. Texts have 4.5:1 or more against window, panel and field, borders of
    controls and phases 3:1 against window and panel. `selected` is the fill of a selected row."""

    window: str
    panel: str
    field: str
    text: str
    secondary: str
    disabled: str
    border: str
    error: str
    selected: str
    phases: Mapping[str, str]
    other: str


DARK = Scheme(
    window="#14171A",
    panel="#1E2227",
    field="#272C33",
    text="#E9ECEF",
    secondary="#AEB6C0",
    disabled="#717A85",
    border="#6F7985",
    error="#FF8A80",
    selected="#3A424C",
    phases=dict(
        zip(PHASES, ("#F1A3FF", "#F0A020", "#FFF284", "#E0533A", "#4383D2", "#35BB8F", "#A3ACB8"), strict=True)
    ),
    other="#7A8490",
)
LIGHT = Scheme(
    window="#F3F5F7",
    panel="#FFFFFF",
    field="#E9EDF1",
    text="#16191D",
    secondary="#4E5862",
    disabled="#8A939D",
    border="#7B8590",
    error="#B3261E",
    selected="#D5DBE2",
    phases=dict(
        zip(PHASES, ("#B267B1", "#CC7A10", "#806701", "#7E1D0D", "#0753A5", "#0E8A66", "#68707B"), strict=True)
    ),
    other="#838C96",
)
ERROR_STYLE = "color: palette(bright-text);"
"""The style sheet of a text that says what is wrong: follows the theme."""


def is_dark() -> bool:
    """Whether windows are dark now."""
    return QGuiApplication.palette().color(QPalette.ColorRole.Window).lightness() < 128


def scheme() -> Scheme:
    """The colours of the theme that windows have now."""
    return DARK if is_dark() else LIGHT


def phase_color(name: str) -> QColor:
    """The colour of one of PHASES, or of OTHER (drawn hatched), in the theme that windows have now."""
    colors = scheme()
    return QColor(colors.other if name == OTHER else colors.phases[name])
