"""The timeline: from seconds that pass to the moment that is drawn. Pure functions on plain values.

`Timeline` is where the playing head stands, `TimelineOptions` how it runs, `Span` what the scene offers: its duration,
frame rate and keys. A still scene has a span of 0 seconds: its head stays at 0.
"""

from __future__ import annotations

import bisect
import dataclasses
import math

from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.settings import option

DEFAULT_FPS = 30.0


@dataclasses.dataclass(frozen=True)
class TimelineOptions:
    """How the animation plays."""

    fps: float = option(
        0.0,
        "Frames per second of the animation; 0 takes the file's, or 30.",
        minimum=0.0,
        maximum=1000.0,
        unit="frames/s",
        least="automatic",
    )
    speed: float = option(1.0, "Playing speed; 1 is real time.", minimum=0.01, maximum=100.0)
    repeat: str = option(
        "loop", "What happens at the end: start again, turn round, or stop.", choices=("loop", "ping-pong", "once")
    )
    step: str = option(
        "real-time", "Follow the clock, or show every frame however long it takes.", choices=("real-time", "fixed")
    )
    autoplay: bool = option(True, "Play an animated scene as soon as it is open.")
    clip: str = option("", "The clip that a scene begins with: its name, or its number from 0; empty takes the first.")


@dataclasses.dataclass(frozen=True)
class Timeline:
    """The playing head: `time` in seconds, `direction` +1 or -1, `clip` the index of the scene's clip."""

    time: float = 0.0
    is_playing: bool = False
    direction: int = 1
    clip: int = 0


@dataclasses.dataclass(frozen=True)
class Span:
    """What the scene offers to the timeline: seconds, frames per second, the times of the key frames in ascending
    order."""

    duration: float = 0.0
    fps: float = DEFAULT_FPS
    key_times: tuple[float, ...] = ()

    @property
    def frame_count(self) -> int:
        """Frames from the first instant to the last, at least 1."""
        return int(math.floor(self.duration * self.fps + 1e-6)) + 1


def clip_named(scene: Scene, wanted: str) -> int | None:
    """The index of the clip that `timeline.clip` means: by name, else by number; the first for an empty text. None
    where the scene has none such."""
    if not wanted:
        return 0
    by_name = [index for index, clip in enumerate(scene.clips) if clip.name == wanted]
    by_number = [index for index in range(len(scene.clips)) if str(index) == wanted]
    return next(iter(by_name + by_number), None)


def span_of(scene: Scene | None, timeline: Timeline, options: TimelineOptions) -> Span:
    """The span of a scene's clip."""
    if scene is None:
        return Span(fps=options.fps or DEFAULT_FPS)
    keys = tuple(float(t) for t in scene.key_times(timeline.clip))
    return Span(scene.duration(timeline.clip), options.fps or scene.fps or DEFAULT_FPS, keys)


def advance(timeline: Timeline, seconds: float, span: Span, options: TimelineOptions) -> Timeline:
    """The timeline after `seconds` of wall-clock time; with fixed steps every call is one frame, however long it
    took."""
    if not timeline.is_playing:
        return timeline
    if span.duration <= 0.0:
        return dataclasses.replace(timeline, time=0.0)
    passed = 1.0 / span.fps if options.step == "fixed" else max(seconds, 0.0)
    return _folded(timeline, timeline.time + timeline.direction * passed * options.speed, span, options.repeat)


def _folded(timeline: Timeline, time: float, span: Span, repeat: str) -> Timeline:
    """`time` brought back into the span, by the rule of what happens at its ends."""
    end, inside = span.duration, _inside(time, span.duration, repeat)
    if 0.0 <= time <= end or repeat == "loop":
        return dataclasses.replace(timeline, time=inside)
    if repeat == "once":
        return dataclasses.replace(timeline, time=inside, is_playing=False)
    turned = int(math.floor(time / end)) % 2 != 0
    return dataclasses.replace(timeline, time=inside, direction=-timeline.direction if turned else timeline.direction)


def _inside(time: float, end: float, repeat: str) -> float:
    """`time` brought back to between 0 and `end`. An export asks for a hundred thousand of them."""
    if 0.0 <= time <= end:
        return time
    if repeat == "loop":
        return time % end
    if repeat == "once":
        return min(max(time, 0.0), end)
    period = time % (2.0 * end)
    return 2.0 * end - period if period > end else period


def play(timeline: Timeline, span: Span, options: TimelineOptions) -> Timeline:
    """Start playing; a run that stopped at its end starts again from the other end."""
    time = timeline.time
    if options.repeat == "once" and timeline.direction > 0 and time >= span.duration:
        time = 0.0
    elif options.repeat == "once" and timeline.direction < 0 and time <= 0.0:
        time = span.duration
    return dataclasses.replace(timeline, time=time, is_playing=True)


def pause(timeline: Timeline) -> Timeline:
    """Stop where the head stands."""
    return dataclasses.replace(timeline, is_playing=False)


def reverse(timeline: Timeline) -> Timeline:
    """Turn the direction of play round."""
    return dataclasses.replace(timeline, direction=-timeline.direction)


def scrub(timeline: Timeline, time: float, span: Span) -> Timeline:
    """Put the head at `time`, kept inside the span."""
    return dataclasses.replace(timeline, time=min(max(time, 0.0), span.duration))


def step(timeline: Timeline, frames: int, span: Span, options: TimelineOptions) -> Timeline:
    """Pause, then move by whole frames; stepping past an end goes round where the animation loops, else it stays at the
    end."""
    target = frame_of(timeline, span) + frames
    if options.repeat == "loop" and span.frame_count > 1:
        target %= span.frame_count
    return scrub(pause(timeline), target / span.fps, span)


def frame_of(timeline: Timeline, span: Span) -> int:
    """The number of the frame nearest to the head."""
    return int(round(timeline.time * span.fps))


def first(timeline: Timeline, span: Span) -> Timeline:
    """To the first instant."""
    return scrub(timeline, 0.0, span)


def last(timeline: Timeline, span: Span) -> Timeline:
    """To the last instant."""
    return scrub(timeline, span.duration, span)


def next_key(timeline: Timeline, span: Span) -> Timeline:
    """To the next key frame after the head; stays where there is none."""
    index = bisect.bisect_right(span.key_times, timeline.time + 1e-6)
    return scrub(pause(timeline), span.key_times[index], span) if index < len(span.key_times) else pause(timeline)


def previous_key(timeline: Timeline, span: Span) -> Timeline:
    """To the key frame before the head; stays where there is none."""
    index = bisect.bisect_left(span.key_times, timeline.time - 1e-6) - 1
    return scrub(pause(timeline), span.key_times[index], span) if index >= 0 else pause(timeline)


def frame_time(frame: int, span: Span, repeat: str = "loop") -> float:
    """The time of a numbered frame, for files."""
    return frame_time_at(frame / span.fps, span, repeat)


def frame_time_at(seconds: float, span: Span, repeat: str = "loop") -> float:
    """`seconds` since the beginning as a time of the animation: beyond the end it is folded back by the rule of
    repeating."""
    return _inside(seconds, span.duration, repeat) if span.duration > 0.0 else 0.0


def moment(timeline: Timeline, frame_id: int = 0) -> Moment:
    """What the engine draws."""
    return Moment(timeline.time, timeline.clip, frame_id)
