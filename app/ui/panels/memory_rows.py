"""What the statistics show of memory: that of this structure, of this scene, of the picture, what frames work in, and
what is kept for reuse, apart. Texts are translated in the context "Statistics"."""

from __future__ import annotations

import functools
from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from raygrove.app.ui.panels.stats_row import Row, mebibytes
from raygrove.gpu.stats import FrameStatistics, KeyStreaming

OWNERS: dict[str, tuple[Any, Any]] = {
    "structure": (
        QT_TRANSLATE_NOOP("Statistics", "This structure"),
        QT_TRANSLATE_NOOP("Statistics", "Its nodes and leaves in their layout, and what it keeps for its next build."),
    ),
    "scene": (
        QT_TRANSLATE_NOOP("Statistics", "This scene"),
        QT_TRANSLATE_NOOP("Statistics", "Geometry of this instant, key frames, materials, textures, lights."),
    ),
    "picture": (
        QT_TRANSLATE_NOOP("Statistics", "Picture"),
        QT_TRANSLATE_NOOP("Statistics", "Samples, rays and hits, the filter, and what is drawn over the picture."),
    ),
    "work": (
        QT_TRANSLATE_NOOP("Statistics", "Working memory"),
        QT_TRANSLATE_NOOP("Statistics", "Temporary memory of building and tracing, with this structure and ray type."),
    ),
}  # fmt: skip

TAGS: dict[str, tuple[str, Any]] = {
    "hierarchy": ("structure", QT_TRANSLATE_NOOP("Statistics", "nodes and leaves")),
    "octree": ("structure", QT_TRANSLATE_NOOP("Statistics", "octree over points")),
    "surface": ("scene", QT_TRANSLATE_NOOP("Statistics", "geometry of this instant")),
    "animation": ("scene", QT_TRANSLATE_NOOP("Statistics", "key frames, skins, morph targets")),
    "mesh": ("scene", QT_TRANSLATE_NOOP("Statistics", "meshes")),
    "glyphs": ("scene", QT_TRANSLATE_NOOP("Statistics", "glyphs")),
    "points": ("scene", QT_TRANSLATE_NOOP("Statistics", "points")),
    "materials": ("scene", QT_TRANSLATE_NOOP("Statistics", "materials")),
    "textures": ("scene", QT_TRANSLATE_NOOP("Statistics", "textures")),
    "environment": ("scene", QT_TRANSLATE_NOOP("Statistics", "environment")),
    "nbody": ("scene", QT_TRANSLATE_NOOP("Statistics", "gravity")),
    "bodies": ("scene", QT_TRANSLATE_NOOP("Statistics", "bodies")),
    "radiosity": ("scene", QT_TRANSLATE_NOOP("Statistics", "light between surfaces")),
    "film": ("picture", QT_TRANSLATE_NOOP("Statistics", "samples")),
    "filter": ("picture", QT_TRANSLATE_NOOP("Statistics", "filter")),
    "display": ("picture", QT_TRANSLATE_NOOP("Statistics", "pixels")),
    "pixels": ("picture", QT_TRANSLATE_NOOP("Statistics", "order of pixels")),
    "rays": ("picture", QT_TRANSLATE_NOOP("Statistics", "rays and hits")),
    "shade": ("picture", QT_TRANSLATE_NOOP("Statistics", "shading")),
    "palette": ("picture", QT_TRANSLATE_NOOP("Statistics", "palettes")),
    "boxes": ("picture", QT_TRANSLATE_NOOP("Statistics", "boxes over the picture")),
    "collisions": ("picture", QT_TRANSLATE_NOOP("Statistics", "collisions")),
    "queries": ("picture", QT_TRANSLATE_NOOP("Statistics", "regions")),
    "occlusion": ("picture", QT_TRANSLATE_NOOP("Statistics", "which nodes are seen")),
    "nodes": ("picture", QT_TRANSLATE_NOOP("Statistics", "table of nodes")),
    "scratch": ("work", QT_TRANSLATE_NOOP("Statistics", "scratch memory")),
}  # fmt: skip
"""Whose the bytes of each tag are, and what people call them; any other tag's are working memory."""


def memory_rows(statistics: FrameStatistics) -> list[Row]:
    """A heading with all that this scene needs, a row for each owner in a place that stays, and below it what it is
    for; then what is kept for reuse, which is not counted."""
    return _rows(tuple(statistics.bytes.items()), statistics.idle_bytes) + _key_rows(statistics.key_frames)


@functools.lru_cache(maxsize=4)  # asked for several times a second, and seldom others
def _rows(sizes: tuple[tuple[str, int], ...], idle: int) -> list[Row]:
    tr = QCoreApplication.translate
    total = sum(count for _, count in sizes)
    tip = tr(
        "Statistics",
        "Memory of the device that this scene, its structure and its pictures use. That of earlier scenes and "
        "structures has been freed.",
    )
    rows = [Row("memory", tr("Statistics", "Memory"), mebibytes(total), tip=tip)]
    for owner, (title, what) in OWNERS.items():
        found = {tag: count for tag, count in sizes if TAGS.get(tag, ("work", ""))[0] == owner}
        key = f"memory.{owner}"
        rows.append(
            Row(key, tr("Statistics", title), mebibytes(sum(found.values())), "memory", tip=tr("Statistics", what))
        )
        for tag, count in sorted(found.items(), key=lambda item: -item[1]):
            rows.append(Row(f"{key}.{tag}", _tag_title(tag), mebibytes(count), key))
    tip = tr("Statistics", "Not counted above: memory that is reserved but empty, for the next arrays.")
    rows.append(Row("memory.idle", tr("Statistics", "Kept for reuse"), mebibytes(idle), "memory", tip=tip))
    return rows


def _tag_title(tag: str) -> str:
    title = TAGS.get(tag, ("", ""))[1]
    return QCoreApplication.translate("Statistics", title) if title else tag.replace("_", " ")


def _key_rows(keys: KeyStreaming | None) -> list[Row]:
    """How many key frames lie on the target; where not all do, how they stream."""
    tr = QCoreApplication.translate
    if keys is None:
        return []
    there = tr("Statistics", "{slots} of {keys}").format(slots=f"{keys.slots:,}", keys=f"{keys.keys:,}")
    tip = tr("Statistics", "Key frames that fit into the device's memory at once.")
    rows = [Row("keys", tr("Statistics", "Key frames"), there, "memory", tip=tip)]
    if keys.slots == keys.keys:
        return rows
    tip = tr("Statistics", (
        "Frames that had to wait for a key frame to be copied: one after a jump of the "
        "playing head, none in steady play."
    ))  # fmt: skip
    return rows + [
        Row("keys.streamed", tr("Statistics", "streamed"), mebibytes(keys.bytes_streamed), "keys"),
        Row("keys.stalls", tr("Statistics", "frames that waited"), f"{keys.stalls:,}", "keys", tip=tip),
    ]
