"""The configuration that settings have chosen, as it is spelt; and settings with another one."""

from __future__ import annotations

import dataclasses
from typing import Any

from raygrove.app.settings.settings import RenderOptions, Settings
from raygrove.gpu.configuration import Configuration, Part, parse
from raygrove.gpu.face.configured import configured
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.settings import OptionError, fields_of


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
    """A configuration with what the settings say of its builder, its optimiser and the test of triangles, where it says
    nothing itself: it is measured beside what they have chosen. Raises ConfigurationError where it is none."""
    spelt, render = parse(text), settings.render
    builder, optimiser, traversal = spelt.builder, spelt.optimiser, spelt.traversal
    if builder.name in structures() and not builder.options:
        builder = Part(builder.name, _changed(settings.hierarchy_options(builder.name)))
    if optimiser is not None and not optimiser.options and optimiser.name in settings.optimiser:
        optimiser = Part(optimiser.name, _changed(settings.optimiser_options(optimiser.name)))
    if render.triangle_test != RenderOptions().triangle_test and (traversal is None or not traversal.options):
        name = "auto" if traversal is None else traversal.name
        traversal = Part(name, (("triangle_test", render.triangle_test),))
    return str(dataclasses.replace(spelt, builder=builder, optimiser=optimiser, traversal=traversal))


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
