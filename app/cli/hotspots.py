"""`hotspots`: where the rays of a picture, or of the frames of a clip, spend their steps, and what may help."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

from raygrove.app.cli.cameras import looked_through
from raygrove.app.cli.common import check_attributes, scene_from, settings_from, state_from, target_from
from raygrove.app.cli.render import frames_of
from raygrove.app.export.tables import json_text, text_table
from raygrove.app.frames.hot_clips import hot_spots_in
from raygrove.app.problems.problems import UsageError, plain_errors_are_usage
from raygrove.app.settings.ray_options import measures_others
from raygrove.gpu.analysis.hot_clip import ClipSpots
from raygrove.gpu.analysis.hot_spots import HotSpots, Spot, remedy_sentence
from raygrove.gpu.brief import filled
from raygrove.printable import printable_lines

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

MOST_LINES, MOST_FRAMES = 20, 1000
COLUMNS = ("name", "share", "visits", "missed", "box_tests", "tests", "hits", "depth", "size")


def run(names: argparse.Namespace, words: Words) -> int:
    """Draw, count, and print the lines that cost most, with what they mean."""
    settings = settings_from(names, words)
    reference, scene = scene_from(names, settings, words)
    state = looked_through(names, state_from(names, settings, reference, scene), scene)
    check_attributes(state.settings, scene)
    frames = frames_of(names, scene, state)
    if len(frames) > MOST_FRAMES:
        raise UsageError(f"--frames: hot spots are of up to {MOST_FRAMES:,} frames, and these are {len(frames):,}.")
    if names.only and measures_others(state.settings.rays):
        others = f"rays.measured = {state.settings.rays.measured} (or --rays)"
        raise UsageError(f"--only {names.only}: it chooses among a picture's rays, and {others} has others counted.")
    options = state.settings.hot_spots
    asked = (names.only or options.rays, names.hits or options.kind)
    by = names.by or (options.by if len(frames) == 1 or options.by != "node" else "depth")
    most = names.most or MOST_LINES
    with plain_errors_are_usage():
        clip = ClipSpots(by) if len(frames) > 1 else None
        with contextlib.ExitStack() as stack:
            target = stack.enter_context(contextlib.closing(target_from(state.settings, words)))
            drawn = hot_spots_in(target, scene, state, frames, *asked, remedies=names.remedies)
            for (number, _), found in zip(frames, stack.enter_context(contextlib.closing(drawn)), strict=True):
                if clip is not None:
                    clip.add(number, found)
        spots = found.top(most, by) if clip is None else clip.top(most)
    counted = state.settings.rays.measured if measures_others(state.settings.rays) else asked[0]
    about = {"configuration": found.configuration, "rays": counted, "kind": found.kind}
    _tell(names, _of_frame(about, frames[0][0], found) if clip is None else _of_clip(about, clip), spots)
    return 0


def _of_frame(about: dict[str, str], number: int, found: HotSpots) -> tuple[dict[str, Any], list[str]]:
    """What is told of a frame beside its lines: as data, and in words."""
    visits, tests, boxes = (int(getattr(found, of).sum()) for of in ("visits", "tests", "box_tests"))
    counts = {"frame": number, "ray_count": found.counts.rays, "visits": visits, "tests": tests, "box_tests": boxes}
    facts = {**about, **counts, "findings": [dataclasses.asdict(one) for one in found.findings]}
    said = "{rays:,} rays, {visits:,} visits, {tests:,} primitives tested."
    head = f"{about['configuration']}: {filled(said, rays=found.counts.rays, visits=visits, tests=tests)}"
    return facts, [head, *(f"{one.sentence} {remedy_sentence(one)}" for one in found.findings)]


def _of_clip(about: dict[str, str], clip: ClipSpots) -> tuple[dict[str, Any], list[str]]:
    """The same of several."""
    frames = clip.frames
    place, most, mean = clip.dearest
    number = frames[place].frame
    visits, tests = (sum(getattr(one, of) for one in frames) for of in ("visits", "tests"))
    counted = "{count} frames, {visits:,} visits, {tests:,} primitives tested."
    head = f"{about['configuration']}: {filled(counted, count=len(frames), visits=visits, tests=tests)}"
    said = f"Frame {number} costs most: {most:.1f} per ray, the mean is {mean:.1f}"
    facts = {**about, "by": clip.by, "frames": [one._asdict() for one in frames]}
    return facts, [head, f"{said}; --frames {number}:{number + 1} says what may help there."]


def _tell(names: argparse.Namespace, told: tuple[dict[str, Any], list[str]], spots: tuple[Spot, ...]) -> None:
    facts, sentences = told
    rows = [dataclasses.asdict(spot) for spot in spots]
    if names.json:
        print(json_text({**facts, "spots": rows}))
        return
    shown = [column for column in COLUMNS if any(row[column] is not None for row in rows)]
    print(printable_lines("\n".join([text_table(rows, shown), "", *sentences])))
