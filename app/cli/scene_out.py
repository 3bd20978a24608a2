"""`render --out scene.glb`: the triangles of an instant as the file of a model; nothing is drawn."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from raygrove.app.cli.common import target_from
from raygrove.app.document.state import State
from raygrove.app.edits.scene_edits import edited_materials
from raygrove.app.export.scene_files import save_scene
from raygrove.app.frames.instants import instant_of
from raygrove.app.problems.problems import UsageError
from raygrove.gpu.scene import Moment, Scene

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def write(names: argparse.Namespace, scene: Scene, state: State, time: float, words: Words) -> int:
    """Write the file that --out names."""
    if names.frames and names.frames[1] - names.frames[0] > 1:
        raise UsageError(f"--out {names.out}: a model is of one instant: say --time S, or --frames A:B of one frame.")
    if not scene.triangle_count:
        raise UsageError(f"--out {names.out}: {scene.name} has no triangles, and a model is written of these alone.")
    materials = edited_materials(scene, state.settings.material)
    with contextlib.closing(target_from(state.settings, words)) as target:
        moment = Moment(time, state.timeline.clip)
        instant = instant_of(target, scene, moment, state.hidden, materials)
    save_scene(instant, Path(names.out))
    if scene.spheres or scene.glyphs:
        words.warn(f"{names.out} has triangles alone; spheres and glyphs are left out.")
    words.say(f"Wrote {names.out}: {len(instant.triangles):,} triangles at {time:.3f} s.")
    return 0
