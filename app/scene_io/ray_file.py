"""Files of rays: an .npz with `origins` and `directions` (N, 3), and `t_min`, `t_max`, one number or (N,), where it
likes. In the importing child; nothing is unpickled. Whether they are rays, RaySet says."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from .columns import taken_columns, write_columns
from .errors import SceneError, display_path
from .limits import ImportLimits
from .particles.arrays import members
from .particles.frame import ParticleError, Source

KINDS: dict[str, tuple[type, tuple[int, ...]]] = {
    **dict.fromkeys(("origins", "directions"), (np.float32, (3,))),
    **dict.fromkeys(("t_min", "t_max"), (np.float32, ())),
}
HOW = "Write origins and directions (N, 3), and t_min, t_max where wanted, by numpy.savez"


def read_rays(path: str, limits: ImportLimits) -> dict[str, np.ndarray]:
    """The arrays. Raises SceneError."""
    source = Source(path, limits, "npz")
    try:
        with source.open() as file:
            found = members(source, file, tuple(KINDS))
    except ParticleError as error:
        raise SceneError(f"{display_path(path)} holds no rays: {str(error).rstrip('.')}. {HOW}.", path) from error
    missing = next((name for name, (_, rest) in KINDS.items() if rest and found.get(name) is None), "")
    if missing:
        raise SceneError(f"{display_path(path)} holds no rays: it has no {missing}. {HOW}.", path)
    if not found["directions"].size:
        raise SceneError(f"{display_path(path)} holds no rays: its directions are empty. {HOW}.", path)
    arrays: dict[str, np.ndarray] = {}
    count = len(found["directions"]) if found["directions"].ndim == 2 else -1
    for name, (_, rest) in KINDS.items():
        values = found.get(name)
        if values is None:
            continue
        if values.ndim == 0 and not rest:
            values = np.full(max(count, 0), values)
        if values.dtype.kind not in "fiu" or values.shape != (count, *rest):
            beside = f", beside {count:,} directions" if count >= 0 and values.shape[:1] != (count,) else ""
            said = f"its {name} are {values.shape} of {values.dtype}{beside}"
            raise SceneError(f"{display_path(path)} holds no rays: {said}. {HOW}.", path)
        with np.errstate(over="ignore"):
            arrays[name] = values.astype(np.float32)
    return arrays


def write(arrays: dict[str, np.ndarray], file: BinaryIO) -> None:
    """Hand them over."""
    write_columns({}, arrays, KINDS, file)


def taken(file: BinaryIO, path: str) -> dict[str, np.ndarray]:
    """What `write` wrote. Raises SceneError where a child wrote something else."""
    try:
        found = taken_columns(file, KINDS)[1]
        if {len(rows) for rows in found.values()} != {len(found["origins"])} or "directions" not in found:
            raise ValueError("lengths")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = "the reader gave back what are no rays. The file may be damaged"
        raise SceneError(f"{display_path(path)}: {what}.", path) from error
    return found
