"""Random actions on one engine, whose pictures are compared with those of an engine made for each, by brute force and
without replays.

    python -m tests.gpu.engine_actions cuda --seed 1 --steps 2000

A world is a scene, an engine and its views. Every action changes one thing a person can change, draws one to seven
frames, so that frames are launched, captured and replayed, and checks pictures, totals and what the statistics say of
the primitives. test_engine_actions.py runs it by hypothesis.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.engine import Engine
from raygrove.gpu.hierarchy.primitives import TRIANGLE_TESTS
from raygrove.gpu.hierarchy.registry import structure, structures
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Light, Moment
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target, TargetOptions
from raygrove.gpu.update.options import UpdateOptions
from raygrove.gpu.view import View, ViewSettings

from .engine_scenes import SCENES, colours

TIMES = (0.0, 0.25, 0.5, 1.0, 1.3, 1.9, 2.0)
SIZES = ((64, 48), (33, 17), (100, 80))
CAMERAS = (
    Camera(eye=(0, 0, 4)),
    Camera(eye=(3, 1, 2), look_at=(0, 0, 0)),
    Camera(eye=(0, 0, 6), orthographic=True, height=4),
)
LIGHTS = (
    (Light("point", (30.0, 28.0, 25.0), position=(1.0, 3.0, 2.0)),),
    (
        Light("directional", (1.0, 1.0, 0.9), direction=(1.0, -1.0, -0.5)),
        Light("sphere", (20.0, 9.0, 9.0), position=(-2.0, 1.0, 2.0), node=1),
    ),
    (),
)
FRAMES = (1, 2, 4, 7)
OPTIONS: dict[str, tuple[float, ...]] = {
    "max_leaf_size": (1, 4, 8),
    "code_bits": (30, 60),
    "max_depth": (3, 12, 30),
    "nodes_per_primitive": (0.3, 1.0),
}
"""Options that several builders have, and values to try where they are legal."""
REMEMBERED = 4000
"""Pictures of the reference that are kept."""


@dataclasses.dataclass(frozen=True)
class Choice:
    """All that one view's picture and structure depend on."""

    hierarchy: str = "lbvh"
    layout: str = "auto"
    traversal: str = "auto"
    optimiser: str = "none"
    options: Any = None
    mode: str = "rebuild"
    always: bool = False
    triangle_test: str = TRIANGLE_TESTS[0]
    ray_type: str = "flat"
    samples: int = 1
    size: tuple[int, int] = SIZES[0]
    camera: int = 0
    clips: bool = False

    def picture(self, samples: int) -> Choice:
        """The same picture by brute force, of so many samples: a film goes on with those that it has, where fewer are
        asked for."""
        plain = Choice(
            hierarchy="brute_force", triangle_test=self.triangle_test, ray_type=self.ray_type, samples=samples
        )
        return dataclasses.replace(plain, size=self.size, camera=self.camera, clips=self.clips)


@dataclasses.dataclass(frozen=True)
class Common:
    """What all views share."""

    scene: str = "long"
    hidden: tuple[int, ...] = ()
    time: float = 0.0
    clip: int = 0
    colours: int = 0
    lights: int = -1


class WrongError(AssertionError):
    """A picture or a figure is not what it has to be."""


class World:
    """See the module. `act` does one random action; `history` tells what was done."""

    def __init__(
        self, target: Target, seed: int, ray_type_names: tuple[str, ...] = (), every_choice: bool = True
    ) -> None:
        self.target, self.random, self.every_choice = target, random.Random(seed), every_choice
        self.ray_types = ray_type_names or tuple(ray_types())
        self.common, self.choices = Common(), {"main": Choice()}
        self.history: list[str] = []
        self.before = (self.common, dict(self.choices))
        self._known: dict[Any, tuple[Any, np.ndarray]] = {}
        self._views: dict[str, tuple[Choice, View]] = {}
        self._frame_id = 0
        self.engine = self._made(self.common.scene, repeats=True)

    def close(self) -> None:
        """Give the engine's memory back."""
        self.engine.close()

    # -- actions ------------------------------------------------------------------------------------------------------
    def act(self, name: str = "", frames: int = 0) -> None:
        """One action, at random where it is not named, so many frames, and all checks."""
        names = [*ACTIONS, "time", "hide", "structure", *["back"] * 4]
        name = name or self.random.choice(names)
        view = self.random.choice(list(self.choices))
        before = (self.common, dict(self.choices))
        ACTIONS[name](self, view)
        self.before = before
        self.history.append(f"{name} of {view}: {self._difference(before)}")
        self._give()
        self.draw(frames or self.random.choice(FRAMES))

    def change(self, view: str, **values: Any) -> None:
        """Of one view."""
        self.choices[view] = dataclasses.replace(self.choices[view], **values)

    def share(self, **values: Any) -> None:
        """Of all views."""
        self.common = dataclasses.replace(self.common, **values)

    def reopen(self, scene: str) -> None:
        """Another scene: another engine on the same target."""
        self.engine.close()
        self.common, self._views = Common(scene), {}
        self.engine = self._made(scene, repeats=True)

    def draw(self, count: int) -> None:
        """So many frames, the last of the moment and those before on the way to it, as only what moves is drawn anew;
        then the checks."""
        views = [self._view(name) for name in self.choices]
        on_the_way = [self.random.choice(TIMES) for _ in range(count - 1)]
        for instant in (*on_the_way, self.common.time):
            self._frame_id += 1
            self.engine.render_frame(Moment(instant, self.common.clip, self._frame_id), views)
        found = self.engine.flush()
        while any(view.structure.is_stale for view in found.views):  # as the program does with a picture that stays
            self.engine.render_frame(Moment(self.common.time, self.common.clip, self._frame_id), views)
            found = self.engine.flush()
        for name, view, statistics in zip(self.choices, views, found.views, strict=True):
            self._check(self.choices[name], view, statistics)

    # -- checks -------------------------------------------------------------------------------------------------------
    def _check(self, choice: Choice, view: View, statistics: Any) -> None:
        scene = SCENES[self.common.scene]()
        shown = scene.triangle_count - sum(
            len(scene.meshes[scene.objects[k].mesh].triangles) for k in self.common.hidden
        )
        if statistics.structure.primitive_count != shown:
            raise WrongError(
                f"{choice.hierarchy} holds {statistics.structure.primitive_count} primitives, {shown} are visible"
            )
        totals, wanted = self._reference(choice.picture(statistics.samples))
        found = self.engine.totals(view)
        if abs(found.hits - totals.hits) > 2 or abs(found.sum_t - totals.sum_t) > 1e-3 * max(1.0, totals.sum_t):
            raise WrongError(
                f"{view.name}: {found.hits} hits and sum {found.sum_t:.3f}, not {totals.hits} and {totals.sum_t:.3f}"
            )
        if choice.ray_type == "steps":  # shows the structure itself
            return
        assert isinstance(view.pixels, ArrayPixels)
        apart = np.abs(view.pixels.download()[..., :3].astype(int) - wanted[..., :3].astype(int)).max(axis=-1) > 3
        if apart.sum() > 0.004 * apart.size + 2:
            raise WrongError(
                f"{view.name}: {int(apart.sum())} of {apart.size} pixels are others than brute force draws"
            )

    def _reference(self, choice: Choice) -> tuple[Any, np.ndarray]:
        """Totals and picture of a fresh engine."""
        key = (self.common, choice)
        if key not in self._known:
            engine = self._made(self.common.scene, repeats=False)
            self._give_to(engine)
            view = self._fresh_view(choice, "main")
            for number in range(choice.samples):
                engine.render_frame(Moment(self.common.time, self.common.clip, number), [view])
            engine.flush()
            assert isinstance(view.pixels, ArrayPixels)
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key] = engine.totals(view), view.pixels.download().copy()
            engine.close()
        return self._known[key]

    # -- inside -------------------------------------------------------------------------------------------------------
    def _made(self, scene: str, repeats: bool) -> Engine:
        own = self.target.options
        self.target.options = dataclasses.replace(own, key_memory_mib=int(scene == "streamed"))
        try:
            return Engine(self.target, SCENES[scene](), repeats=repeats)
        finally:
            self.target.options = own

    def _give(self) -> None:
        self._give_to(self.engine)

    def _give_to(self, engine: Engine) -> None:
        engine.hide(self.common.hidden)
        engine.take_materials(colours(self.common.colours))
        engine.take_lights(SCENES[self.common.scene]().lights if self.common.lights < 0 else LIGHTS[self.common.lights])

    def _view(self, name: str) -> View:
        """The same view as long as its choice is, with pixels of its own."""
        choice = self.choices[name]
        known = self._views.get(name)
        if known is None or known[0] != choice:
            self._views[name] = known = choice, self._fresh_view(choice, name)
        return known[1]

    def _fresh_view(self, choice: Choice, name: str) -> View:
        named = ("hierarchy", "layout", "traversal", "optimiser", "triangle_test", "ray_type", "samples")
        settings = ViewSettings(
            **{field: getattr(choice, field) for field in named},
            update=UpdateOptions(mode=choice.mode, always=choice.always),
            clip=ClipOptions(on=choice.clips),
            hierarchy_options=choice.options,
        )
        return View(settings, CAMERAS[choice.camera], ArrayPixels(self.target, *choice.size), name)

    def _difference(self, before: tuple[Common, dict[str, Choice]]) -> str:
        found = {}
        for was, now in ((before[0], self.common), *((before[1].get(name), now) for name, now in self.choices.items())):
            fields = (
                vars(now)
                if was is None
                else {key: value for key, value in vars(now).items() if getattr(was, key) != value}
            )
            found.update(fields)
        return str(found)


def choose_structure(world: World, view: str) -> None:
    """Any of the registry, with its defaults; a refit where there is none becomes a rebuild."""
    name = world.random.choice(list(structures()))
    can = structure(name).capabilities
    mode = world.choices[view].mode if can.refit else "rebuild"
    world.change(view, hierarchy=name, layout="auto", traversal="auto", optimiser="none", options=None, mode=mode)


def choose_options(world: World, view: str) -> None:
    """One of the common options, where the structure has it."""
    kind = structure(world.choices[view].hierarchy)
    fields = [field.name for field in dataclasses.fields(kind.Options) if field.name in OPTIONS]
    if not fields:
        return
    name = world.random.choice(fields)
    world.change(
        view,
        options=dataclasses.replace(
            world.choices[view].options or kind.Options(), **{name: world.random.choice(OPTIONS[name])}
        ),
    )


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
    if common.scene == world.common.scene:
        for name in world._views.keys() - choices.keys():
            del world._views[name]
        world.common, world.choices = common, dict(choices)


ACTIONS: dict[str, Callable[[World, str], None]] = {
    "back": go_back,
    "structure": choose_structure,
    "options": choose_options,
    "layout": choose_layout,
    "optimiser": lambda w, view: w.change(
        view, optimiser=w.random.choice(["none", *structure(w.choices[view].hierarchy).optimisers()])
    ),
    "mode": choose_mode,
    "test": lambda w, view: w.change(
        view, triangle_test=w.random.choice(TRIANGLE_TESTS if w.every_choice else TRIANGLE_TESTS[:1])
    ),
    "ray type": lambda w, view: w.change(
        view, ray_type=w.random.choice(w.ray_types), samples=w.random.choice([1, 1, 3])
    ),
    "size": lambda w, view: w.change(view, size=w.random.choice(SIZES)),
    "camera": lambda w, view: w.change(view, camera=w.random.randrange(len(CAMERAS))),
    "clip": lambda w, view: w.change(view, clips=not w.choices[view].clips),
    "views": choose_views,
    "time": lambda w, view: w.share(time=w.random.choice(TIMES)),
    "animation": lambda w, view: w.share(clip=w.random.randrange(2)),
    "hide": lambda w, view: w.share(hidden=tuple(k for k in range(4) if w.random.random() < 0.4)),
    "materials": lambda w, view: w.share(colours=w.random.randrange(3)),
    "lights": lambda w, view: w.share(lights=w.random.randrange(-1, len(LIGHTS))),
    "scene": lambda w, view: w.reopen(w.random.choice(list(SCENES))),
}


def main() -> int:
    """The command line; 1 where anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--ray-types", default="", help="separated by commas; all where none is named")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="default layouts and triangle tests alone: fewer units to compile, so more steps",
    )
    asked = parser.parse_args()
    target = choose(asked.target, TargetOptions())
    ray_type_names, every_choice = tuple(filter(None, asked.ray_types.split(","))), not asked.plain
    world, steps, wrong, seed, started = (
        World(target, asked.seed, ray_type_names, every_choice),
        0,
        0,
        asked.seed,
        time.monotonic(),
    )
    while steps < asked.steps and time.monotonic() - started < asked.seconds:
        try:
            world.act()
        except Exception as error:  # a fault of any kind is what is looked for
            wrong += 1
            traceback.print_exc(limit=-3)
            print(
                f"WRONG at step {steps} of seed {seed}: {type(error).__name__}: {error}\n  {world.choices}\n  "
                f"{world.common}\n  after",
                flush=True,
            )
            print("\n".join(f"    {line}" for line in world.history[-8:]), flush=True)
            world.close()
            seed += 100_000
            world = World(target, seed, ray_type_names, every_choice)
        steps += 1
    print(
        f"{target.name}: {steps} steps from seed {asked.seed}, {wrong} wrong, {time.monotonic() - started:.0f} s",
        flush=True,
    )
    world.close()
    target.close()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
