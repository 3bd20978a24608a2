"""The configuration that settings have chosen, as it is spelt; and settings with another one."""

from __future__ import annotations

import dataclasses
from typing import Any

from raygrove.app.settings.race_options import RaceOptions, contestants_of
from raygrove.app.settings.settings import RenderOptions, Settings
from raygrove.gpu.configuration import AUTO, Configuration, Part, parse
from raygrove.gpu.face.configured import configured
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.settings import OptionError, fields_of
from raygrove.gpu.update.options import UpdateOptions
from raygrove.gpu.update.registry import policies

DECIDED_BY = {"n": ("every_n",), "cost_ratio": ("cost_ratio", "auto")}
"""The policies that an option of updates is of."""


def with_configuration(settings: Settings, text: str) -> Settings:
    """The settings with a configuration's structure, options and update policy. Raises ConfigurationError and
    OptionError."""
    made = configured(text)
    choice = made.choice
    render = dataclasses.replace(
        settings.render,
        hierarchy=made.name,
        optimiser=choice.optimiser,
        layout=choice.layout,
        traversal=choice.traversal,
        triangle_test=choice.triangle_test,
    )
    optimiser = dict(settings.optimiser)
    if choice.optimiser_options is not None:
        optimiser[choice.optimiser] = choice.optimiser_options
    return dataclasses.replace(
        settings,
        render=render,
        hierarchy={**settings.hierarchy, made.name: choice.options},
        optimiser=optimiser,
        update=dataclasses.replace(made.update, always=settings.update.always),
    )


def can_be(text: str) -> bool:
    """Whether there is such a configuration; between two changes that belong together a layout may be none of its
    structure."""
    try:
        configured(text)
    except OptionError:
        return False
    return True


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


def with_set_options(settings: Settings, text: str) -> str:
    """A configuration with what the settings say of the options of its builder, its optimiser and its policy, and of
    the test of triangles, where it says nothing itself. Raises ConfigurationError where it is none."""
    spelt, render = parse(text), settings.render
    builder, optimiser, policy, traversal = spelt.builder, spelt.optimiser, spelt.policy, spelt.traversal
    if builder.name in structures():
        builder = _joined(builder, _changed(settings.hierarchy_options(builder.name)))
    if optimiser is not None and optimiser.name in settings.optimiser:
        optimiser = _joined(optimiser, _changed(settings.optimiser_options(optimiser.name)))
    if render.triangle_test != RenderOptions().triangle_test:
        traversal = _joined(traversal or AUTO, (("triangle_test", render.triangle_test),))
    if policy is not None:
        said = _changed(settings.update, without=("mode", "always"))
        policy = _joined(policy, tuple(one for one in said if policy.name in DECIDED_BY[one[0]]))
    return str(Configuration(builder, optimiser, spelt.layout, traversal, policy))


def as_set(settings: Settings, text: str) -> str:
    """The same with all that the settings choose, where it says nothing itself: with optimiser, layout, traversal and
    policy, too, as far as its builder has them. Raises ConfigurationError where it is none."""
    spelt, render = parse(text), settings.render
    kind = structures().get(spelt.builder.name)
    if kind is None:
        return text
    if spelt.optimiser is None and render.optimiser in kind.optimisers():
        spelt = dataclasses.replace(spelt, optimiser=Part(render.optimiser))
    if spelt.layout is None and render.layout in kind.layouts():
        spelt = dataclasses.replace(spelt, layout=Part(render.layout))
    layouts = kind.layouts() if spelt.layout is None else [spelt.layout.name]
    if spelt.traversal is None and any(render.traversal in kind.traversals(one) for one in layouts):
        spelt = dataclasses.replace(spelt, traversal=Part(render.traversal))
    mode = settings.update.mode
    can_follow = kind.capabilities.refit or not policies()[mode].refits
    if spelt.policy is None and mode != UpdateOptions().mode and can_follow:
        spelt = dataclasses.replace(spelt, policy=Part(mode))
    return with_set_options(settings, str(spelt))


def with_contestants(settings: Settings) -> Settings:
    """Settings whose race is one that nobody chose, with the options that they say for who takes part. Others say what
    they are themselves: the row above the pictures is one contestant's, and may not change the others."""
    usual = RaceOptions().contestants
    if settings.race.contestants != usual:
        return settings
    texts = ", ".join(with_set_options(settings, one) for one in contestants_of(settings.race))
    return dataclasses.replace(settings, race=dataclasses.replace(settings.race, contestants=texts))


def _joined(part: Part, said: tuple[tuple[str, str], ...]) -> Part:
    """A part with options, its own ones first."""
    own = {name for name, _ in part.options}
    return Part(part.name, (*part.options, *(one for one in said if one[0] not in own)))


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
