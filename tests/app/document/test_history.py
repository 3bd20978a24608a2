"""Steps of undo that stay open: what is tried counts as one, whatever it merges with."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.document.document import Document
from raygrove.app.document.history import History


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from([None, "drag", "other"]), st.booleans()), min_size=1))
def test_an_open_step_is_one_step(changes: list[tuple[int, str | None, bool]]) -> None:
    history: History[int] = History()
    history.record(0, None)
    history.open_step()
    for value, key, ends in changes:
        history.record(value, key)
        if ends:
            history.end_merge()
    history.close_step()
    history.record(100, "drag")
    assert history.undo(200)[0] == 100
    assert history.undo(100)[0] == changes[0][0]
    assert history.undo(changes[0][0])[0] == 0 and not history.can_undo


def test_after_it_changes_are_steps_again() -> None:
    document = Document()
    document.steps.open_step()
    for samples in (2, 3, 4):
        document.change("settings.render.samples", samples)
        document.change("settings.render.seed", samples)
    document.steps.close_step()
    document.change("settings.render.samples", 5)
    document.undo()
    assert document.state.settings.render.samples == 4
    document.undo()
    assert (document.state.settings.render.samples, document.state.settings.render.seed) == (1, 0)


def test_a_change_after_an_undo_leaves_nothing_to_redo() -> None:
    history: History[int] = History()
    history.record(0, None)
    assert history.undo(1) == (0, "") and history.can_redo
    history.record(0, None)
    assert not history.can_redo and history.redo(5) == (5, "")


def test_five_hundred_steps_are_kept() -> None:
    history: History[int] = History()
    for value in range(502):
        history.record(value, None)
    undone = 0
    while history.can_undo:
        last, _ = history.undo(502 - undone)
        undone += 1
    assert (undone, last) == (500, 2)
