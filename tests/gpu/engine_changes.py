"""What engine_actions.py does: each action changes one thing a person can change, at random."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raygrove.gpu.hierarchy.primitives import TRIANGLE_TESTS
from raygrove.gpu.hierarchy.registry import structure, structures
from raygrove.gpu.shade.registry import ray_type

from .engine_choices import (
    CAMERAS,
    CLIPS,
    ENVIRONMENTS,
    LIGHTS,
    OPTIONS,
    RAY_OPTIONS,
    SIZES,
    SPHERES,
    TILES,
    TIMES,
    Common,
    other_values,
)
from .engine_scenes import SCENES

if TYPE_CHECKING:
    from .engine_actions import World


def choose_structure(world: World, view: str) -> None:
    """Any of the registry, with its defaults; a refit where there is none becomes a rebuild."""
    name = world.random.choice(list(structures()))
    can = structure(name).capabilities
    mode = world.choices[view].mode if can.refit else "rebuild"
    world.change(view, hierarchy=name, layout="auto", traversal="auto", mode=mode)
    world.change(view, optimiser="none", options=None, optimiser_options=None)


def choose_options(world: World, view: str) -> None:
    """One option of the structure or its optimiser: any, or one of the common ones."""
    choice = world.choices[view]
    kind = structure(choice.hierarchy)
    options = {"options": choice.options or kind.Options()}
    if choice.optimiser != "none":
        optimiser: Any = kind.optimisers()[choice.optimiser]
        options["optimiser_options"] = choice.optimiser_options or optimiser.Options()
    which = world.random.choice(list(options))
    changes = [
        change
        for change in other_values(options[which], OPTIONS)
        if world.every_choice or not change.keys().isdisjoint(OPTIONS)
    ]
    if changes:
        world.change(view, **{which: dataclasses.replace(options[which], **world.random.choice(changes))})


def choose_ray_options(world: World, view: str) -> None:
    """One option of the ray type."""
    options = world.choices[view].ray_type_options or ray_type(world.choices[view].ray_type).Options()
    changes = other_values(options, RAY_OPTIONS)
    if changes:
        world.change(view, ray_type_options=dataclasses.replace(options, **world.random.choice(changes)))


def choose_tiles(world: World, view: str) -> None:
    """How tiles are made, where the first hits are found in them."""
    options = world.choices[view].tiles
    changes = other_values(options, TILES)
    if world.choices[view].primary == "tiles" and world.every_choice:
        world.change(view, tiles=dataclasses.replace(options, **world.random.choice(changes)))


def choose_environment(world: World, view: str) -> None:
    """None, or one of two skies: the scene is opened anew."""
    number = world.random.randrange(len(ENVIRONMENTS))
    world.reopen(dataclasses.replace(world.common, environment=number))


def choose_layout(world: World, view: str) -> None:
    """A layout and a traversal of it."""
    if not world.every_choice:
        return
    kind = structure(world.choices[view].hierarchy)
    layout = world.random.choice(kind.layouts())
    world.change(view, layout=layout, traversal=world.random.choice(kind.traversals(layout)))


def choose_mode(world: World, view: str) -> None:
    """Rebuild, refit or auto, always or when something moved."""
    modes = ["rebuild", "auto"] + (["refit"] if structure(world.choices[view].hierarchy).capabilities.refit else [])
    world.change(view, mode=world.random.choice(modes), always=world.random.random() < 0.3)


def choose_primary(world: World, view: str) -> None:
    """Who gives the first hits: tiles only where they can show the scene."""
    can = not SCENES[world.common.scene]().triangle_count
    world.change(view, primary=world.random.choice(("structure", "tiles") if can else ("structure",)))


def choose_views(world: World, view: str) -> None:
    """A second view, or no longer."""
    if len(world.choices) > 1:
        del world.choices["other"]
        world._views.pop("other", None)
    else:
        world.choices["other"] = dataclasses.replace(world.choices["main"], size=SIZES[1])
        choose_structure(world, "other")


def go_back(world: World, view: str) -> None:
    """As it was before the last action, so that frames of an earlier shape come again."""
    common, choices = world.before
    opened = (world.common.scene, world.common.environment)
    if (common.scene, common.environment) == opened:
        for name in world._views.keys() - choices.keys():
            del world._views[name]
        world.common, world.choices = common, dict(choices)


ACTIONS: dict[str, Callable[[World, str], None]] = {
    "back": go_back,
    "structure": choose_structure,
    "options": choose_options,
    "layout": choose_layout,
    "optimiser": lambda w, view: w.change(
        view,
        optimiser=w.random.choice(["none", *structure(w.choices[view].hierarchy).optimisers()]),
        optimiser_options=None,
    ),
    "mode": choose_mode,
    "test": lambda w, view: w.change(
        view, triangle_test=w.random.choice(TRIANGLE_TESTS if w.every_choice else TRIANGLE_TESTS[:1])
    ),
    "ray type": lambda w, view: w.change(
        view, ray_type=w.random.choice(w.ray_types), ray_type_options=None, samples=w.random.choice([1, 1, 3])
    ),
    "ray options": choose_ray_options,
    "seed": lambda w, view: w.change(view, seed=w.random.randrange(3)),
    "tiles": choose_tiles,
    "ask": lambda w, view: None,
    "size": lambda w, view: w.change(view, size=w.random.choice(SIZES)),
    "camera": lambda w, view: w.change(view, camera=w.random.randrange(len(CAMERAS))),
    "primary": choose_primary,
    "rows": lambda w, view: w.change(view, rows=w.random.choice((0, 8, 24))),
    "spheres": lambda w, view: w.share(spheres=w.random.randrange(len(SPHERES))),
    "clip": lambda w, view: w.change(view, clip=w.random.randrange(len(CLIPS))),
    "views": choose_views,
    "time": lambda w, view: w.share(time=w.random.choice(TIMES)),
    "animation": lambda w, view: w.share(clip=w.random.randrange(2)),
    "hide": lambda w, view: w.share(hidden=tuple(k for k in range(4) if w.random.random() < 0.4)),
    "materials": lambda w, view: w.share(colours=w.random.randrange(3)),
    "lights": lambda w, view: w.share(lights=w.random.randrange(-1, len(LIGHTS))),
    "environment": choose_environment,
    "scene": lambda w, view: w.reopen(Common(w.random.choice(list(SCENES)))),
}
