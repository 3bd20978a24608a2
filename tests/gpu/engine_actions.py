"""Random actions on one engine, whose pictures are compared with those of an engine made for each, by brute force and
without replays.

    python -m tests.gpu.engine_actions cuda --seed 1 --steps 2000

This command compiles without contraction: structures then find the same hits bit by bit. With it a ray that grazes an
edge hits in one and misses in another, which recursive rays and radiosity, that decides about pairs of nodes by a few
rays, carry to many pixels.

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
from typing import Any

import numpy as np

from raygrove.gpu.engine import Engine
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.settings import OptionError
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target, TargetOptions
from raygrove.gpu.update.options import UpdateOptions
from raygrove.gpu.view import View, ViewSettings

from .engine_changes import ACTIONS
from .engine_choices import (
    CAMERAS,
    CLIPS,
    ENVIRONMENTS,
    FRAMES,
    LIGHTS,
    SPHERES,
    TIMES,
    Choice,
    Common,
)
from .engine_questions import QUESTIONS, Question, WrongError
from .engine_scenes import SCENES, colours

REMEMBERED = 4000
"""Pictures of the reference that are kept."""


class World:
    """See the module. `act` does one random action; `history` tells what was done."""

    def __init__(
        self, target: Target, seed: int, ray_type_names: tuple[str, ...] = (), every_choice: bool = True
    ) -> None:
        self.target = target
        self.every_choice: bool = every_choice
        self.random: random.Random = random.Random(seed)
        self.ray_types: tuple[str, ...] = ray_type_names or tuple(ray_types())
        self.common: Common = Common()
        self.choices: dict[str, Choice] = {"main": Choice()}
        self.history: list[str] = []
        self.before: tuple[Common, dict[str, Choice]] = (self.common, dict(self.choices))
        self._known: dict[Any, tuple[Any, np.ndarray]] = {}
        self._views: dict[str, tuple[Choice, View]] = {}
        self._frame_id = 0
        self.engine = self._made(repeats=True)

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
        self._give_to(self.engine)
        count = frames or self.random.choice(FRAMES)
        try:
            self.draw(count)
        except (OptionError, HierarchyError):
            if not self._is_refused():
                raise
            self._take_back(*before)
            self.draw(count)
        if name == "ask":
            self.ask(view)

    def change(self, view: str, **values: Any) -> None:
        """Of one view."""
        self.choices[view] = dataclasses.replace(self.choices[view], **values)

    def share(self, **values: Any) -> None:
        """Of all views."""
        self.common = dataclasses.replace(self.common, **values)

    def scene(self) -> Scene:
        """The present one, under its environment."""
        return dataclasses.replace(SCENES[self.common.scene](), environment=ENVIRONMENTS[self.common.environment])

    def reopen(self, common: Common) -> None:
        """Another scene, or another environment: another engine on the same target."""
        self.engine.close()
        self.common, self._views = common, {}
        for name in self.choices:
            self.change(name, primary="structure")
        self.engine = self._made(repeats=True)

    def ask(self, view: str, question: Question | None = None) -> None:
        """That question of engine_questions.py, or one at random, of what a view shows, and of an engine that has brute
        force."""
        other = self._made(repeats=False)
        try:
            self._give_to(other)
            plain = Choice("brute_force", triangle_test=self.choices[view].triangle_test)
            others = self._fresh_view(plain.picture(1).seen_as(self.choices[view]), "main")
            other.render_frame(Moment(self.common.time, self.common.clip, 0), [others])
            other.flush()
            check = question or self.random.choice(QUESTIONS)
            check(self.engine, self._view(view), other, others, self.random)
        finally:
            other.close()

    def draw(self, count: int) -> None:
        """So many frames, the last of the moment and those before on the way to it, as only what moves is drawn anew;
        then the checks."""
        views = [self._view(name) for name in self.choices]
        on_the_way = [self.random.choice(TIMES) for _ in range(count - 1)]
        for instant in (*on_the_way, self.common.time):
            self._frame_id += 1
            self.engine.render_frame(Moment(instant, self.common.clip, self._frame_id), views)
        found = self.engine.flush()
        # As the program does with a picture that stays: rows after rows, and what a stale tree had no room for.
        while found.is_behind or not self.engine.is_whole(views):
            self.engine.render_frame(Moment(self.common.time, self.common.clip, self._frame_id), views)
            found = self.engine.flush()
        for name, view, statistics in zip(self.choices, views, found.views, strict=True):
            self._check(self.choices[name], view, statistics)

    # -- checks -------------------------------------------------------------------------------------------------------
    def _check(self, choice: Choice, view: View, statistics: Any) -> None:
        scene = SCENES[self.common.scene]()
        # Hidden spheres and glyphs keep their places. Tiles need no structure, which then is not built.
        places = scene.primitive_count - sum(
            scene.count_of(k) for k in self.common.hidden if scene.objects[k].mesh >= 0
        )
        held = statistics.structure.primitive_count
        if held != places and not (choice.primary == "tiles" and held == 0):
            raise WrongError(f"{choice.hierarchy} holds {held} primitives of {places}")
        totals, wanted = self._reference(choice.picture(statistics.samples))
        found = self.engine.totals(view)
        few = 2  # rays at edges that rounding decides
        most_apart = 1e-3 * max(1.0, totals.sum_t) + few * totals.sum_t / max(1, totals.hits)
        if abs(found.hits - totals.hits) > few or abs(found.sum_t - totals.sum_t) > most_apart:
            raise WrongError(
                f"{view.name}: {found.hits} hits and sum {found.sum_t:.3f}, not {totals.hits} and {totals.sum_t:.3f}"
            )
        if choice.shows_the_tree and choice.mode != "rebuild":  # a refitted tree goes back to an earlier instant
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
            engine = self._made(repeats=False)
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

    def _is_refused(self) -> bool:
        """Whether a fresh engine refuses one of the views, too: not all options go together."""
        engine = self._made(repeats=False)
        try:
            self._give_to(engine)
            for name, choice in self.choices.items():
                engine.render_frame(Moment(self.common.time, self.common.clip, 0), [self._fresh_view(choice, name)])
            return False
        except (OptionError, HierarchyError):
            return True
        finally:
            engine.close()

    def _take_back(self, common: Common, choices: dict[str, Choice]) -> None:
        """As it was before what was refused, by the same engine: it can be used on."""
        self.history[-1] += ", refused"
        if (common.scene, common.environment) != (self.common.scene, self.common.environment):
            self.reopen(common)
        for name in self._views.keys() - choices.keys():
            del self._views[name]
        self.common, self.choices = common, dict(choices)
        self._give_to(self.engine)

    # -- inside -------------------------------------------------------------------------------------------------------
    def _made(self, repeats: bool) -> Engine:
        own = self.target.options
        self.target.options = dataclasses.replace(own, key_memory_mib=int(self.common.scene == "streamed"))
        try:
            return Engine(self.target, self.scene(), repeats=repeats)
        finally:
            self.target.options = own

    def _give_to(self, engine: Engine) -> None:
        engine.hide(self.common.hidden)
        engine.take_materials(colours(self.common.colours))
        engine.take_sphere_options(SPHERES[self.common.spheres if SCENES[self.common.scene]().spheres else 0])
        engine.take_lights(SCENES[self.common.scene]().lights if self.common.lights < 0 else LIGHTS[self.common.lights])

    def _view(self, name: str) -> View:
        """The same view as long as its choice is, with pixels of its own."""
        choice = self.choices[name]
        known = self._views.get(name)
        if known is None or known[0] != choice:
            self._views[name] = known = choice, self._fresh_view(choice, name)
        return known[1]

    def _fresh_view(self, choice: Choice, name: str) -> View:
        settings = ViewSettings(
            **{field: getattr(choice, field) for field in AS_NAMED},
            ray_type_options=choice.drawn_options,
            update=UpdateOptions(mode=choice.mode, always=choice.always),
            clip=CLIPS[choice.clip],
            hierarchy_options=choice.options,
        )
        return View(settings, CAMERAS[choice.camera], ArrayPixels(self.target, *choice.size), name, choice.rows)

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


AS_NAMED = (
    *("hierarchy", "layout", "traversal", "optimiser", "optimiser_options", "triangle_test", "ray_type"),
    *("samples", "seed", "primary", "tiles"),
)
"""Fields that a Choice and ViewSettings have by the same name."""


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
    target = choose(asked.target, TargetOptions(contraction=False))
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
