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


SKINNED = """def SkelRoot "figure" {{
    def Skeleton "bones" (prepend apiSchemas = ["SkelBindingAPI"]) {{
        uniform token[] joints = ["hip", "hip/knee"]
        uniform matrix4d[] bindTransforms = [
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 1, 0, 1))]
        uniform matrix4d[] restTransforms = [
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 1, 0, 1))]
        rel skel:animationSource = </figure/moves>
        double3 xformOp:translate = (10, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"] }}
    def SkelAnimation "moves" {{
        uniform token[] joints = ["hip/knee", "hip"]
        float3[] translations.timeSamples = {{ 0: [(0, 1, 0), (0, 0, 0)], 24: [(0, 1, 0), (0, 0, 2)] }}
        quatf[] rotations.timeSamples = {{ 0: [(1, 0, 0, 0), (1, 0, 0, 0)],
            24: [(0.70710678, 0, 0, 0.70710678), (1, 0, 0, 0)] }}
        half3[] scales = [(1, 1, 1), (1, 1, 1)]
        uniform token[] blendShapes = ["wide", "tall"]
        float[] blendShapeWeights.timeSamples = {{ 0: [0, 1], 24: [1, 0] }} }}
    def Mesh "leg" (prepend apiSchemas = ["SkelBindingAPI"]) {{
        int[] faceVertexCounts = [4]; int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0)]
        rel skel:skeleton = </figure/bones>
        matrix4d primvars:skel:geomBindTransform = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
        int[] primvars:skel:jointIndices = [0, 0, 1, 1] (elementSize = 1; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 1, 1, 1] (elementSize = 1; interpolation = "vertex")
        uniform token[] skel:blendShapes = ["tall", "wide"]
        rel skel:blendShapeTargets = [</figure/leg/tall>, </figure/leg/wide>]
        def BlendShape "tall" {{ uniform vector3f[] offsets = [(0, 3, 0)]; uniform int[] pointIndices = [3] }}
        def BlendShape "wide" {{ uniform vector3f[] offsets = [(0, 0, 0), (5, 0, 0), (5, 0, 0), (0, 0, 0)] }}
    }} }}{more}"""


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


def skinned(scene: Scene, time: float, positions: np.ndarray | None = None) -> np.ndarray:
    """The vertices of the first mesh at an instant, by its joints alone: linear blend skinning in float64, of its
    positions or others."""
    skin = scene.meshes[0].skin
    assert skin is not None
    matrices = Pose(scene.nodes).matrices(scene.clips[0], time)[skin.joints] @ skin.inverse_bind.astype(np.float64)
    rest = scene.meshes[0].positions if positions is None else positions
    points = np.column_stack([rest, np.ones(len(rest))])
    each = np.einsum("vjrc,vc->vjr", matrices[skin.joint_ids], points)
    return np.asarray((each * skin.weights[:, :, None]).sum(axis=1)[:, :3])
