"""Point instancers: prototypes placed at points, each copy a node that may move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from pxr import Usd, UsdGeom

from raygrove.app.scene_io.limits import ImportLimits
from raygrove.gpu.scene import Mesh

from .meshes import check_room
from .parts import Part
from .times import Times

MATRIX_POINTS = 8
"""What a matrix takes, in points of `check_room`."""


def place_instances(
    part: Part, prim: Usd.Prim, node: int, limits: ImportLimits, times: Times,
    prototype: Callable[[Usd.Prim], Part | None], meshes: list[Mesh], counts: Counter[str],
) -> None:  # fmt: skip
    """Copies of the prototypes of an instancer below `node`. `prototype` reads the subtree of one, None where it is
    being read already."""
    source = UsdGeom.PointInstancer(prim)
    indices = np.asarray(source.GetProtoIndicesAttr().Get(times.rest) or (), np.int64)
    part.check_room(len(indices))
    targets = source.GetPrototypesRel().GetForwardedTargets()
    found = [prim.GetStage().GetPrimAtPath(target) for target in targets]
    parts = [prototype(one) if one else None for one in found]
    counts["prototypes"] += sum(one is None for one in parts)
    matrices = _matrices(source, times.rest)
    if len(matrices) != len(indices):
        counts["instances"] += 1
        return
    mask = np.asarray(source.ComputeMaskAtTime(times.rest) or np.ones(len(indices)), bool)
    known = (indices >= 0) & (indices < len(parts)) & mask
    moving = _moving(part.path, source, len(indices), limits, times)
    for number, of_index in enumerate(parts):
        chosen = np.flatnonzero(known & (indices == number))
        if of_index is None or not len(chosen):
            continue
        part.check_room(len(chosen) * (1 + len(of_index.names)))
        name = of_index.names[0]
        nodes = [part.add(name, node, matrix) for matrix in matrices[chosen]]
        if moving is not None:
            counts["sheared"] += part.move(nodes, moving[0], moving[1][chosen])
        part.place(of_index, nodes, meshes)


def _matrices(source: UsdGeom.PointInstancer, time: Usd.TimeCode) -> np.ndarray:
    """(N, 4, 4), column vectors; (0, 4, 4) where the arrays do not fit each other."""
    found = source.ComputeInstanceTransformsAtTime(
        time, time, UsdGeom.PointInstancer.ExcludeProtoXform, UsdGeom.PointInstancer.IgnoreMask
    )
    return np.array(found, np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)


def _moving(
    path: str, source: UsdGeom.PointInstancer, count: int, limits: ImportLimits, times: Times
) -> tuple[np.ndarray, np.ndarray] | None:
    """Seconds (K,) and matrices (N, K, 4, 4) of instances that move; None where they do not, or where their number
    changes."""
    attributes = (
        source.GetPositionsAttr(),
        source.GetOrientationsAttr(),
        source.GetOrientationsfAttr(),
        source.GetScalesAttr(),
    )
    samples = [sample for one in attributes if one for sample in one.GetTimeSamples()]
    codes = times.codes(samples)
    if len(codes) < 2:
        return None
    check_room(path, limits, len(codes), count * MATRIX_POINTS)
    frames = [_matrices(source, Usd.TimeCode(code)) for code in codes.tolist()]
    if any(len(frame) != count for frame in frames):
        return None
    return times.seconds(codes), np.stack(frames, axis=1)
