"""`tree`: trees of anybody's in files: written, read, proved and judged over a scene."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from raygrove.app.cli.common import scene_from, settings_from, state_from, target_from
from raygrove.app.cli.render import frames_of
from raygrove.app.document.state import State
from raygrove.app.export.tables import json_text
from raygrove.app.export.whole_files import check_writable
from raygrove.app.frames.views import view_settings
from raygrove.app.problems.problems import UsageError, plain_errors_are_usage
from raygrove.app.scene_io.errors import SceneError, without_call
from raygrove.gpu.analysis.diagnosis import Findings
from raygrove.gpu.analysis.frame_bounds import with_frames
from raygrove.gpu.analysis.tree_files import ENDING, save_tree, scene_hash, scene_of_file
from raygrove.gpu.analysis.validation import boxes_of
from raygrove.gpu.errors import Error
from raygrove.gpu.face.building import build
from raygrove.gpu.face.clips import Clip
from raygrove.gpu.face.foreign_trees import is_rgtree, tree_of_file
from raygrove.gpu.face.judging import diagnose, diagnose_instants, validate
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.bvh.own.tree import Tree
from raygrove.gpu.target.base import Target
from raygrove.printable import printable_lines

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

EXIT_FOUND = 1


def run(names: argparse.Namespace, words: Words) -> int:
    """Do what was asked for; the exit code is 1 where a tree is not sound, or something is wrong with it."""
    trees = [name for name in names.files if name.lower().endswith(ENDING)]
    if trees:
        raise UsageError(f"{trees[0]} is a tree: say --tree {trees[0]}, and the scene that it is of as FILE or --demo.")
    settings = settings_from(names, words)
    reference, scene = scene_from(names, settings, words)
    state = state_from(names, settings, reference, scene)
    times = [time for _, time in frames_of(names, scene, state)]
    clip = Clip.from_plain(scene)
    with plain_errors_are_usage(), contextlib.closing(target_from(settings, words)) as target:
        return _done(names, words, state, clip, times, target)


def _done(names: argparse.Namespace, words: Words, state: State, clip: Clip, times: list[float], target: Target) -> int:
    mesh = clip.at(times[-1] if names.kind == "diagnose" else times[0])  # of several poses the last is now
    if names.kind in ("export", "import"):
        if not names.out or not names.out.endswith(ENDING):
            raise UsageError(f"tree {names.kind} writes a file: say --out FILE{ENDING}.")
        check_writable(Path(names.out).parent, Path(names.out).name)
    if names.kind == "export":
        tree, builder = built(state, mesh, target)
        if names.tree is not None:
            raise UsageError("tree export builds a tree; tree import reads the one of --tree.")
        if names.frames:
            tree = with_frames(tree, times, lambda at: boxes_of(*clip.at(at)))
    else:
        if names.tree is None:
            raise UsageError(f"say which tree: tree {names.kind} --tree FILE.")
        tree = _read(names, words, mesh)
        builder = f"import of {Path(names.tree).name}"
    if names.kind == "diagnose":
        findings = _diagnosed(tree, clip, times)
        rows = [dataclasses.asdict(finding) for finding in findings]
        _tell(names, {"findings": rows}, str(findings).splitlines())
        return EXIT_FOUND if findings.is_bad else 0
    found = validate(tree, clip, time=times[0], target=target)
    facts = {**dataclasses.asdict(found), "is_valid": found.is_valid, "sentence": found.sentence}
    _tell(names, facts, [fault.sentence for fault in found.faults] or [found.sentence])
    if not found:
        return EXIT_FOUND
    if names.kind != "validate":
        save_tree(tree, names.out, builder, scene=mesh)
        words.say(f"Wrote {names.out}.")
    return 0


def _diagnosed(tree: Tree, clip: Clip, times: list[float]) -> Findings:
    """Of several frames, or of one instant beside the clip's beginning, as a tree that was refitted alone is known by
    what it fitted before."""
    if len(times) > 1:
        return diagnose(tree, np.stack([clip.at(time)[0] for time in times]), clip.at(times[-1])[1])
    return diagnose_instants(tree, clip, (0.0, *times) if times[0] > 0.0 else times)


def _read(names: argparse.Namespace, words: Words, mesh: tuple[np.ndarray, np.ndarray]) -> Tree:
    """The tree of --tree. One of another instant is refused, but where it is asked whether a tree fits: then that is
    said, and what follows from it is found."""
    is_judged, format_name = names.kind in ("validate", "diagnose"), names.format or "auto"
    try:
        tree = tree_of_file(names.tree, mesh, format=format_name, is_judged=is_judged)
        other = is_judged and is_rgtree(names.tree, format_name) and scene_of_file(names.tree)
    except Error as error:
        raise SceneError(f"{without_call(error)}.", names.tree) from error
    if other and other != scene_hash(*mesh):
        words.warn(f"{names.tree} says that it is of another scene, or of another instant of this one.")
    return tree


def built(state: State, mesh: tuple[np.ndarray, np.ndarray], target: Target) -> tuple[Tree, str]:
    """The tree that --hierarchy and --optimiser name, and its name."""
    render = state.settings.render
    choice = view_settings(state).structure_choice
    name = render.hierarchy + ("" if render.optimiser == "none" else f"+{render.optimiser}")
    with build(*mesh, render.hierarchy, target=target, choice=choice) as structure:
        if structure.splits_references:
            raise UsageError(f"--hierarchy {render.hierarchy}: its nodes are not written with the parts of primitives.")
        return as_tree(structure.nodes(), render.hierarchy), name


def as_tree(table: NodeTable, name: str) -> Tree:
    """A structure's nodes as a binary tree. UsageError where they are none."""
    count = np.bincount(table.parent[1:], minlength=len(table)) if len(table) > 1 else np.zeros(len(table), int)
    if len(table) == 0 or (count[~table.is_leaf] != 2).any():
        raise UsageError(f"--hierarchy {name}: it is no binary tree with two children a node; hploc is one.")
    children = np.zeros((len(table), 2), np.int64)
    order = np.argsort(table.parent[1:], kind="stable") + 1
    children[np.flatnonzero(count)] = order.reshape(-1, 2)
    return Tree(
        children=children, first=table.first_reference, count=table.reference_count, primitives=table.references,
        bounds=np.hstack([table.lower, table.upper]),
    )  # fmt: skip


def _tell(names: argparse.Namespace, facts: dict[str, object], lines: list[str]) -> None:
    print(json_text(facts) if names.json else printable_lines("\n".join(lines)))
