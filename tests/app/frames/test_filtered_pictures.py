"""Which pictures of paths the window filters: whole samples, where nobody waits long for one."""

from __future__ import annotations

from typing import Any

from raygrove.app.document.state import State, replaced

from .fake_engine import Makers


def test_slow_paths_are_not_filtered_so_that_they_can_be_stopped_and_a_picture_stays_as_it_began() -> None:
    makers = Makers(full_ms=8000.0)
    state = replaced(State(), "settings.render.ray_type", "path")

    def is_filtered() -> bool:
        options: Any = makers.engines[0].views[0].settings.ray_type_options
        return bool(options.filtered)

    makers.draw(state)
    makers.draw(state)
    assert makers.slot.drawn == (400, 320) and not is_filtered()
    makers.engines[0].full_ms = 30.0
    makers.draw(state)
    assert not is_filtered(), "its samples would begin anew"
    for index in range(12):
        makers.draw(state, time=index / 10, moving=True)
    assert is_filtered()


def test_paths_that_prove_far_slower_than_was_thought_are_filtered_no_more() -> None:
    makers = Makers(full_ms=300.0)
    state = replaced(State(), "settings.render.ray_type", "path")
    filtered = []
    for full_ms in (300.0, 20000.0, 20000.0, 300.0):
        if makers.engines:
            makers.engines[0].full_ms = full_ms
        makers.draw(state)
        options: Any = makers.engines[0].views[0].settings.ray_type_options
        filtered.append(options.filtered)
    assert filtered == [True, True, False, False]


def test_paths_are_filtered_on_what_cannot_be_stopped_where_nobody_waits_long() -> None:
    state = replaced(State(), "settings.render.ray_type", "path")
    for can_stop, is_filtered in ((True, True), (False, False)):
        makers = Makers(full_ms=300.0)
        makers.maker.target_for(state).can_stop = can_stop
        makers.draw(state)
        makers.draw(state)
        options: Any = makers.engines[0].views[0].settings.ray_type_options
        assert options.filtered is is_filtered
