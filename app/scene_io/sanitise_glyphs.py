"""The sanitiser's part for glyphs: every centre finite, every size above 0 or -1, every turn of unit length, and links
between spheres that are there. A glyph that cannot be used stays as a place with sizes of -1."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping

import numpy as np

from raygrove.gpu.glyph_shapes import FLAT_SHAPES, GlyphKeys, Glyphs, check_glyphs
from raygrove.gpu.scene import Spheres

from .sanitise_spheres import HUGE


def clean_glyphs(
    glyphs: Glyphs, material_count: int, spheres: list[Spheres], sphere_ids: Mapping[int, int], counts: Counter[str]
) -> Glyphs | None:
    """Glyphs that can be drawn, linked to groups by their new numbers; None where their shapes do not fit or what they
    link is not there. What was done is added to `counts` by the keys of `sanitise.SENTENCES`."""
    links = glyphs.links
    if links is not None:
        links = dataclasses.replace(links, spheres=sphere_ids.get(links.spheres, -1))
        glyphs = dataclasses.replace(glyphs, links=links)
    try:
        check_glyphs(glyphs, [len(group.centres) for group in spheres])
    except ValueError:
        counts["glyphs_shape"] += 1
        return None
    is_known = 0 <= glyphs.material_id < material_count
    counts["material"] += 0 if is_known else len(glyphs.centres)
    keys = glyphs.key_frames
    centres, turns, sizes = _usable(glyphs.centres, glyphs.turns, glyphs.sizes, links is not None)
    if keys is None:
        counts["points" if glyphs.shape in FLAT_SHAPES else "glyphs"] += int(np.count_nonzero(sizes[:, 0] <= 0.0))
    else:
        of_keys = keys.sizes if keys.sizes is not None else np.broadcast_to(glyphs.sizes, keys.centres.shape)
        keyed = _usable(keys.centres, keys.turns, of_keys, False)
        keys = GlyphKeys(np.asarray(keys.times, np.float32), *keyed, keys.colours)
        centres, turns, sizes = keyed[0][0], None if keyed[1] is None else keyed[1][0], keyed[2][0]
    return dataclasses.replace(
        glyphs,
        centres=centres,
        turns=turns,
        sizes=sizes,
        material_id=glyphs.material_id if is_known else 0,
        key_frames=keys,
        links=links and dataclasses.replace(links, pairs=np.asarray(links.pairs, np.int32)),
    )


def _usable(
    centres: np.ndarray, turns: np.ndarray | None, sizes: np.ndarray, are_linked: bool
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """As float32, with 0 and -1 where a glyph cannot be used. (A comparison with NaN is false.)"""
    good = ((sizes > 0.0) & (sizes <= HUGE)).all(axis=-1) & ((np.abs(centres) <= HUGE).all(axis=-1) | are_linked)
    if turns is not None:
        lengths = np.linalg.norm(turns.astype(np.float64), axis=-1, keepdims=True)
        good &= (lengths[..., 0] > 0.0) & (lengths[..., 0] <= HUGE)
        turns = np.where(good[..., None], turns / np.where(good[..., None], lengths, 1.0), (0.0, 0.0, 0.0, 1.0))
    kept = good[..., None]
    return (
        np.where(kept, centres, 0.0).astype(np.float32),
        None if turns is None else turns.astype(np.float32),
        np.where(kept, sizes, -1.0).astype(np.float32),
    )
