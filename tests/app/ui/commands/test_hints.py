"""Every command says what it does."""

from __future__ import annotations

from raygrove.app.ui.commands.hints import HINTS
from raygrove.app.ui.window.main_window import MainWindow


def test_every_command_has_a_sentence_for_the_status_bar(window: MainWindow) -> None:
    for name, action in window.commands.actions.items():
        assert action.statusTip(), name
    assert set(HINTS) <= set(window.commands.actions), "no sentence stands for nothing"
    assert window.commands.actions["view.dock.heat"].statusTip() == "Show or hide the panel Heat map."
