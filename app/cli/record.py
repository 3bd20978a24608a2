"""`record`: the rays that a picture's ray type casts, of any bounce, as a file that others measure by."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from raygrove.app.cli.cameras import looked_through
from raygrove.app.cli.common import check_attributes, scene_from, settings_from, state_from, target_from
from raygrove.app.cli.render import frames_of
from raygrove.app.export.tables import json_text
from raygrove.app.export.whole_files import check_writable
from raygrove.app.frames.recording import PRIMARY, recorded
from raygrove.app.problems.problems import UsageError, plain_errors_are_usage
from raygrove.gpu.analysis.recording import save_rays
from raygrove.gpu.brief import filled
from raygrove.gpu.ray_sources import ENDING

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """Draw, and write the rays that were cast."""
    if names.out is None or Path(names.out).suffix.lower() != ENDING:
        raise UsageError(f"say where the rays are kept: --out FILE{ENDING}.")
    check_writable(Path(names.out).parent, Path(names.out).name)
    settings = settings_from(names, words)
    reference, scene = scene_from(names, settings, words)
    state = looked_through(names, state_from(names, settings, reference, scene), scene)
    check_attributes(state.settings, scene)
    frames, name = frames_of(names, scene, state), names.only or PRIMARY
    if len(frames) != 1:
        raise UsageError(f"--frames: rays are recorded of one picture, and these are {len(frames):,}; say --time S.")
    with contextlib.closing(target_from(state.settings, words)) as target, plain_errors_are_usage():
        rays = recorded(target, scene, state, frames[0], name)
    save_rays(rays, names.out)
    if names.json:
        print(json_text({"out": names.out, "rays": len(rays), "name": name, "ray_type": settings.render.ray_type}))
    else:
        counted = filled("{count:,} rays", count=len(rays))
        words.say(f"Wrote {names.out}: {counted} ({name}).")
    return 0
