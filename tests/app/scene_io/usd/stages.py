"""Stages as text, which needs no library to be written, and what tests ask of the scenes read from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.app.scene_io.transforms import Pose
from raygrove.gpu.scene import Object, Scene

SQUARE = """
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    uniform token subdivisionScheme = "none"
"""


def stage(path: Path, text: str, head: str = 'upAxis = "Y"') -> Path:
    """A file of USD's text, in which lines end about each brace that closes, and at semicolons."""
    lines = text.replace("}", "\n}\n").replace(";", "\n")
    path.write_text(f"#usda 1.0\n({head})\n{lines}")
    return path


def mesh(name: str = "square", more: str = "", body: str = SQUARE) -> str:
    """A square as text, with more lines."""
    return f'def Mesh "{name}" {{\n{body}{more}\n}}\n'


def read(path: Path, limits: ImportLimits | None = None) -> Scene:
    """The scene of a file, read in this process; skips where the library is not installed."""
    pytest.importorskip("pxr", reason="USD files are read by usd-core, which is not installed here")
    from raygrove.app.scene_io.usd import read_usd

    return sanitise(read_usd(str(path), limits or ImportLimits()), str(path))


def said(scene: Scene) -> str:
    return " ".join(remark.sentence for remark in scene.remarks)


def placed(scene: Scene, thing: Object, time: float = 0.0) -> np.ndarray:
    """The matrix of an object to the scene, (4, 4)."""
    return Pose(scene.nodes).matrices(scene.clips[0] if scene.clips else None, time)[thing.node]


def vertices(scene: Scene, thing: Object, time: float = 0.0) -> np.ndarray:
    """Places of an object's vertices in the scene, (V, 3) float64: nodes alone, no skin."""
    matrix = placed(scene, thing, time)
    positions = scene.meshes[thing.mesh].positions.astype(np.float64)
    return np.asarray(positions @ matrix[:3, :3].T + matrix[:3, 3] + np.array(scene.origin))
