"""One change of the state: what stands at a dotted path, and what goes with it."""

from __future__ import annotations

import dataclasses
from typing import Any

from raygrove.app.document.state import State, replaced, value_at
from raygrove.app.settings.settings import set_option
from raygrove.gpu.attributes import FAR


def changed(state: State, path: str, value: Any) -> State:
    """The state with one change; settings are checked by their options. Raises as `Document.change` does."""
    group, _, key = path.partition(".")
    if group == "settings" and key.count(".") >= 1:
        settings = set_option(state.settings, key, value)
        if key == "spheres.select_by" and not value:  # a range is of an attribute
            whole = dataclasses.replace(settings.spheres, select_from=-FAR, select_to=FAR)
            settings = dataclasses.replace(settings, spheres=whole)
        return dataclasses.replace(state, settings=settings)
    present = value_at(state, path)
    number = isinstance(present, int | float) and isinstance(value, int | float)
    if type(value) is not type(present) and not number:
        raise TypeError(f"{path} holds a {type(present).__name__}, not a {type(value).__name__}.")
    made: State = replaced(state, path, value)
    return made
