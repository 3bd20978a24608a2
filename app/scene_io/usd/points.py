"""Points of USD -> spheres: their widths are diameters. A point keeps its place over all time samples by its id where
the file has ids, else by its order."""

from __future__ import annotations

from collections import Counter

import numpy as np
from pxr import Usd, UsdGeom

from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.gpu.scene import ABSENT, SphereKeys, Spheres

from .meshes import check_room, rows_of
from .times import Times

WIDTH = 1.0
"""What a point has without a width."""


def read_points(
    path: str, prim: Usd.Prim, material: int, limits: ImportLimits, times: Times, counts: Counter[str]
) -> Spheres | None:
    """The spheres of a prim; None where it has no point. `SceneError` where there are too many."""
    source = UsdGeom.Points(prim)
    attribute = source.GetPointsAttr()
    codes = times.codes(attribute.GetTimeSamples()) if attribute.GetNumTimeSamples() > 1 else np.zeros(0)
    instants = [Usd.TimeCode(code) for code in codes.tolist()] if len(codes) > 1 else [times.rest]
    frames = []
    most = 0
    for instant in instants:
        values = rows_of(attribute.Get(instant), 3)
        frames.append(np.zeros((0, 3), np.float32) if values is None else values)
        most = max(most, len(frames[-1]))
        if most > limits.max_particles:
            why = f"has {most:,} points and the limit is {limits.max_particles:,}"
            raise SceneError(f"{display_path(path)} {why}. Raise import.max_particles.", path)
        check_room(path, limits, len(frames), most)
    if not most:
        return None
    slots, ids = _slots(source, frames, instants)
    count = most if ids is None else len(ids)
    check_room(path, limits, len(frames), count)
    radii = [_radii(source, len(frame), instant, counts) for frame, instant in zip(frames, instants, strict=True)]
    colours = [_colours(prim, len(frame), instant) for frame, instant in zip(frames, instants, strict=True)]
    centres = _spread(frames, slots, count, 0.0)
    all_radii = _spread(radii, slots, count, ABSENT)
    keys = None
    has_colours = all(one is not None for one in colours)
    tint = _spread([one for one in colours if one is not None], slots, count, 0.0) if has_colours else None
    if len(instants) > 1:
        changes = bool((all_radii != all_radii[:1]).any())
        recoloured = tint is not None and bool((tint != tint[:1]).any())
        keys = SphereKeys(times.seconds(codes), centres, all_radii if changes else None, tint if recoloured else None)
    return Spheres(
        prim.GetName(), centres[0], all_radii[0], None if tint is None else tint[0], material, ids, key_frames=keys
    )


def _slots(
    source: UsdGeom.Points, frames: list[np.ndarray], instants: list[Usd.TimeCode]
) -> tuple[list[np.ndarray] | None, np.ndarray | None]:
    """The place of each point of each frame, None where that is its number; and the ids by place, None without."""
    attribute = source.GetIdsAttr()
    if not attribute.HasAuthoredValue():
        same = all(len(frame) == len(frames[0]) for frame in frames)
        return (None if same else [np.arange(len(frame)) for frame in frames]), None
    ids = [np.asarray(attribute.Get(instant) or (), np.int64) for instant in instants]
    if any(len(of_frame) != len(frame) for of_frame, frame in zip(ids, frames, strict=True)):
        return [np.arange(len(frame)) for frame in frames], None
    if all(np.array_equal(of_frame, ids[0]) for of_frame in ids):
        return None, ids[0]
    known = np.unique(np.concatenate(ids))
    return [np.searchsorted(known, of_frame) for of_frame in ids], known


def _spread(rows: list[np.ndarray], slots: list[np.ndarray] | None, count: int, empty: float) -> np.ndarray:
    """(K, count, ...) float32: each frame's rows at their places, and `empty` where it has none."""
    if slots is None:
        return np.stack(rows)
    result = np.full((len(rows), count, *rows[0].shape[1:]), empty, np.float32)
    for out, row, slot in zip(result, rows, slots, strict=True):
        out[slot] = row
    return result


def _radii(source: UsdGeom.Points, count: int, instant: Usd.TimeCode, counts: Counter[str]) -> np.ndarray:
    widths = np.asarray(source.GetWidthsAttr().Get(instant) or (), np.float32).reshape(-1)
    if len(widths) == 1:
        return np.full(count, widths[0] / 2.0, np.float32)
    if len(widths) == count:
        return widths / np.float32(2.0)
    counts["widths"] += 1
    return np.full(count, WIDTH / 2.0, np.float32)


def _colours(prim: Usd.Prim, count: int, instant: Usd.TimeCode) -> np.ndarray | None:
    """The display colour of each point; None where there is one for all or none."""
    primvar = UsdGeom.PrimvarsAPI(prim).GetPrimvar("displayColor")
    if not primvar or not primvar.HasAuthoredValue() or str(primvar.GetInterpolation()) not in ("vertex", "varying"):
        return None
    values = rows_of(primvar.ComputeFlattened(instant), 3)
    return values if values is not None and len(values) == count else None
