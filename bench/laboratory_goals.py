"""Bars of the laboratory and of the library that `bench laboratory` and `bench worlds` measure."""

from __future__ import annotations

from collections.abc import Callable

from .saved import Content, OfOthers

COMMAND = "python -m raygrove.bench laboratory"
WORLDS = "python -m raygrove.bench worlds"
HOST_LIBRARY = f"{WORLDS} --device cpu --parts face,first"


def _worst(what: str) -> Callable[[Content], float | None]:
    """The largest of the figures of a kind."""

    def read(content: Content) -> float | None:
        return max((row["figure"] for row in content["results"] if row["what"] == what), default=None)

    return read


def _least(what: str) -> Callable[[Content], float | None]:
    """The smallest of them."""

    def read(content: Content) -> float | None:
        return min((row["figure"] for row in content["results"] if row["what"] == what), default=None)

    return read


def _row(case: str, spelt: str = "") -> Callable[[Content], dict[str, float]]:
    def read(content: Content) -> dict[str, float]:
        rows = [row for row in content["results"] if row["case"] == case and spelt in row.get("configuration", "")]
        return max(rows, key=lambda row: row.get("worlds", 0)) if rows else {}

    return read


def _added_us(content: Content) -> float | None:
    """Microseconds that a call of the library takes beyond the engine's own launches."""
    row = _row("face")(content)
    return row["call_us"] - row["engine_us"] if row else None


def _face_over(content: Content) -> float | None:
    """Rays through the library over those through the tracer's own buffers, in time."""
    row = _row("face")(content)
    return 1.0 / row["ratio"] if row else None


def _over_filter(content: Content) -> float | None:
    """Steps of as many worlds by a tree a group and by one tree that filters."""
    filtered = _row("filter")(content)
    grouped = [
        row["step_ms"]
        for row in content["results"]
        if row["case"] == "groups" and row["worlds"] == filtered.get("worlds")
    ]
    return grouped[0] / filtered["step_ms"] if grouped else None


LABORATORY = (
    OfOthers("cuda", "race over the sum of its parts", 1.03, "times", "laboratory", COMMAND,
             _worst("race over its parts")),
    OfOthers("cuda", "hot spots of a frame over its trace, the worst", 3.0, "times", "laboratory", COMMAND,
             _worst("hot spots over trace")),
    OfOthers("cuda", "hot spots of a frame, counted and listed, the worst", 5.0, "ms", "laboratory", COMMAND,
             _worst("hot spots, counted and listed")),
    OfOthers("cuda", "validation of 10M nodes", 0.1, "s", "laboratory", COMMAND, _worst("validation")),
    OfOthers("cuda", "tree browser, 10M nodes opened", 0.3, "s", "laboratory", COMMAND, _worst("tree browser, opened")),
    OfOthers("cuda", "tree browser, a page of a tree of 10M nodes", 1000.0 / 60.0, "ms", "laboratory", COMMAND,
             _worst("tree browser, a page")),
    OfOthers("cuda", "what a call of the library adds to the engine's launches", 20.0, "us", "worlds", WORLDS,
             _added_us),
    OfOthers("cuda", "tracing 1M rays from arrays on the device over the tracer's own figure", 1.03, "times", "worlds",
             WORLDS, _face_over),
    OfOthers("host", "rays a second of the library over the tracer's own figure", 0.95, "times", "worlds",
             HOST_LIBRARY, lambda content: _row("face")(content).get("ratio"), at_most=False),
    OfOthers("host", "first call of the library, warm cache", 0.5, "s", "worlds", HOST_LIBRARY,
             lambda content: _row("first call")(content).get("seconds")),
    OfOthers("cuda", "update and trace of many worlds", 4.0, "ms", "worlds", WORLDS,
             lambda content: _row("groups")(content).get("step_ms")),
    OfOthers("cuda", "update and trace of many worlds over one tree that filters", 1.0, "times", "worlds", WORLDS,
             _over_filter),
    OfOthers("host", "hot spots of a frame over its trace, the worst", 3.0, "times", "laboratory", COMMAND,
             _worst("hot spots over trace")),
    OfOthers("host", "a step of the ray debugger at 1M triangles", 50.0, "ms", "laboratory", COMMAND,
             _worst("ray debugger")),
    OfOthers("host", "validation of 10M nodes", 5.0, "s", "laboratory", COMMAND, _worst("validation")),
    OfOthers("host", "tree browser, 10M nodes opened", 0.3, "s", "laboratory", COMMAND, _worst("tree browser, opened")),
    OfOthers("host", "tree browser, a page of a tree of 10M nodes", 1000.0 / 60.0, "ms", "laboratory", COMMAND,
             _worst("tree browser, a page")),
    OfOthers("host", "race of 4 on orbit, 512x384 each, without a window", 10.0, "frames/s", "laboratory", COMMAND,
             _least("race of 4"), at_most=False),
    OfOthers("host", "advisor on 100 frames of 100,000 triangles", 20.0, "s", "laboratory", COMMAND,
             _worst("advice")),
)  # fmt: skip
