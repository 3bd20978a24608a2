"""Trees of files over the scene that is open: read, proved, and structures by their names from then on. What reads and
proves is imported with the first tree, not with the program."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import SceneReference, State
from raygrove.app.scene_io.errors import TreeOfSceneError, display_path, without_call
from raygrove.app.settings.race_options import RaceOptions, contestants_of
from raygrove.app.settings.ray_options import hangs_on_node
from raygrove.app.settings.settings import RenderOptions, Settings
from raygrove.app.settings.tree_options import TreeOptions, trees_of, with_tree
from raygrove.gpu.configuration import parse
from raygrove.gpu.errors import Error
from raygrove.gpu.face.named_trees import forget_trees, is_awaited, note_of
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.ray_sources import PICTURE
from raygrove.gpu.scene import Remark, Scene
from raygrove.printable import printable

if TYPE_CHECKING:
    from raygrove.app.document.document import Document
    from raygrove.gpu.face.clips import Clip
    from raygrove.gpu.hierarchy.bvh.own.tree import Tree


TREE_ENDINGS = (".rgtree", ".bin", ".json")
"""Of files that are trees; a .bin is one of particles where its layout lies beside it, an .npz a tree where it holds
one."""
OF_GEOMETRY = "spanning_object"
"""What `diagnose` finds that is no fault of a tree."""
TREE_ARRAYS = {"children", "first", "count", "primitives"}


def is_tree_file(path: str) -> bool:
    """Whether a file is a tree by its name and what lies beside it, or an .npz by the arrays that it lists."""
    ending = os.path.splitext(path)[1].lower()
    if ending == ".bin":
        from raygrove.app.scene_io.particles.layout import layout_path

        return not os.path.isfile(layout_path(path))
    if ending != ".npz":
        return ending in TREE_ENDINGS
    if not os.path.isfile(path):  # opening a pipe waits for who writes
        return False
    from raygrove.app.scene_io.particles.arrays import names_in

    try:
        with open(path, "rb") as file:
            return TREE_ARRAYS.issubset(names_in(file))
    except OSError:
        return False


@dataclasses.dataclass(frozen=True)
class ReadTree:
    """A file's tree over a scene's instant; `sentences` say what was proved, or what is wrong with its boxes, which
    `note` says, too, and that they are made anew; `of_file` is the tree with all boxes that the file has. `judged` says
    what made it a bad one, and what to do, where that was asked."""

    tree: Tree
    time: float
    is_valid: bool
    sentences: tuple[str, ...]
    note: str = ""
    of_file: Tree | None = None
    judged: tuple[str, ...] = ()

    def use(self, name: str) -> None:
        """Make it the builder of this name, unless its scene was left meanwhile."""
        from raygrove.gpu.face.given_trees import use_expected

        use_expected(self.tree, name, note=self.note, of_file=self.of_file)


def judged_tree(tree: Tree, clip: Clip, time: float, times: Collection[float] = ()) -> tuple[str, ...]:
    """What `diagnose` finds wrong with a tree at an instant, and what to do, in sentences; of those instants that are
    earlier it knows which one the tree fits. What is true of the geometry alone is left out."""
    from raygrove.gpu.face.judging import diagnose_instants  # with the first tree, not with the program

    found = diagnose_instants(tree, clip, (*sorted(one for one in {*times} if one < time), time))
    bad = [one for one in found if one.severity != "advice" and one.code != OF_GEOMETRY]
    return tuple(f"{one.sentence} {one.remedy[:1].upper()}{one.remedy[1:]}." for one in bad)


def read_tree(path: str, scene: Scene, times: Collection[float], *, judges: bool = False) -> ReadTree:
    """The tree of a file over the first of these instants whose boxes are the file's, else over the first that it can
    be laid over: a file need not say its instant. Raises TreeOfSceneError, with the sentences of `validate`, where it
    is no tree over this scene. With `judges` those of `diagnose` say what is wrong, also with a tree that is sound."""
    if scene.sphere_count or scene.glyph_count:
        raise TreeOfSceneError(
            f"{display_path(path)}: trees of files are over triangles alone, and {scene.name} has spheres."
        )
    from raygrove.gpu.face.clips import Clip
    from raygrove.gpu.face.foreign_trees import tree_of_file
    from raygrove.gpu.face.given_trees import fitted, note_on

    reasons: list[str] = []
    laid: ReadTree | None = None
    clip = Clip.from_plain(scene)
    for time in dict.fromkeys(times):
        of_file = None
        try:
            mesh = clip.at(time)
            of_file = tree_of_file(path, mesh)
            tree, found = fitted(of_file, mesh)
        except Error as error:
            why = judged_tree(of_file, clip, time) if judges and of_file is not None else ()
            reasons.append(" ".join(why).rstrip(".") or without_call(error))
            continue
        said = tuple(fault.sentence for fault in found.faults) or (found.sentence,)
        read = ReadTree(tree, time, found.is_valid, said, note_on(found), of_file)
        laid = read if read.is_valid else laid or read
        if read.is_valid:
            break
    if laid is not None and laid.of_file is not None and judges:
        laid = dataclasses.replace(laid, judged=judged_tree(laid.of_file, clip, laid.time, times))
    if laid is not None:
        return laid
    told = reasons[0] if os.path.basename(path) in reasons[0] else f"{display_path(path)}: {reasons[0]}"
    raise TreeOfSceneError(f"{told}.", path)


def with_trees(scene: Scene, options: TreeOptions) -> Scene:
    """The scene, once the trees that settings name are structures; what is wrong with their boxes is among its remarks.
    Raises TreeOfSceneError where one cannot be read, or is not of this scene."""
    remarks: list[Remark] = []
    for name, path in trees_of(options).items():
        found = read_tree(path, scene, [options.time])
        found.use(name)
        if not found.is_valid:
            remarks.append(Remark(1, f"{display_path(path)}: {found.note}"))
    return dataclasses.replace(scene, remarks=(*scene.remarks, *remarks)) if remarks else scene


def unread(options: TreeOptions) -> tuple[str, ...]:
    """The names of trees that settings brought in, a preset's or a file's, and that were not read over this scene."""
    return tuple(filter(is_awaited, trees_of(options)))


def note_on_contestant(configuration: str) -> str:
    """What is to be known of the file whose tree a configuration begins with; "" where there is nothing."""
    return note_of(parse(configuration).builder.name)


def name_of(path: str, options: TreeOptions) -> str:
    """What the structure of a file is called: after the file, unless that is taken."""
    named = trees_of(options)
    for name, other in named.items():
        if other == path:
            return name
    stem = re.sub(r"[^a-z0-9]+", "_", os.path.basename(path).partition(".")[0].lower()).strip("_")
    stem = stem if re.match(r"[a-z]", stem) else f"tree_{stem}".rstrip("_")
    taken = {*structures(), "none", "auto"}
    return next(
        name for name in (stem, *(f"{stem}_{count}" for count in range(2, len(taken) + 3))) if name not in taken
    )


def without(settings: Settings, usual: RenderOptions | None = None) -> Settings:
    """Settings that name no tree of a file, neither as the structure nor in a race."""
    named = trees_of(settings.trees)
    if not named:
        return settings
    render, race = settings.render, settings.race
    if render.hierarchy in named:
        render = dataclasses.replace(render, hierarchy=(usual or RenderOptions()).hierarchy)
    left = [text for text in contestants_of(race) if parse(text).builder.name not in named]
    if len(left) < len(contestants_of(race)):
        race = dataclasses.replace(race, contestants=", ".join(left) or RaceOptions().contestants)
    return dataclasses.replace(settings, render=render, race=race, trees=TreeOptions())


def state_on(state: State, reference: SceneReference) -> State:
    """The state with another scene: trees stay with the scene that they are over, and sensors with their node."""
    if state.scene.kind == "none" or reference == state.scene:
        return dataclasses.replace(state, scene=reference)
    views = tuple(
        dataclasses.replace(view, hierarchy="") if view.hierarchy in trees_of(state.settings.trees) else view
        for view in state.views
    )
    return dataclasses.replace(state, scene=reference, settings=left_behind(state.settings), views=views)


def left_behind(settings: Settings) -> Settings:
    """Settings that any other scene can have: without trees of files, and sensors on nodes."""
    if hangs_on_node(settings.rays):
        settings = dataclasses.replace(settings, rays=dataclasses.replace(settings.rays, measured=PICTURE))
    return without(settings)


def forget_others(state: State) -> None:
    """No longer are those trees structures that a state does not name: its scene is another one."""
    forget_trees(trees_of(state.settings.trees))


def open_tree(document: Document, path: str, opened: Callable[[str, ReadTree], None]) -> Job:
    """Read the tree of a file over the open scene in the background; then it is the structure, as one step of undo, and
    `opened` hears by which name. Where it is none of this scene, that is reported as a problem, and nothing changes."""
    scene, state, path = document.scene, document.state, os.path.abspath(path)

    def work(job: Job) -> ReadTree:
        if scene is None:
            raise TreeOfSceneError(f"{display_path(path)} is a tree over a scene: open that scene first.", path)
        return read_tree(path, scene, (0.0, state.timeline.time), judges=True)

    def finished(job: Job) -> None:
        if document.scene is scene:
            name = _take(document, path, job.result)
            opened(name, job.result)

    title = printable(os.path.basename(path))
    return document.start_job(f"Reading the tree {title}", work, finished)


def _take(document: Document, path: str, found: ReadTree) -> str:
    """Make a tree the structure; returns its name."""
    from raygrove.gpu.face.given_trees import expect_tree

    settings = document.state.settings
    name = name_of(path, settings.trees)
    expect_tree(name)
    found.use(name)
    kind, render = structures()[name], settings.render
    render = dataclasses.replace(
        render,
        hierarchy=name,
        optimiser=render.optimiser if render.optimiser in kind.optimisers() else "none",
        layout=render.layout if render.layout in kind.layouts() else "auto",
        traversal="auto",
    )
    trees = with_tree(settings.trees, name, path, found.time)
    document.end_merge()
    document.change("settings", dataclasses.replace(settings, render=render, trees=trees))
    return name
