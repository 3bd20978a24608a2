"""What a race is written as, by the ending of a file's name, or all of it into a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import Error
from .race import Race
from .race_page import page_of
from .race_plots import plots
from .race_tables import csv_of, latex_of
from .whole_file import whole_file

PLOT_ENDINGS = (".svg", ".pdf")
ENDINGS = (".json", ".csv", ".tex", ".html", *PLOT_ENDINGS)


def contents(race: Race, ending: str, command: str = "", about: dict[str, str] | None = None) -> bytes:
    """The bytes of a file; .svg and .pdf are the plot of costs. Raises Error for another ending."""
    if ending == ".svg":
        return plots(race)["costs"].svg().encode()
    if ending == ".pdf":
        return plots(race)["costs"].pdf()
    if ending not in ENDINGS:
        raise Error(f"a race is not written as {ending or 'a file without an ending'}", "race",
                    f"name a file that ends in {', '.join(ENDINGS)}")  # fmt: skip
    if ending == ".json":
        return (json.dumps(race.as_json(), indent=2) + "\n").encode()
    if ending == ".html":
        return page_of(race, command, about).encode()
    return (csv_of(race) if ending == ".csv" else latex_of(race)).encode()


def folder_of(race: Race, command: str = "", about: dict[str, str] | None = None) -> dict[str, bytes]:
    """All files of a folder by their names: tables, the page, and each plot as SVG and as PDF."""
    found = {f"race{ending}": contents(race, ending, command, about) for ending in (".json", ".csv", ".tex", ".html")}
    for name, plot in plots(race).items():
        found |= {f"{name}.svg": plot.svg().encode(), f"{name}.pdf": plot.pdf()}
    return found


def save(race: Race, path: str | os.PathLike[str], endings: Sequence[str] = ENDINGS) -> None:
    """Write one file, which appears whole or not at all. Raises Error for an ending that is none of those, OSError."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise Error(f"{os.fspath(path)} does not end in {' or '.join(endings)}", "race", "name such a file")
    data = contents(race, ending)
    with whole_file(path) as file:
        file.write(data)
