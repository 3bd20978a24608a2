"""Which pictures of paths the window filters: whole samples, where nobody waits long for one."""

from __future__ import annotations

from typing import Any

import pytest

from raygrove.app.document.state import State, replaced

from .fake_engine import Makers

STATE = replaced(State(), "settings.render.ray_type", "path")


def unstoppable(full_ms: float) -> Makers:
    """On a target like a GPU."""
    makers = Makers(full_ms=full_ms)
    makers.maker.target_for(STATE).can_stop = False
    return makers


@pytest.mark.parametrize("full_ms", (300.0, 8_000.0, 60_000.0))
def test_paths_are_filtered_however_slow_where_they_can_be_stopped(full_ms: float) -> None:
    """A small filtered picture does not give way to a large one of noise."""
    makers = Makers(full_ms=full_ms)
    for _ in range(6):
        makers.draw(STATE)
        options: Any = makers.engines[0].views[0].settings.ray_type_options
        assert options.filtered and options.filter_samples == STATE.settings.display.filter_samples


def test_slow_paths_are_not_filtered_where_nothing_stops_them_and_a_picture_stays_as_it_began() -> None:
    makers, state = unstoppable(8000.0), STATE

    def is_filtered() -> bool:
        options: Any = makers.engines[0].views[0].settings.ray_type_options
        return bool(options.filtered)

    makers.draw(state)
    makers.draw(state)
    assert makers.slot.drawn == (400, 320) and not is_filtered()
    makers.engines[0].full_ms = 3.0
    makers.draw(state)
    assert not is_filtered(), "its samples would begin anew"
    for index in range(40):
        makers.draw(state, time=index / 10, moving=True)
    assert is_filtered()


def test_paths_that_prove_far_slower_than_was_thought_are_filtered_no_more() -> None:
    makers, state = unstoppable(30.0), STATE
    filtered = []
    for full_ms in (30.0, 20000.0, 20000.0, 30.0):
        if makers.engines:
            makers.engines[0].full_ms = full_ms
        makers.draw(state)
        options: Any = makers.engines[0].views[0].settings.ray_type_options
        filtered.append(options.filtered)
    assert filtered == [True, True, False, False]


def test_paths_are_filtered_on_what_cannot_be_stopped_where_nobody_waits_long() -> None:
    state = STATE
    for can_stop, is_filtered in ((True, True), (False, False)):
        makers = Makers(full_ms=300.0)
        makers.maker.target_for(state).can_stop = can_stop
        makers.draw(state)
        makers.draw(state)
        options: Any = makers.engines[0].views[0].settings.ray_type_options
        assert options.filtered is is_filtered


def test_a_tiny_picture_that_only_tells_how_slow_a_choice_is_is_not_filtered() -> None:
    """Its kernels would be compiled in vain where the choice proves slow."""
    makers, drawn = unstoppable(30.0), []
    makers.draw(STATE)
    engine = makers.engines[0]
    draw = engine.render_frame

    def noted(moment: Any, views: Any) -> Any:
        options = views[0].settings.ray_type_options
        drawn.append((views[0].pixels.width, options.filtered))
        return draw(moment, views)

    engine.render_frame = noted  # type: ignore[method-assign]
    makers.draw(replaced(STATE, "settings.render.hierarchy", "hploc"))
    assert drawn[0][0] < 100 and not drawn[0][1] and drawn[-1] == (400, True)
