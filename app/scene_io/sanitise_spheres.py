"""The sanitiser's part for spheres: every centre finite, every radius above 0 or ABSENT, and all that belongs to them
of a shape that fits.

A sphere without a usable centre or radius stays as a place with the radius ABSENT, so that ids, attributes and key
frames keep their numbers. What key frames lack on purpose (a radius of exactly ABSENT) is not counted.
"""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np

from raygrove.gpu.scene import ABSENT, Attribute, PeriodicBox, SphereKeys, Spheres

HUGE = 1e18


def clean_spheres(spheres: Spheres, material_count: int, counts: Counter[str]) -> Spheres | None:
    """Spheres that can be drawn, positions still as they came (float64 stays); None where their shapes do not fit or
    no sphere is left. What was done is added to `counts` by the keys of `sanitise.SENTENCES`."""
    count = len(spheres.centres)
    if spheres.centres.shape != (count, 3) or spheres.radii.shape != (count,):
        counts["spheres_shape"] += 1
        return None
    keys = spheres.key_frames and _fitting_keys(spheres.key_frames, count)
    counts["deformer"] += keys is None and spheres.key_frames is not None
    is_known = 0 <= spheres.material_id < material_count
    counts["material"] += 0 if is_known else count
    if keys is None:
        centres, radii, _ = _usable(spheres.centres, spheres.radii)
        counts["spheres"] += int(np.count_nonzero(radii <= 0.0))
    else:
        keys = _usable_keys(keys, spheres.radii, counts)
        centres, radii = keys.centres[0], spheres.radii if keys.radii is None else keys.radii[0]
    if not ((radii if keys is None or keys.radii is None else keys.radii) > 0.0).any():
        return None
    ids = spheres.ids if spheres.ids is not None and spheres.ids.shape == (count,) else None
    return Spheres(
        spheres.name,
        centres,
        radii,
        _usable_colours(spheres.colours, (count, 3)) if keys is None or keys.colours is None else keys.colours[0],
        spheres.material_id if is_known else 0,
        None if ids is None else ids.astype(np.int64),
        _fitting_attributes(spheres.attributes, count, 0 if keys is None else len(keys.times), counts),
        keys,
        spheres.box and _fitting_box(spheres.box, 0 if keys is None else len(keys.times), counts),
        spheres.gravity,
    )


def _usable(centres: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Centres and radii with 0 and ABSENT where either cannot be used, and how many spheres that are not absent cannot,
    in whichever key frame. (A comparison with NaN is false.)"""
    if centres.size and _within(centres) and _within(radii) and float(radii.min()) > 0.0:  # as most are
        return centres, radii, 0
    if centres.ndim == 3 and is_mapped(centres) and is_mapped(radii):  # on the disk: a key frame at a time, in place
        bad = np.zeros(centres.shape[1], bool)
        for key_centres, key_radii in zip(centres, radii, strict=True):
            good = _are_good(key_centres, key_radii)
            bad |= ~good & (key_radii != ABSENT)
            key_centres[~good], key_radii[~good] = 0.0, ABSENT
        return centres, radii, int(np.count_nonzero(bad))
    good = _are_good(centres, radii)
    if good.all():
        return centres, radii, 0
    bad = (~good & (radii != ABSENT)).reshape(-1, centres.shape[-2]).any(axis=0)
    usable = np.where(good[..., None], centres, 0.0).astype(centres.dtype), np.where(good, radii, ABSENT)
    return *usable, int(np.count_nonzero(bad))


def _are_good(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    good: np.ndarray = (np.abs(centres) <= HUGE).all(axis=-1) & (radii > 0.0) & (radii <= HUGE)
    return good


def is_mapped(values: np.ndarray) -> bool:
    """Whether an array lies in a file of its own that may be written: one of all key frames that memory cannot hold."""
    owner: object = values
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
        owner = owner.base
    return isinstance(owner, np.memmap) and values.flags.writeable


def _within(values: np.ndarray) -> bool:
    """Whether all values are finite and within HUGE: two reductions. (A comparison with NaN is false.)"""
    return bool(values.min() >= -HUGE and values.max() <= HUGE)


def _fitting_keys(keys: SphereKeys, count: int) -> SphereKeys | None:
    times = np.asarray(keys.times, np.float32)
    is_ascending = len(times) > 0 and np.isfinite(times).all() and (np.diff(times) > 0.0).all()
    if not is_ascending or keys.centres.shape != (len(times), count, 3):
        return None
    if keys.radii is not None and keys.radii.shape != (len(times), count):
        return None
    return dataclasses.replace(keys, times=times, colours=_usable_colours(keys.colours, (len(times), count, 3)))


def _usable_keys(keys: SphereKeys, at_rest: np.ndarray, counts: Counter[str]) -> SphereKeys:
    """Key frames whose bad spheres are absent; `radii` stay None as long as all of them are usable in every key."""
    radii = np.broadcast_to(at_rest, keys.centres.shape[:2]) if keys.radii is None else keys.radii
    centres, usable, bad = _usable(keys.centres, radii)
    counts["spheres"] += bad
    is_plain = keys.radii is None and all(bool((row > 0.0).all()) for row in usable)
    return dataclasses.replace(keys, centres=centres, radii=None if is_plain else usable)


def _usable_colours(colours: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray | None:
    if colours is None or colours.shape != shape:
        return None
    if colours.ndim == 3 and is_mapped(colours):
        for key in colours:
            np.nan_to_num(key, copy=False, nan=0.0, posinf=1.0, neginf=0.0).clip(0.0, 1.0, out=key)
        return colours
    return np.nan_to_num(colours, nan=0.0, posinf=1.0, neginf=0.0).astype(np.float32).clip(0.0, 1.0)


def _fitting_attributes(
    attributes: tuple[Attribute, ...], count: int, key_count: int, counts: Counter[str]
) -> tuple[Attribute, ...]:
    """Attributes whose first axes are (N,) or (K, N), with at most one more; NaN stays."""

    def fits(shape: tuple[int, ...]) -> bool:
        is_still = len(shape) in (1, 2) and shape[0] == count
        return is_still or (len(shape) in (2, 3) and key_count > 0 and shape[:2] == (key_count, count))

    kept = [one for one in attributes if fits(one.values.shape)]
    counts["attribute"] += len(attributes) - len(kept)
    return tuple(dataclasses.replace(one, values=np.ascontiguousarray(one.values, np.float32)) for one in kept)


def _fitting_box(box: PeriodicBox, key_count: int, counts: Counter[str]) -> PeriodicBox | None:
    """The box, where it is finite and its edges span a volume; periodic along no edge otherwise makes no sense."""
    origin, vectors = np.asarray(box.origin, np.float64), np.asarray(box.vectors, np.float64)
    allowed = {()} | ({(key_count,)} if key_count else set())
    fits = origin.ndim >= 1 and origin.shape[-1] == 3 and vectors.shape[-2:] == (3, 3)
    fits = fits and origin.shape[:-1] in allowed and vectors.shape[:-2] in allowed
    if fits:
        fits = bool((np.abs(origin) <= HUGE).all() and (np.abs(vectors) <= HUGE).all())
    if not fits or not (np.abs(np.linalg.det(vectors)) > 0.0).all():
        counts["box"] += 1
        return None
    return PeriodicBox(origin, vectors, box.periodic, box.copies)


def finish_spheres(spheres: Spheres) -> Spheres:
    """The spheres as arrays of float32, side by side in memory."""
    keys, box = spheres.key_frames, spheres.box
    if keys is not None:
        keys = SphereKeys(
            keys.times,
            np.ascontiguousarray(keys.centres, np.float32),
            None if keys.radii is None else np.ascontiguousarray(keys.radii, np.float32),
            keys.colours,
        )
    if box is not None:
        box = dataclasses.replace(box, origin=box.origin.astype(np.float32), vectors=box.vectors.astype(np.float32))
    return dataclasses.replace(
        spheres,
        centres=np.ascontiguousarray(spheres.centres, np.float32),
        radii=np.ascontiguousarray(spheres.radii, np.float32),
        key_frames=keys,
        box=box,
    )


def shifted_spheres(spheres: Spheres, shift: np.ndarray) -> Spheres:
    """The spheres nearer to zero by `shift` (3,) float64: subtracted before anything is rounded."""
    keys, box = spheres.key_frames, spheres.box

    def moved(points: np.ndarray) -> np.ndarray:
        return np.asarray(points, np.float64) - shift

    return dataclasses.replace(
        spheres,
        centres=moved(spheres.centres),
        key_frames=keys and dataclasses.replace(keys, centres=moved(keys.centres)),
        box=box and dataclasses.replace(box, origin=moved(box.origin)),
    )
