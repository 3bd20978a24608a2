"""Buffers to OpenEXR files. The library is the extra `exr`.

Channels: Z (float, along the axis of view, infinite where nothing is hit), N.X N.Y N.Z (float, the scene's axes,
towards the eye), and id, object, steps, tests and boxes as unsigned integers, because a float holds no number beyond
16,777,216 exactly; NOTHING stands where nothing is hit.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from .whole_files import Check, nothing_to_check, whole_path

NOTHING = 0xFFFFFFFF


def save_exr(
    path: Path,
    buffers: Mapping[str, np.ndarray],
    text: Mapping[str, str] | None = None,
    check: Check = nothing_to_check,
) -> None:
    """Write the buffers of `Engine.buffers`; `text` becomes attributes of the file. OSError where it cannot be
    written."""
    import OpenEXR

    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage, **(text or {})}
    with whole_path(path, check) as name:
        try:
            with OpenEXR.File(header, channels_of(buffers)) as file:
                file.write(str(name))
        except RuntimeError as error:
            reason = str(error).removeprefix(f'Cannot open image file "{name}". ')
            raise OSError(errno.EIO, f"the EXR file cannot be written: {reason.rstrip('.')}", str(path)) from error


def channels_of(buffers: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The file's channels by name, float32 and uint32."""
    normal = buffers["normal"].astype(np.float32)
    channels = {"Z": buffers["depth"].astype(np.float32)}
    channels |= {f"N.{axis}": np.ascontiguousarray(normal[:, :, index]) for index, axis in enumerate("XYZ")}
    ids = {"id": "prim_id", "object": "object_id", "steps": "steps", "tests": "tests", "boxes": "boxes"}
    return channels | {
        name: np.ascontiguousarray(buffers[source], np.int32).view(np.uint32) for name, source in ids.items()
    }
