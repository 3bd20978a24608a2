"""Which formats of trees are read, and which one a file is of."""

from __future__ import annotations

from collections.abc import Callable

from . import archive, embree, madmann91, three_mesh_bvh, tinybvh, tinybvh_wide
from .found import FoundTree, TreeSource

READERS: dict[str, Callable[[TreeSource], FoundTree]] = {
    "tinybvh": tinybvh.read_bvh2,
    "tinybvh-double": tinybvh.read_double,
    "tinybvh-mbvh4": tinybvh_wide.read_mbvh4,
    "tinybvh-bvh4gpu": tinybvh_wide.read_bvh4_gpu,
    "tinybvh-cwbvh": tinybvh_wide.read_cwbvh,
    "tinybvh-save": tinybvh.read_save,
    "tinybvh-cwbvh-save": tinybvh_wide.read_cwbvh_save,
    "madmann91": madmann91.read,
    "three-mesh-bvh": three_mesh_bvh.read,
    "embree": embree.read,
    "npz": archive.read,
}
"""By the names that --format takes."""

ENDINGS = {
    ".stream.bin": "madmann91",
    ".json": "three-mesh-bvh",
    ".npz": "npz",
    ".blocks.bin": "tinybvh-bvh4gpu",
    ".save.bin": "tinybvh-save",
}


def format_of(source: TreeSource) -> str:
    """The format by the file's first bytes, then by its name. SceneError where neither tells."""
    begin = source.read()[:8]
    if begin == embree.MAGIC:
        return "embree"
    if begin[:4] == tinybvh_wide.SAVE_WORD.to_bytes(4, "little"):
        return "tinybvh-cwbvh-save"
    found = next((name for ending, name in ENDINGS.items() if source.path.lower().endswith(ending)), "")
    if not found:
        raise source.error("neither its first bytes nor its name tell its format", f"Say one: {', '.join(READERS)}")
    return found
