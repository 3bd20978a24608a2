"""`info`: what is in a scene."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from app.cli_common import reference_from, settings_from
from app.export.tables import json_text
from app.opening import open_scene
from app.problems import UsageError
from app.scene_io import describe
from gpu.scene import Remark

if TYPE_CHECKING:
    from app.cli import Words

LISTED = 12
"""How many of a kind are listed before the rest is counted."""


def run(names: argparse.Namespace, words: Words) -> int:
    """Describe the scene on stdout; returns the exit code."""
    settings = settings_from(names, words)
    reference = reference_from(names, settings)
    if reference.kind == "none":
        raise UsageError("say which file: python main.py info FILE, or --demo NAME.")
    facts = describe(open_scene(reference, settings))
    print(json_text(facts) if names.json else shown(facts))
    return 0


def shown(facts: dict[str, Any]) -> str:
    """The facts as lines for a person: single values first, then the lists."""
    lines = [f"{key.replace('_', ' '):<14} {_value(value)}" for key, value in facts.items() if not _is_list(value)]
    for key, value in facts.items():
        if _is_list(value) and value:
            lines += ["", f"{key.replace('_', ' ')} ({len(value)})", *(f"  {_entry(one)}" for one in value[:LISTED])]
            lines += [f"  and {len(value) - LISTED} more"] if len(value) > LISTED else []
    return "\n".join(lines)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and (not value or isinstance(value[0], dict))


def _entry(entry: dict[str, Any]) -> str:
    if set(entry) == {"count", "sentence"}:
        return Remark(**entry).counted
    rest = ", ".join(f"{key.replace('_', ' ')} {_value(value)}" for key, value in entry.items() if key != "name" and value not in ("", 0, False))
    return f"{entry.get('name') or '(no name)'}: {rest}" if "name" in entry else rest


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    return " ".join(_value(one) for one in value) if isinstance(value, list | tuple) else str(value)
