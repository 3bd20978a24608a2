"""`--print-settings`: the settings that a command would use, as TOML on stdout."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from raygrove.app.cli.common import settings_from
from raygrove.app.settings.file import settings_text

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """Print what differs from the built-in values; returns the exit code."""
    text = settings_text(settings_from(names, words))
    print(text or "# Everything is at its built-in value.", end="" if text else "\n")
    return 0
