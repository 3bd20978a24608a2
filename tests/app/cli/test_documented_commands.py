"""Every command that README and the guide give can be typed: its flags are there, and go together."""

from __future__ import annotations

import pathlib
import re
import shlex

import pytest

from raygrove.app.cli.arguments import parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
TYPED = re.compile(r"^\s*(?:\S*python (?:main\.py|-m raygrove)|raygrove)(?= )(?P<words>.*)$")


def commands() -> list[str]:
    """What stands behind the program's name in the blocks of commands, without comments and pipes."""
    found = []
    for page in ("README.md", "docs/guide.md"):
        text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
        for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S):
            for match in filter(None, map(TYPED.match, block.splitlines())):
                words = shlex.split(match["words"], comments=True)
                ends = [place for place, word in enumerate(words) if word in (">", "|", "&&", ";")]
                found.append(shlex.join(words[: min(ends, default=len(words))]))
    return [command for command in found if "--completion" not in command]


def test_there_are_commands() -> None:
    assert len(commands()) > 30


@pytest.mark.parametrize("command", commands())
def test_it_can_be_typed(command: str) -> None:
    try:
        parse(shlex.split(command), "1")
    except SystemExit as leaving:
        assert not leaving.code, command
