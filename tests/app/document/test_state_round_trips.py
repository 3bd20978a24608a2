"""Whatever is changed can be undone and made again, and goes through a file and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference, State
from raygrove.app.settings.file import settings_of, settings_text
from raygrove.app.settings.settings import Settings, option_field, option_groups
from raygrove.app.user_files import presets
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionField, fields_of

KEYS = [f"{table}.{field.name}" for table, options in option_groups(Settings()) for field in fields_of(options)]
MAKING = ("motion", "demo")
"""Tables whose changes make the scene anew, which is no matter of the state."""


def value_of(field: OptionField) -> st.SearchStrategy[Any]:
    low = -1e6 if field.info.minimum is None else max(field.info.minimum, -1e6)
    high = 1e6 if field.info.maximum is None else min(field.info.maximum, 1e6)
    numbers = st.floats(low, high, allow_nan=False)
    words = st.sampled_from(field.info.choices or (field.default,))
    kinds = {bool: st.booleans(), int: st.integers(int(low), int(high)), float: numbers, str: words}
    return kinds.get(field.type, st.tuples(numbers, numbers, numbers))


def change_of(key: str) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(f"settings.{key}"), value_of(option_field(key)))


COORDINATES = st.tuples(*[st.floats(-1e3, 1e3, allow_nan=False)] * 3)
SETTINGS = st.sampled_from([key for key in KEYS if not key.startswith(MAKING)]).flatmap(change_of)
CAMERAS = st.tuples(st.just("cameras.0"), st.builds(Camera, eye=COORDINATES, fov=st.floats(1, 170)))
CHANGES = st.lists(st.tuples(st.one_of(SETTINGS, CAMERAS), st.sampled_from([None, "drag"])), min_size=1, max_size=12)


@given(changes=CHANGES)
@limits(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_undo_goes_back_through_every_state_and_redo_forward(
    moving_scene: Scene, changes: list[tuple[tuple[str, Any], str | None]]
) -> None:
    document = Document()
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    states: list[State] = [document.state]
    for (path, value), key in changes:
        document.change(path, value, key)
        if document.state != states[-1]:
            states.append(document.state)
    behind = walked(document, document.undo, lambda: document.can_undo)
    assert all(one in states for one in behind), "no state that never was"
    assert document.state == states[0]
    ahead = walked(document, document.redo, lambda: document.can_redo)
    assert document.state == states[-1] and ahead[:-1] == behind[-2::-1]


def walked(document: Document, step: Callable[[], None], can: Callable[[], bool]) -> list[State]:
    """The states that one comes to, step by step."""
    found = []
    while can():
        step()
        found.append(document.state)
    return found


@given(changes=st.lists(SETTINGS, max_size=8))
@limits(deadline=None)
def test_settings_go_through_a_text_and_a_preset_and_back(changes: list[tuple[str, Any]]) -> None:
    document = Document()
    for path, value in changes:
        document.change(path, value)
    settings = document.state.settings
    again = settings_of(settings_text(settings), Path("/any/settings.toml"))
    assert dict(option_groups(again)) == dict(option_groups(settings))
    presets.save("Any", settings)
    assert dict(option_groups(presets.load("Any"))) == dict(option_groups(settings))
