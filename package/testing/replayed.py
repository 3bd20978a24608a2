"""A structure whose every build and refit is a replay: captured over other vertices than those that it is to be
about."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from raygrove.gpu.hierarchy.base import Hierarchy, Primitives


def replayed(made: Hierarchy) -> Hierarchy:
    """`made` itself, with `build` and `refit` exchanged; a build by a function on the host is never captured. Between
    frames it is given room for the vertices there are, as the engine sees to it."""
    for name in ("refit",) if made.capabilities.builds_on_host else ("build", "refit"):
        setattr(made, name, functools.partial(_replay, made, name, getattr(made, name)))
    return made


def _replay(made: Hierarchy, name: str, update: Callable[[Primitives], None], primitives: Primitives) -> None:
    if (
        primitives.count == 0 or not primitives.keep_alive
    ):  # frames of nothing are not captured; strange primitives are refused
        update(primitives)
        return
    target, places = made.target, primitives.keep_alive[0]
    if name == "build" and made.lacks_room(primitives):
        made.make_room(primitives)
    own = target.download(places)
    target.write(places, _others(own))
    try:
        made.prepare(primitives, "rebuild" if name == "build" else "refit")
        update(primitives)
        replay = target.capture(functools.partial(update, primitives))
    finally:
        target.write(places, own)
    made.prepare(primitives, "rebuild" if name == "build" else "refit")
    replay()


def _others(values: np.ndarray) -> np.ndarray:
    """Other vertices, all of them finite, whose tree is another one, and that take no more room."""
    safe = np.nan_to_num(values[::-1], nan=0.25, posinf=0.5, neginf=-0.5)
    return (np.clip(safe, -100.0, 100.0) * 0.5 + 0.125).astype(values.dtype)
