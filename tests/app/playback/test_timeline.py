"""The timeline: every rule of running, at both ends and both directions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.playback import timeline as t
from raygrove.app.playback.timeline import Span, Timeline, TimelineOptions
from raygrove.gpu.scene import Channel, Clip, Scene, Track

SPAN = Span(2.0, 10.0, (0.0, 0.5, 1.25, 2.0))
PLAYING = Timeline(time=1.5, is_playing=True)


def options(**changes: object) -> TimelineOptions:
    return dataclasses.replace(TimelineOptions(), **changes)  # type: ignore[arg-type]


def test_a_paused_head_stays() -> None:
    assert t.advance(Timeline(time=1.0), 5.0, SPAN, options()) == Timeline(time=1.0)


def test_real_time_follows_the_clock_at_its_speed() -> None:
    assert t.advance(PLAYING, 0.1, SPAN, options(speed=2.0)).time == pytest.approx(1.7)


def test_fixed_steps_ignore_the_clock() -> None:
    assert t.advance(PLAYING, 99.0, SPAN, options(step="fixed")).time == pytest.approx(1.6)


@pytest.mark.parametrize(
    ("repeat", "direction", "expected"),
    [
        ("loop", 1, (0.5, 1, True)),
        ("loop", -1, (1.5, -1, True)),
        ("once", 1, (2.0, 1, False)),
        ("once", -1, (0.0, -1, False)),
        ("ping-pong", 1, (1.5, -1, True)),
        ("ping-pong", -1, (0.5, 1, True)),
    ],
)
def test_what_happens_past_the_end(repeat: str, direction: int, expected: tuple[float, int, bool]) -> None:
    start = dataclasses.replace(PLAYING, time=1.5 if direction > 0 else 0.5, direction=direction)
    ended = t.advance(start, 1.0, SPAN, options(repeat=repeat))
    assert (pytest.approx(ended.time), ended.direction, ended.is_playing) == expected


@pytest.mark.parametrize("repeat", ["loop", "once", "ping-pong"])
def test_the_end_itself_belongs_to_the_animation(repeat: str) -> None:
    """The last frame of an export shows the last key; only what lies beyond the end is folded back."""
    assert t.frame_time(20, SPAN, repeat) == t.frame_time_at(2.0, SPAN, repeat) == 2.0
    assert t.frame_time(0, SPAN, repeat) == 0.0
    reached = t.advance(dataclasses.replace(PLAYING, time=1.5), 0.5, SPAN, options(repeat=repeat))
    assert (reached.time, reached.direction, reached.is_playing) == (2.0, 1, True)
    back = t.advance(dataclasses.replace(PLAYING, time=0.5, direction=-1), 0.5, SPAN, options(repeat=repeat))
    assert (back.time, back.direction, back.is_playing) == (0.0, -1, True)


def test_a_still_scene_stays_at_zero() -> None:
    assert t.advance(PLAYING, 1.0, Span(), options()).time == 0.0


@given(st.floats(-50.0, 50.0), st.sampled_from(["loop", "ping-pong", "once"]), st.sampled_from([1, -1]))
def test_the_head_never_leaves_the_span(seconds: float, repeat: str, direction: int) -> None:
    ended = t.advance(dataclasses.replace(PLAYING, direction=direction), abs(seconds), SPAN, options(repeat=repeat))
    assert 0.0 <= ended.time <= SPAN.duration


def test_play_starts_again_where_it_had_ended() -> None:
    assert t.play(Timeline(time=2.0), SPAN, options(repeat="once")) == Timeline(time=0.0, is_playing=True)
    assert t.play(Timeline(time=0.0, direction=-1), SPAN, options(repeat="once")).time == 2.0
    assert t.play(Timeline(time=2.0), SPAN, options()).time == 2.0


def test_reverse_and_pause() -> None:
    assert t.reverse(PLAYING).direction == -1
    assert not t.pause(PLAYING).is_playing


def test_stepping_goes_by_whole_frames_and_pauses() -> None:
    stepped = t.step(Timeline(time=0.52, is_playing=True), 1, SPAN, options())
    assert stepped.time == pytest.approx(0.6)
    assert not stepped.is_playing


def test_stepping_past_an_end_loops_or_stays() -> None:
    assert t.step(Timeline(time=2.0), 1, SPAN, options()).time == 0.0
    assert t.step(Timeline(time=2.0), 1, SPAN, options(repeat="once")).time == 2.0
    assert t.step(Timeline(time=0.0), -1, SPAN, options()).time == pytest.approx(2.0)


def test_keys_are_found_on_both_sides() -> None:
    assert t.next_key(Timeline(time=0.5), SPAN).time == 1.25
    assert t.previous_key(Timeline(time=0.5), SPAN).time == 0.0
    assert t.next_key(Timeline(time=2.0), SPAN).time == 2.0
    assert t.previous_key(Timeline(time=0.0), SPAN).time == 0.0


def test_first_and_last_and_scrubbing_stay_inside() -> None:
    assert t.first(PLAYING, SPAN).time == 0.0
    assert t.last(PLAYING, SPAN).time == 2.0
    assert t.scrub(PLAYING, 9.0, SPAN).time == 2.0
    assert t.scrub(PLAYING, -9.0, SPAN).time == 0.0


def test_frames_for_files_depend_on_their_number_only() -> None:
    assert [t.frame_time(n, SPAN) for n in (0, 5, 25)] == pytest.approx([0.0, 0.5, 0.5])
    assert t.frame_time(25, SPAN, "once") == 2.0
    assert t.frame_time(25, SPAN, "ping-pong") == pytest.approx(1.5)
    assert t.frame_time(25, Span()) == 0.0
    assert SPAN.frame_count == 21


def test_the_span_comes_from_the_scene() -> None:
    track = Track(np.array([0.0, 1.0, 3.0], np.float32), np.zeros((3, 3), np.float32))
    scene = Scene("moving", clips=(Clip("walk", 3.0, (Channel(0, "translation", track),)),), fps=24.0)
    span = t.span_of(scene, Timeline(), options())
    assert (span.duration, span.fps, span.key_times) == (3.0, 24.0, (0.0, 1.0, 3.0))
    assert t.span_of(scene, Timeline(), options(fps=60.0)).fps == 60.0
    assert t.span_of(None, Timeline(), options()) == Span()
    assert t.moment(Timeline(time=1.5), 7).frame_id == 7


def test_a_clip_is_meant_by_its_name_or_its_number() -> None:
    track = Track(np.array([0.0, 1.0], np.float32), np.zeros((2, 3), np.float32))
    clips = tuple(Clip(name, 1.0, (Channel(0, "translation", track),)) for name in ("walk", "run", "0"))
    scene = Scene("moving", clips=clips)
    assert [t.clip_named(scene, wanted) for wanted in ("", "walk", "run", "1", "0")] == [0, 0, 1, 1, 2]
    assert [t.clip_named(scene, wanted) for wanted in ("3", "-1", "jump")] == [None, None, None]
    assert t.clip_named(Scene("still"), "") == 0 and t.clip_named(Scene("still"), "0") is None
