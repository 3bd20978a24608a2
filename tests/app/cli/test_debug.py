"""What --debug changes beside what is said of an error."""

from __future__ import annotations

import pytest

from raygrove.app.cli.arguments import parse
from raygrove.app.cli.common import settings_of_flags
from raygrove.app.settings.settings import Settings


@pytest.mark.parametrize(
    ("arguments", "checks"),
    [
        (["render", "--demo", "walker"], False),
        (["render", "--demo", "walker", "--debug"], True),
        (["--debug", "view", "--demo", "walker"], True),
        (["render", "--demo", "walker", "--debug", "--set", "device.checks=false"], False),
        (["bench", "trace", "--demo", "walker", "--debug"], False),
        (["bench", "suite", "bvh", "--debug"], False),
    ],
)
def test_kernels_check_themselves_but_where_they_are_measured(arguments: list[str], checks: bool) -> None:
    assert settings_of_flags(parse(arguments, "0"), Settings()).device.checks is checks
