"""The saved results: how a measurement writes them, and which file is the newest of its kind, on a kind of machine.
bench/results/README.md says how they are named."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from .arguments import UsageError
from .store.kept import NAME

RESULTS = pathlib.Path(__file__).parent / "results"
DEVICES = {"cuda": "h200", "host": "2cores"}
"""What files of a kind of target name as their device, or as the last part of it: epyc-2cores and xeon-2cores are two
cores of a processor."""


Content = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class OfOthers:
    """A bar, the target it is of, what its files are called, the command that measures it, and how the figure is read;
    None where it is not there."""

    kind: str
    what: str
    bar: float
    unit: str
    file: str
    command: str
    read: Callable[[Content], float | None]
    at_most: bool = True


def check_place(prefix: str) -> None:
    """Make the folder of PREFIX and a file in it that is gone at once: before anything is measured. Raises UsageError
    where that cannot be done."""
    folder = pathlib.Path(prefix).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UsageError(f"--out {prefix}: nothing can be written there ({error.strerror}).") from error


def keep(prefix: str, content: dict[str, Any], text: str) -> None:
    """Write PREFIX.json and PREFIX.txt; nothing where the prefix is empty."""
    if prefix:
        pathlib.Path(prefix).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(f"{prefix}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        pathlib.Path(f"{prefix}.txt").write_text(text.rstrip("\n") + "\n", encoding="utf-8")


@dataclasses.dataclass(frozen=True)
class SavedResult:
    """A saved file: its name without the ending, when it was made, and what it holds."""

    name: str
    date: str
    content: dict[str, Any]

    @property
    def place(self) -> str:
        """How tables name it: the file, and the commit that was measured where it is known."""
        commit = str(self.content.get("context", {}).get("commit") or "")[:7]
        return f"{self.name} ({commit})" if commit else self.name


def saved(device: str, what: str, folder: pathlib.Path = RESULTS) -> list[SavedResult]:
    """The files of one kind from one device, the newest first."""
    found = []
    for path, match in _named(device, what, "json", folder):
        content = json.loads(path.read_text(encoding="utf-8"))
        date = str(content.get("context", {}).get("date") or content.get("date") or match["date"])
        found.append((date, match["letter"] or "", SavedResult(path.stem, date, content)))
    return [one for *_, one in sorted(found, key=lambda row: row[:2], reverse=True)]


def _named(device: str, what: str, ending: str, folder: pathlib.Path) -> Iterator[tuple[pathlib.Path, re.Match[str]]]:
    """Files of one kind from a device, and how their names are read."""
    for path in folder.glob(f"*{device}-*-{what}.{ending}"):
        match = NAME.fullmatch(path.stem)
        if match and match["what"] == what and f"-{match['device']}".endswith(f"-{device}"):
            yield path, match


def newest(device: str, what: str, folder: pathlib.Path = RESULTS) -> SavedResult | None:
    """The newest of them; None where there is none."""
    return next(iter(saved(device, what, folder)), None)


def newest_policy(device: str, folder: pathlib.Path = RESULTS) -> SavedResult | None:
    """The newest table of `bench policy`, which is saved as text: `ratios` of `auto` over the better fixed choice by
    scene."""
    found = []
    for path, match in _named(device, "policy", "txt", folder):
        text = path.read_text(encoding="utf-8")
        head = dict(re.findall(r"^(commit|date): (\S+)$", text, re.MULTILINE))
        ratios = {scene: float(ratio) for scene, ratio in re.findall(r"^(\S.*): ([\d.]+)$", text, re.MULTILINE)}
        date = str(head.get("date") or match["date"])
        content = {"context": {"commit": head.get("commit", "")}, "ratios": ratios}
        found.append((date, match["letter"] or "", SavedResult(path.stem, date, content)))
    return max(found, key=lambda row: row[:2])[-1] if found else None
