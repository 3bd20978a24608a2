"""The race in the window as what is drawn: a view a contestant, of the same scene by the same camera."""

from __future__ import annotations

import dataclasses

from raygrove.app.document.state import State, ViewState
from raygrove.app.settings.race_options import RACE, RaceOptions, contestants_of
from raygrove.app.settings.settings import RenderOptions, Settings
from raygrove.gpu.analysis.race import LETTERS
from raygrove.gpu.update.options import UpdateOptions
from raygrove.gpu.view import ViewSettings

OF_CONTESTANTS = ("hierarchy", "optimiser", "layout", "traversal", "triangle_test")
"""Of [render], what each contestant says itself."""


@dataclasses.dataclass(frozen=True)
class RacedView(ViewState):
    """One contestant: its letter is the view's name."""

    configuration: str = ""


def is_raced(state: State) -> bool:
    """Whether this is what a race draws: of `as_drawn`."""
    return isinstance(state.views[0], RacedView)


def as_drawn(state: State) -> State:
    """The state with a view a contestant where the workspace is a race; else as it is. How the pictures stand there,
    and what the settings have chosen beside the contestants, is nothing to who draws them."""
    settings = state.settings
    if settings.window.workspace != RACE or is_raced(state):
        return state
    camera, texts = state.views[0].camera, contestants_of(settings.race)
    views = tuple(RacedView(letter, camera, configuration=text) for letter, text in zip(LETTERS, texts, strict=False))
    return dataclasses.replace(state, views=views, settings=shared_settings(settings))


def raced(configuration: str, shared: ViewSettings) -> ViewSettings:
    """What the view of a contestant is set to: one sample, and updated in every frame, as racing.run has it."""
    from raygrove.gpu.analysis.racing import as_raced  # not at each start: a race imports rivals, reports and surveys
    from raygrove.gpu.face.races import entry_of

    return as_raced(entry_of(configuration, shared).settings)


def shared_settings(settings: Settings) -> Settings:
    """What contestants share: of what each says itself the built-in values."""
    usual = RenderOptions()
    own = {name: getattr(usual, name) for name in OF_CONTESTANTS}
    return dataclasses.replace(
        settings,
        race=RaceOptions(),
        render=dataclasses.replace(settings.render, **own),
        update=UpdateOptions(),
        hierarchy={},
        optimiser={},
    )
