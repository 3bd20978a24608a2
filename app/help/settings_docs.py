"""docs/settings.md from the options' dataclasses: `python -m raygrove.app.help.settings_docs` writes it, and a test
demands that it is up to date."""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Any

from raygrove import checkout
from raygrove.app.edits.scene_edits import EDITED
from raygrove.app.settings.flags import KEY_FLAGS
from raygrove.app.settings.settings import Settings, option_field, option_groups
from raygrove.gpu.settings import OptionField, fields_of

PATH = Path(__file__).resolve().parents[2] / "docs" / "settings.md"

MORE_FLAGS = {"render.width": "--size", "render.height": "--size", "render.seed": "--seed", "demo.seed": "--seed"}
"""Flags that set more than one key."""

HEAD = """# Settings

Every setting of the program, as the settings dialog, the settings file and the command line know it. This page is
made from the options' dataclasses by `python -m raygrove.app.help.settings_docs`; edit those, not this.

![The settings dialog: pages on the left, the settings of one of them beside it](images/guide/settings.png)

A setting has one name everywhere: `width` in the table `[render]` of a settings file is `--set render.width=640` on
the command line, and Width on the page Render of the dialog. Some have a flag of their own. What is said later counts
more:

1. the built-in values below,
2. the user's file, `settings.toml` in the user's configuration folder (`~/.config/raygrove` on Linux): a wrong entry
   in it is said with its line and left out, the rest counts; the program keeps its comments and unknown keys when it
   saves; `--preset NAME` stands in its place: a preset of yours, or one of a paper's form
   (`published/meister2014/hlbvh_sah`; **Presets > As published** lists them, and the statistics say which is in force),
3. the file of `--settings FILE`: TOML, or a [file in Meister's form](meister-env.md),
4. the command line.

**Save as defaults** in the dialog writes into the user's file what differs from the built-in values; what only
this start's command line said is left out. `--print-settings` prints what a command would use. **Presets** are files
of the same form in the folder `presets` beside the user's file; one that somebody gave is opened by **Presets > Open
a file** and changes no limit of imports. Structures and ray types have tables of their own, `[hierarchy.NAME]` and
`[ray_type.NAME]`; all of them are kept, whichever is in use. What was changed of a scene's materials and lights is in
`[material.NAME]` and `[light.NAME]`, by the names that the panels Materials and Lights show with _ for what is no
letter; scenes without such a name take no notice. The table `[meister]` keeps what a file in Meister's form says that
nothing stands for yet.
"""


def text() -> str:
    """The page."""
    parts = [HEAD]
    named = ((f"{group}.NAME", kind()) for group, kind in EDITED.items())
    for table, options in (*option_groups(Settings()), *named):
        if options is None or not fields_of(options):
            continue
        parts.append(f"\n## [{table}]\n\n{_first_line(options)}\n\n")
        parts.append("| Key | Type | Default | Range | What it does | Flag |\n|---|---|---|---|---|---|\n")
        parts += [_row(table, field) for field in fields_of(options)]
    return "".join(parts)


def flag_of(key: str) -> str:
    """The flag that sets a key, where there is one."""
    return KEY_FLAGS.get(key, MORE_FLAGS.get(key, ""))


def _row(table: str, plain: OptionField) -> str:
    key = f"{table}.{plain.name}"
    field = option_field(key)
    flag = flag_of(key)
    cells = (
        f"`{plain.name}`",
        _type(field.type),
        f"`{_value(field.default)}`",
        _range(field),
        field.info.sentence,
        f"`{flag}`" if flag else "",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _type(kind: Any) -> str:
    names = {bool: "true or false", int: "whole number", float: "number", str: "text"}
    return names[kind] if kind in names else f"{len(typing.get_args(kind))} numbers"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return (
        {True: "true", False: "false"}[value]
        if isinstance(value, bool)
        else f'"{value}"'
        if isinstance(value, str)
        else str(value)
    )


def _range(field: OptionField) -> str:
    """What is allowed, without the type that has a column of its own."""
    if field.info.choices:
        return ", ".join(f"`{choice}`" for choice in field.info.choices)
    allowed = field.allowed()
    for noun in (
        "a whole number",
        "a number",
        "true or false",
        "a text",
        f"{len(typing.get_args(field.type))} numbers",
    ):
        allowed = allowed.removeprefix(noun)
    return allowed.strip().removeprefix("of ")


def _first_line(options: Any) -> str:
    return (type(options).__doc__ or "").strip().split("\n")[0]


if __name__ == "__main__":
    checkout.demand("Writing docs/settings.md")
    PATH.write_text(text(), encoding="utf-8")
