"""What a campaign found, kept as measurements are: PREFIX.json and PREFIX.txt (bench/results/README.md)."""

from __future__ import annotations

import argparse
from typing import Any

from raygrove.bench.arguments import OUT, UsageError
from raygrove.bench.context import context_of, heading
from raygrove.bench.saved import check_place, keep


def parsed(parser: argparse.ArgumentParser, arguments: list[str] | None) -> argparse.Namespace:
    """The arguments, with `--out PREFIX` among them, whose place is tried before anything begins."""
    OUT.add_to(parser)
    names = parser.parse_args(arguments)
    try:
        if names.out:
            check_place(names.out)
    except UsageError as error:
        parser.error(str(error))
    return names


def keep_found(prefix: str, content: dict[str, Any], lines: list[str], *, device: str = "cpu", seed: int = 0) -> None:
    """With a prefix, keep the lines for people and the content, with where they were made."""
    if not prefix:
        return
    about = context_of(device, seed=seed)
    keep(prefix, {"context": about, **content}, "\n".join([*heading(about), "", *lines]))
