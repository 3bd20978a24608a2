"""The race in the window as what is drawn: a view a contestant, of the same scene by the same camera."""

from __future__ import annotations

import dataclasses
from typing import Any

from raygrove.app.document.state import State, ViewState
from raygrove.app.settings.race_options import RaceOptions, contestants_of
from raygrove.app.settings.settings import RenderOptions, Settings
from raygrove.gpu.analysis.race import LETTERS
from raygrove.gpu.analysis.racing import as_raced
from raygrove.gpu.configuration import Configuration, Part
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.face.races import entry_of
from raygrove.gpu.settings import fields_of

RACE = "race"


@dataclasses.dataclass(frozen=True)
class RacedView(ViewState):
    """One contestant: its letter is the view's name."""

    configuration: str = ""


def is_raced(state: State) -> bool:
    """Whether this is what a race draws: of `as_drawn`."""
    return isinstance(state.views[0], RacedView)


def as_drawn(state: State) -> State:
    """The state with a view a contestant where the workspace is a race; else as it is. How the pictures stand there is
    nothing to who draws them."""
    settings = state.settings
    if settings.window.workspace != RACE or is_raced(state):
        return state
    camera, texts = state.views[0].camera, contestants_of(settings.race)
    views = tuple(RacedView(letter, camera, configuration=text) for letter, text in zip(LETTERS, texts, strict=False))
    return dataclasses.replace(state, views=views, settings=dataclasses.replace(settings, race=RaceOptions()))


def raced(configuration: str, shared: ViewSettings) -> ViewSettings:
    """What the view of a contestant is set to: one sample, and updated in every frame, as racing.run has it."""
    return as_raced(entry_of(configuration, shared).settings)


def spelling_of(settings: Settings) -> str:
    """The configuration that the settings have chosen, options named where they are not the built-in ones."""
    render, update = settings.render, settings.update
    test = () if render.triangle_test == RenderOptions().triangle_test else (("triangle_test", render.triangle_test),)
    of_optimiser = settings.optimiser_options(render.optimiser) if render.optimiser != "none" else None
    spelt = Configuration(
        Part(render.hierarchy, _changed(settings.hierarchy_options(render.hierarchy))),
        None if of_optimiser is None else Part(render.optimiser, _changed(of_optimiser)),
        None if render.layout == "auto" and render.traversal == "auto" and not test else Part(render.layout),
        None if render.traversal == "auto" and not test else Part(render.traversal, test),
        Part(update.mode, _changed(update, without=("mode", "always"))),
    )
    return str(spelt)


def _changed(options: Any, without: tuple[str, ...] = ()) -> tuple[tuple[str, str], ...]:
    """The options that are not the built-in ones, as they are typed."""
    if options is None:
        return ()
    said = ((field.name, getattr(options, field.name), field.default) for field in fields_of(options))
    return tuple((name, _typed(value)) for name, value, default in said if name not in without and value != default)


def _typed(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
