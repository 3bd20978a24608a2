"""The table of workspaces, which the window is arranged by."""

from __future__ import annotations

import pytest

from raygrove.app.settings.settings import Settings, option_field, set_text
from raygrove.app.settings.workspaces import FIRST, WORKSPACES
from raygrove.gpu.settings import OptionError


def test_each_workspace_shows_something_once_and_has_a_key_of_its_own() -> None:
    for name, workspace in WORKSPACES.items():
        assert workspace.panels and len(set(workspace.panels)) == len(workspace.panels), name
        assert workspace.sentence.endswith(".") and workspace.title == name.capitalize()
    assert len({workspace.key for workspace in WORKSPACES.values()}) == len(WORKSPACES)


def test_the_setting_offers_those_that_there_are_and_no_other() -> None:
    assert option_field("window.workspace").info.choices == tuple(WORKSPACES)
    assert Settings().window.workspace == FIRST == next(iter(WORKSPACES))
    assert set_text(Settings(), "window.workspace", "inspect").window.workspace == "inspect"
    with pytest.raises(OptionError, match=r"workspace.*explore"):
        set_text(Settings(), "window.workspace", "kitchen")
