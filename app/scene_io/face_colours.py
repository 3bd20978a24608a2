"""Colours of a PLY's faces, which libassimp leaves out, as does our own reader: they become materials."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from raygrove.gpu.scene import Material, Remark, Scene

from .particles.colours import linear_from_display
from .plain_readers import PLY_TYPES, Columns, PlainError, PlyHeader, materials_of, palette_of, ply_header

MAX_HEADER = 1 << 16
NAMES = (("red", "green", "blue"), ("r", "g", "b"), ("diffuse_red", "diffuse_green", "diffuse_blue"))
NOT_DRAWN = "Faces have colours, which are not drawn: their rows do not lie as the triangles that were read."
NOT_ROWS = (PlainError, ValueError, LookupError, TypeError, OverflowError, DeprecationWarning)
"""What rows give that do not lie as the header says; the last is numpy's word for text that is no numbers."""


class Faces(NamedTuple):
    """How many corners each face has (F,), and its colour (F, 3) as the file has it."""

    corners: np.ndarray
    colours: np.ndarray


def with_face_colours(scene: Scene, name: str, data: bytes | None) -> Scene:
    """The scene of the PLY file `name` (or of `data` in its place), its triangles with the colours of their faces, each
    of which became its corners less two, in the file's order; with a remark where there are colours that cannot be
    drawn."""
    try:
        header = ply_header(data if data is not None else _beginning(name))
    except NOT_ROWS:
        return scene  # of libassimp's opinion about it there are words
    names = _names(next((columns for kind, _, columns in header.elements if kind == "face"), []))
    if names is None or not scene.triangle_count:
        return scene
    try:
        found = _faces(header, names, Path(name).read_bytes() if data is None else data)
    except NOT_ROWS:
        return _told(scene, NOT_DRAWN)
    colours = np.repeat(found.colours, np.maximum(found.corners - 2, 0), axis=0)
    if len(scene.meshes) != 1 or len(colours) != len(scene.meshes[0].triangles):
        return _told(scene, NOT_DRAWN)
    palette = palette_of(linear_from_display(colours))
    base = scene.materials[int(scene.meshes[0].material_ids[0])] if scene.materials else Material()
    mesh = dataclasses.replace(scene.meshes[0], material_ids=palette.ids)
    scene = dataclasses.replace(scene, meshes=(mesh,), materials=materials_of(palette, base))
    return _told(scene, palette.remark) if palette.remark else scene


def _told(scene: Scene, sentence: str) -> Scene:
    return dataclasses.replace(scene, remarks=(*scene.remarks, Remark(1, sentence)))


def _beginning(name: str) -> bytes:
    with open(name, "rb") as file:
        return file.read(MAX_HEADER)


def _names(columns: Columns) -> tuple[str, str, str] | None:
    """What the three channels are called, None where there are none."""
    there = {column[-1] for column in columns if column[0] != "list"}
    return next((names for names in NAMES if there.issuperset(names)), None)


def _faces(header: PlyHeader, names: tuple[str, str, str], data: bytes) -> Faces:
    """The rows of faces, where nothing but vertices comes before them and they begin with their corners."""
    (first, vertices, before), (kind, count, columns) = header.elements[:2]
    if (first, kind) != ("vertex", "face") or any(column[0] == "list" for column in before):
        raise PlainError("something else comes before the faces")
    if columns[0][0] != "list" or any(column[0] == "list" for column in columns[1:]):
        raise PlainError("faces hold other lists")
    which = [[column[-1] for column in columns].index(name) - 1 for name in names]
    if not 0 < count <= len(data):
        raise PlainError("its faces are not there")
    if header.form == "ascii":
        return _of_text(data[header.begin :], vertices * len(before), count, columns, which)
    order = "<" if header.form == "binary_little_endian" else ">"
    begin = header.begin + vertices * sum(np.dtype(PLY_TYPES[column[0]]).itemsize for column in before)
    return _of_bytes(np.frombuffer(data, np.uint8)[begin:], count, columns, order, which)


def _of_text(text: bytes, begin: int, count: int, columns: Columns, which: list[int]) -> Faces:
    """`which` of the columns behind the indices are the channels; the first number of the first face is the one at
    `begin`."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        numbers = np.fromstring(text, np.float64, sep=" ")[begin:]
    starts, place = np.zeros(count, np.int64), 0
    width = int(numbers[0]) + len(columns)
    if count * width <= len(numbers) and (numbers[: count * width : width] == numbers[0]).all():
        starts = np.arange(count) * width
    else:
        for face in range(count):
            starts[face] = place
            place += int(numbers[place]) + len(columns)
    corners = numbers[starts].astype(np.int64)
    behind = starts + 1 + corners
    with np.errstate(invalid="ignore"):
        kinds = [np.dtype(PLY_TYPES[columns[1 + column][0]]) for column in which]
        channels = [numbers[behind + column].astype(kind) for column, kind in zip(which, kinds, strict=True)]
    return Faces(corners, np.stack(channels, axis=1))


def _of_bytes(data: np.ndarray, count: int, columns: Columns, order: str, which: list[int]) -> Faces:
    number, index = (np.dtype(order + PLY_TYPES[kind]) for kind in columns[0][1:3])
    kinds = [np.dtype(order + PLY_TYPES[column[0]]) for column in columns[1:]]
    rest = sum(kind.itemsize for kind in kinds)
    starts, place = np.zeros(count, np.int64), 0
    width = number.itemsize + int(data[: number.itemsize].view(number)[0]) * index.itemsize + rest
    lengths = _gathered(data, np.arange(count) * width, number) if count * width <= len(data) else np.zeros(0)
    if len(lengths) and (lengths == lengths[0]).all():
        starts = np.arange(count) * width
    else:
        for face in range(count):
            starts[face] = place
            corners_here = int(data[place : place + number.itemsize].view(number)[0])
            place += number.itemsize + corners_here * index.itemsize + rest
    corners = _gathered(data, starts, number).astype(np.int64)
    behind = starts + number.itemsize + corners * index.itemsize
    offsets = np.cumsum([0, *(kind.itemsize for kind in kinds)])
    channels = [_gathered(data, behind + offsets[column], kinds[column]) for column in which]
    return Faces(corners, np.stack(channels, axis=1))


def _gathered(data: np.ndarray, places: np.ndarray, kind: np.dtype) -> np.ndarray:
    """The numbers that lie at places in bytes."""
    return np.ascontiguousarray(data[places[:, None] + np.arange(kind.itemsize)]).view(kind)[:, 0]
