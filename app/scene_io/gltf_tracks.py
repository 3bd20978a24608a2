"""What Assimp leaves out of glTF's tracks, read from the file itself: the tangents of CUBICSPLINE, and the steps of
weights.

Only tracks that need it are read, and only where they lie plainly in float32; for the others Assimp's keys stay, and
its remark.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from raygrove.gpu.scene import Track

from .gltf_texts import Buffers, parts_of
from .references import References

WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
FLOAT = 5126
NAMES_OF_KINDS = (b"CUBICSPLINE", b"STEP", rb"\u")
"""One of these stands in a text that has such tracks: a kind of interpolation, or a letter written as its number."""

Key = tuple[int, str, str]
"""Number of the animation, name of the node as Assimp gives it, path."""


def exact_tracks(
    name: str, data: bytes | None, extension: str, references: References | None = None
) -> dict[Key, Track]:
    """Tracks of the glTF file `name` of the current folder (or of `data`) that Assimp does not give as they are; {} for
    other formats."""
    if extension not in ("gltf", "glb"):
        return {}
    try:
        raw = Path(name).read_bytes() if data is None else data
        text, body = parts_of(raw)
        if not any(word in (text or b"") for word in NAMES_OF_KINDS):
            return {}
        return _Reader(json.loads(text or b""), body, references or References()).read()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, struct.error, RecursionError):
        return {}  # Assimp has opinions of its own about such a file, and says them.


class _Reader:
    """One document; `body` is the binary chunk."""

    def __init__(self, document: Any, body: bytes, references: References) -> None:
        self.document, self.buffers = document, Buffers(document, body, references)

    def read(self) -> dict[Key, Track]:
        names = [node.get("name") or f"nodes[{index}]" for index, node in enumerate(self.document.get("nodes", []))]
        counts = Counter(names)
        found: dict[Key, Track] = {}
        for index, animation in enumerate(self.document.get("animations", [])):
            for channel in animation["channels"]:
                node, path = channel["target"].get("node", -1), channel["target"]["path"]
                sampler = animation["samplers"][channel["sampler"]]
                kind = sampler.get("interpolation", "LINEAR")
                needs_it = kind == "CUBICSPLINE" or (kind == "STEP" and path == "weights")
                if needs_it and 0 <= node < len(names) and counts[names[node]] == 1:
                    track = self._track(sampler, "cubic" if kind == "CUBICSPLINE" else "step")
                    if track is not None:
                        found[index, names[node], path] = track
        return found

    def _track(self, sampler: dict[str, Any], interpolation: str) -> Track | None:
        times, values = self._floats(sampler["input"]), self._floats(sampler["output"])
        parts = 3 if interpolation == "cubic" else 1
        if times is None or values is None or not len(times) or values.size % (len(times) * parts):
            return None
        shape = (len(times), 3, -1) if interpolation == "cubic" else (len(times), -1)
        return Track(times.reshape(-1), values.reshape(shape), interpolation)

    def _floats(self, accessor_id: int) -> np.ndarray | None:
        """An accessor's numbers (count, width); None where they do not lie one after another as float32."""
        accessor = self.document["accessors"][accessor_id]
        width, count = WIDTHS[accessor["type"]], accessor["count"]
        if accessor["componentType"] != FLOAT or "sparse" in accessor or "bufferView" not in accessor:
            return None
        view = self.document["bufferViews"][accessor["bufferView"]]
        if view.get("byteStride", 4 * width) != 4 * width:
            return None
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return (
            np.frombuffer(self.buffers.bytes_of(view["buffer"]), "<f4", count * width, start)
            .reshape(count, width)
            .astype(np.float32)
        )
