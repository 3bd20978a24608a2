"""`doctor`: what this machine can do, as a report to paste."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from raygrove.app.export.tables import json_text
from raygrove.app.system.doctor import examine, report

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """Print the report; the exit code is 0 even where something is missing: the report is what was asked for."""
    findings = examine()
    print(json_text({"findings": findings}) if names.json else report(findings))
    bad = sum(finding.is_good is False for finding in findings)
    words.say(
        "Everything needed is there." if not bad else f"{bad} thing{'s' if bad > 1 else ''} to look at, marked FAIL."
    )
    return 0
