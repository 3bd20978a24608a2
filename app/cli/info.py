"""`info`: what is in a scene."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from raygrove.app.cli.common import reference_from, settings_from
from raygrove.app.document.opening import open_scene
from raygrove.app.export.tables import json_text
from raygrove.app.problems.problems import UsageError
from raygrove.app.scene_io.describe import describe
from raygrove.app.settings.flags import ways_of
from raygrove.gpu.scene import Remark
from raygrove.printable import printable_lines
from raygrove.program import typed

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

LISTED = 12
"""How many of a kind are listed before the rest is counted."""


def run(names: argparse.Namespace, words: Words) -> int:
    """Describe the scene on stdout; returns the exit code."""
    settings = settings_from(names, words)
    reference = reference_from(names, settings)
    if reference.kind == "none":
        raise UsageError(f"say which file: {typed()} info FILE, or --demo NAME.")
    facts = describe(open_scene(reference, settings), settings.gravity)
    print(json_text(facts) if names.json else printable_lines(format_facts(facts)))
    return 0


def format_facts(facts: dict[str, Any]) -> str:
    """The facts as lines for a person: single values first, then the lists."""
    single = {key: _value(value) for key, value in facts.items() if not _is_list(value)}
    lines = [f"{key.replace('_', ' '):<14} {text}" for key, text in single.items() if text]
    for key, value in facts.items():
        if _is_list(value) and value:
            lines += ["", f"{key.replace('_', ' ')} ({len(value)})", *(f"  {_entry(one)}" for one in value[:LISTED])]
            lines += [f"  and {len(value) - LISTED} more"] if len(value) > LISTED else []
    return "\n".join(lines)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and (not value or isinstance(value[0], dict))


def _entry(entry: dict[str, Any]) -> str:
    if {"count", "sentence"} <= set(entry):
        ways = f" ({ways_of(entry['setting'])})" if "setting" in entry else ""
        return Remark(**entry).counted + ways
    said = {key: _value(value) for key, value in entry.items() if key != "name" and value not in ("", 0, False)}
    rest = ", ".join(f"{key.replace('_', ' ')} {text}" for key, text in said.items() if text)
    return f"{entry.get('name') or '(no name)'}: {rest}" if "name" in entry else rest


def _named(entry: dict[str, Any]) -> str:
    """An entry within another one: its name and unit, and in brackets what else is known."""
    unit = f" [{entry['unit']}]" if entry.get("unit") else ""
    shape = " x ".join(_value(side) for side in entry.get("shape", ()))
    known = [f"{key} {_value(entry[key])}" for key in ("lower", "upper", "missing") if entry.get(key, 0) != 0]
    return f"{entry.get('name') or '(no name)'}{unit} ({', '.join([shape, *known])})"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return _named(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "; ".join(_value(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return " ".join(text for one in value if (text := _value(one)))
    return "" if value is None else str(value)
