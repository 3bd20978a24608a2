"""`--print-settings`: the settings that a command would use, as TOML on stdout."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from raygrove.app.cli.common import settings_from
from raygrove.app.scene_io import is_picture
from raygrove.app.settings.file import settings_text

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """Print what differs from the built-in values; returns the exit code. A picture with its state brings settings of
    its own, as where it is drawn again."""
    settings = settings_from(names, words)
    if names.command in ("render", "view") and is_picture(names.files) and names.demo is None:
        from raygrove.app.cli.render import state_of_picture  # pictures alone need what it imports

        settings = state_of_picture(names, settings, words).settings
    text = settings_text(settings)
    print(text or "# Everything is at its built-in value.", end="" if text else "\n")
    return 0
