"""What a clip costs by frame and by the age of its trees, kept in a file: measured once, policies are played over the
same numbers as often as somebody likes, on a busy machine, too.

A file is NPZ: `rebuild_ms` and `refit_ms` (T,), `trace_ms` (T, T) and, where the structure has one, `sah` (T, T), as in
ClipCosts; and what was measured: `scene`, `triangles`, `fps` and `rays` of a frame.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from typing import Any

import numpy as np

from raygrove.gpu.analysis.schedules import ClipCosts

from .arguments import UsageError


@dataclasses.dataclass(frozen=True, eq=False)
class ClipTable:
    """See the module."""

    scene: str
    triangles: int
    fps: float
    rays: int
    costs: ClipCosts

    def with_updates(self, factor: float) -> ClipTable:
        """The same where rebuilds and refits cost so many times as much."""
        costs = dataclasses.replace(
            self.costs, rebuild_ms=factor * self.costs.rebuild_ms, refit_ms=factor * self.costs.refit_ms
        )
        return dataclasses.replace(self, costs=costs)

    def keep(self, folder: pathlib.Path, structure: str) -> pathlib.Path:
        """Write it into a folder, named after the scene and the structure; the path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{re.sub(r'[^A-Za-z0-9]+', '-', f'{self.scene} {structure}').strip('-')}.npz"
        kept: dict[str, Any] = {
            name: value for name, value in vars(self.costs).items() if isinstance(value, np.ndarray)
        }
        kept |= {"scene": self.scene, "triangles": self.triangles, "fps": self.fps, "rays": self.rays}
        np.savez_compressed(path, **kept)
        return path


def read_table(path: pathlib.Path) -> ClipTable:
    """A kept one. UsageError where the file is none."""
    try:
        with np.load(path, allow_pickle=False) as file:
            known = {name: file[name] for name in file.files}
        arrays = {name: np.asarray(known[name], float) for name in ("rebuild_ms", "refit_ms", "trace_ms")}
        frames = len(arrays["rebuild_ms"])
        sah = known.get("sah")
        shapes = {"rebuild_ms": (frames,), "refit_ms": (frames,), "trace_ms": (frames, frames)}
        if any(arrays[name].shape != shape for name, shape in shapes.items()):
            raise ValueError("its arrays are not those of one clip")
        if sah is not None and sah.shape != (frames, frames):
            raise ValueError("its SAH costs are not those of its clip")
        about = str(known["scene"]), int(known["triangles"]), float(known["fps"]), int(known["rays"])
    except (OSError, KeyError, ValueError) as error:
        raise UsageError(f"{path} holds no costs of a clip: {error}.") from error
    costs = ClipCosts(arrays["rebuild_ms"], arrays["refit_ms"], arrays["trace_ms"], sah)
    return ClipTable(*about, costs)
