"""Bars of reliability: what the campaigns of the tests found, and how long files of very many things take to open."""

from __future__ import annotations

from .saved import Content, OfOthers

DAMAGED, KILLS, HOUR = 6_000, 50, 60.0
"""Damaged files, kills for each engine and minutes of a soak that the bars are of: a shorter run is no figure."""
SOAKS = {
    "without a window": ("soak", "python -m tests.campaign.soak"),
    "at a window": ("window-soak", "python -m tests.app.ui.window_soak"),
}


def _dearest(content: Content) -> float | None:
    """Processor seconds of the dearest kind."""
    return max((row["both"] for row in content["results"] if row["count"] >= 100_000), default=None)


def _caught(content: Content) -> float | None:
    """The share of all faults that are kept; a run of some of them, by name or as time allowed, is no figure."""
    caught = [row["caught"] for row in content["results"]]
    flags = {word.partition("=")[0] for word in content["context"]["command"]}
    is_whole = bool(caught) and flags.isdisjoint(("--only", "--minutes"))
    return sum(caught) / len(caught) if is_whole else None


def _wrong(content: Content) -> float | None:
    outcomes = ("value", "sentence", "crash in the child", "finding")
    tried = sum(row[outcome] for row in content["results"] for outcome in outcomes)
    return float(sum(row["finding"] for row in content["results"])) if tried >= DAMAGED else None


def _growth(content: Content) -> float | None:
    """Memory at the last look over that at the first; without pages of files, too, where those were told apart."""
    first, last = (content["results"][place]["taken"] for place in (0, -1))
    growth = max(last[key] / first[key] for key in ("MiB", "own MiB") if key in first)
    return float(growth) if content["minutes"] >= HOUR else None


def _beyond(content: Content) -> float | None:
    """GiB that the file which takes the most takes beyond a plain triangle."""
    is_whole = "--only" not in content["context"]["command"]
    return (max(row["mib"] for row in content["results"]) - content["plain_mib"]) / 1024 if is_whole else None


def _lost(content: Content) -> float | None:
    is_whole = min(row["kills"] for row in content["results"]) >= KILLS
    return float(sum(len(row["findings"]) for row in content["results"])) if is_whole else None


RELIABILITY = (
    OfOthers("host", "100,000 meshes, channels, clips or instances opened", 5.0, "s", "many",
             "python -m raygrove.bench many", _dearest),
    OfOthers("host", "planted faults that tests find", 0.95, "share", "mutants",
             "python -m raygrove.bench mutants", _caught, at_most=False),
    OfOthers("host", "crashes, hangs and wrong outcomes in 6,000 damaged files", 0.0, "files", "damaged-files",
             "python -m tests.campaign", _wrong),
    *(
        OfOthers("host", f"memory after an hour's soak {where} over that after a minute", 1.02, "times", file, command,
                 _growth)
        for where, (file, command) in SOAKS.items()
    ),
    OfOthers("host", "memory that a hostile file takes beyond its honest reading", 1.0, "GiB", "hostile",
             "python -m tests.campaign.hostile", _beyond),
    OfOthers("host", "results lost or wrong after 50 kills", 0.0, "results", "kills",
             "python -m tests.campaign.kills --engines local,dask", _lost),
)  # fmt: skip
