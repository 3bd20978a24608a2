"""`bench suite --list`: the suites, their scenes, and what is taken for each; with --json for programs (the window asks
so)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from raygrove.app.export.tables import json_text
from raygrove.bench.suites import about_of, choices_of, suites, takes_own
from raygrove.bench.suites.scenes import SceneSource
from raygrove.bench.table import aligned

PACKED = ("", ".xz", ".gz", ".bz2")
"""Endings that a model of the folder of --data may have besides its own."""


def found(source: SceneSource, folder: str | None) -> Path | None:
    """The file of a model in the folder of --data, packed or not; None where it is not there."""
    wanted = source.file or source.body
    names = [Path(folder) / (wanted + packed) for packed in PACKED] if folder is not None else []
    return next((path for path in names if path.is_file()), None)


def listed(folder: str | None) -> list[dict[str, Any]]:
    """A suite an entry, with its scenes: `is_there` says whether a scene can be had."""
    return [
        {
            "suite": name,
            "about": " ".join(about_of(name).split("\n\n")[0].split()),
            "takes_own": takes_own(name),
            "scenes": [
                {
                    "name": choice.published,
                    "triangles": choice.published_triangles,
                    "taken": choice.name,
                    "relation": choice.relation,
                    "is_there": not (choice.source.file or choice.source.body)
                    or found(choice.source, folder) is not None,
                }
                for choice in choices_of(name)
            ],
        }
        for name in suites()
    ]


def show(folder: str | None, *, is_json: bool) -> int:
    """Print it."""
    rows = listed(folder)
    if is_json:
        print(json_text({"suites": rows}))
        return 0
    header = ("suite", "scene", "triangles", "taken here", "relation", "at hand")
    names = ("name", "triangles", "taken", "relation")
    print(
        aligned(
            header,
            [
                (
                    row["suite"],
                    *(scene[name] for name in names),
                    "yes" if scene["is_there"] else "no: name it by --data",
                )
                for row in rows
                for scene in row["scenes"]
            ],
        )
    )
    return 0
