"""What is drawn beside particles where the import asks for it: bonds between atoms, arrows along a vector of each."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.glyph_shapes import GlyphKeys, Glyphs
from raygrove.gpu.scene import Object, Remark, Scene, Spheres

from ..limits import ImportLimits
from .bonds import TooDenseError, ball_and_stick, bonds_within, covalent_radii

LONGEST_ARROW = 8.0
"""How long the longest arrow is, in radii of the particles, where no scale is given."""

SHAFT, HEAD = 0.25, 0.6
"""Radii of an arrow's shaft and head, in radii of the particles."""


def with_glyphs(scene: Scene, limits: ImportLimits, pairs: np.ndarray | None) -> Scene:
    """The scene of one group of particles with the bonds and the arrows that the limits ask for, and remarks where
    there are none to draw. `pairs` (B, 2) are the file's bonds, by places of the group."""
    if limits.bonds != "none":
        scene = _with_bonds(scene, limits, pairs)
    return _with_arrows(scene, limits) if limits.arrows else scene


def _with_bonds(scene: Scene, limits: ImportLimits, pairs: np.ndarray | None) -> Scene:
    (atoms,) = scene.spheres
    if limits.bonds == "cut_off":
        elements = next((one.values for one in atoms.attributes if one.name == "element"), None)
        if elements is None:
            return remarked(scene, "Bonds by distance need elements, and the file has none.")
        of_first = elements if elements.ndim == 1 else elements.reshape(-1, len(atoms.centres))[0]
        there = np.where(atoms.radii[:, None] > 0.0, atoms.centres, np.nan)
        try:
            pairs = bonds_within(there, covalent_radii(of_first))
        except TooDenseError as error:
            sentence = "Bonds by distance take lengths in angstrom, and the atoms stand too near one another for that"
            return remarked(
                scene, f"{sentence}: {error}. Convert the file, or draw its own bonds (import.bonds = file)."
            )
    if pairs is None or not len(pairs):
        which = "lists no bonds" if limits.bonds == "file" else "has no atoms that are near enough for bonds"
        return remarked(scene, f"The file {which}.")
    return ball_and_stick(scene, 0, pairs)


def _with_arrows(scene: Scene, limits: ImportLimits) -> Scene:
    (group,) = scene.spheres
    found = next((one.values for one in group.attributes if one.name == limits.arrows), None)
    if found is None or found.shape[-1] != 3 or found.ndim < 2:
        known = ", ".join(one.name for one in group.attributes if one.values.ndim > 1 and one.values.shape[-1] == 3)
        has = f"it has {known}" if known else "it has none with three columns"
        return remarked(scene, f"Arrows need a vector of each particle, and {limits.arrows!r} is none: {has}.")
    arrows = _arrows(group, np.asarray(found, np.float32), limits.arrow_scale)
    objects = (*scene.objects, Object(scene.objects[0].node, glyphs=len(scene.glyphs)))
    return dataclasses.replace(scene, glyphs=(*scene.glyphs, arrows), objects=objects)


def _arrows(group: Spheres, vectors: np.ndarray, scale: float) -> Glyphs:
    """An arrow from each particle's centre along its vector (N, 3) or (K, N, 3), in each key frame."""
    keys = group.key_frames
    centres = (group.centres[None] if keys is None else keys.centres).astype(np.float64)
    radii = np.broadcast_to(group.radii if keys is None or keys.radii is None else keys.radii, centres.shape[:2])
    vectors = np.broadcast_to(vectors if vectors.ndim == 3 else vectors[None], centres.shape).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=2)
    there = np.isfinite(lengths) & (lengths > 0.0) & (radii > 0.0)
    width = float(np.median(radii[there])) if there.any() else 1.0
    scale = scale or LONGEST_ARROW * width / max(float(lengths[there].max(initial=0.0)), 1e-30)
    way = np.divide(vectors, lengths[..., None], out=np.zeros_like(vectors), where=there[..., None])
    half = np.where(there, 0.5 * scale * lengths, -1.0)
    thick = np.broadcast_to(np.array([SHAFT, HEAD]) * width, (*half.shape, 2))
    sizes = np.concatenate([thick, half[..., None]], axis=2).astype(np.float32)
    middle = (centres + way * np.maximum(half, 0.0)[..., None]).astype(np.float32)
    turns = turns_to(way).astype(np.float32)
    known = None if keys is None else GlyphKeys(keys.times, middle, turns, sizes)
    colours = group.colours
    name = f"arrows of {group.name}"
    return Glyphs(name, "arrow", middle[0], sizes[0], turns[0], colours, group.material_id, group.ids, known)


def turns_to(way: np.ndarray) -> np.ndarray:
    """(..., 4) unit quaternions that turn z the shortest way to unit vectors (..., 3); half a turn round x to -z."""
    x, y, z = np.moveaxis(way, -1, 0)
    beside = x * x + y * y
    w = np.where(z < 0.0, beside / (1.0 - np.minimum(z, 0.0)), 1.0 + z)
    turns = np.stack([-y, x, np.zeros_like(x), w], axis=-1)
    turns[(z < 0.0) & (beside < 1e-30)] = (1.0, 0.0, 0.0, 0.0)
    return np.asarray(turns / np.linalg.norm(turns, axis=-1, keepdims=True))


def remarked(scene: Scene, sentence: str) -> Scene:
    """The scene with one more remark."""
    return dataclasses.replace(scene, remarks=(*scene.remarks, Remark(1, sentence)))
