"""What reading a file will cost, looked at before a library is asked to read it."""

from __future__ import annotations

import zipfile
from pathlib import Path

from .errors import SceneError, display_path
from .gltf_costs import affordable as affordable_gltf
from .limits import ImportLimits
from .references import References

GLTF = frozenset({"gltf", "glb", "vrm"})
ZIPPED = frozenset({"3mf"})
MOST_TIMES, FREE_BYTES = 100, 512 << 20
"""How much larger than the file what it unpacks to may be, and from how much on that is asked."""


def affordable(
    name: str, data: bytes | None, extension: str, limits: ImportLimits, references: References | None = None
) -> bytes | None:
    """`SceneError` where reading the file `name` (or `data` in its place) would cost more than `limits`; else what to
    read: `data`, or the same file in words that cost less."""
    try:
        if extension in GLTF:
            replaced = affordable_gltf(name, Path(name).read_bytes() if data is None else data, limits, references)
            return data if replaced is None else replaced
        if extension in ZIPPED and data is None:
            _check_zip(name)
    except (OSError, zipfile.BadZipFile):
        pass  # whoever reads it says what is wrong
    return data


def _check_zip(name: str) -> None:
    with zipfile.ZipFile(name) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    check_growth(name, Path(name).stat().st_size, size)


def check_growth(name: str | Path, packed: int, unpacked: int) -> None:
    """`SceneError` where a file unpacks to so much more than it has that it holds nothing else."""
    if unpacked > max(FREE_BYTES, MOST_TIMES * packed):
        why = f"its {packed:,} bytes unpack to more than {max(FREE_BYTES, MOST_TIMES * packed) >> 20:,} MiB"
        raise SceneError(
            f"{display_path(name)} is not read: {why}, as no model does. If it is right, unpack it by hand.", str(name)
        )
