"""Points as flat glyphs instead of spheres, where the import asks for it: discs that lie on the surface by the normals
of the file, or by normals estimated from the nearest points, and splats, which are shaded by them."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.glyph_shapes import GlyphKeys, Glyphs
from raygrove.gpu.nearest_points import NEIGHBOURS, areas_by_neighbours, nearest_points, normals_by_neighbours
from raygrove.gpu.scene import ABSENT, Object, Scene, Spheres

from ..limits import ImportLimits
from .as_glyphs import remarked, turns_to

NORMALS = ("normal", "normals")
"""What an attribute of normals is called, in any case."""

NO_RADII = "The file has no radii: half the usual distance of neighbours was taken."
WIDEST = 5.0
"""A disc has at most so many times the usual radius: points that stand alone would have huge ones."""


def with_radius(group: Spheres, radius: float) -> Spheres:
    """The group with one radius for all that are there; as it is for 0."""
    if not radius:
        return group
    keys, one = group.key_frames, np.float32(radius)
    if keys is not None and keys.radii is not None:
        keys = dataclasses.replace(keys, radii=np.where(keys.radii > 0.0, one, np.float32(ABSENT)))
    radii = np.where(group.radii > 0.0, one, np.float32(ABSENT))
    return dataclasses.replace(group, radii=radii, key_frames=keys)


def as_flat_points(scene: Scene, limits: ImportLimits, has_radii: bool) -> Scene:
    """The scene of one group of spheres with a disc or a splat in place of each, as the limits say; remarks tell what
    was estimated, and why spheres stay where they do. Without radii (`has_radii`) each reaches over its neighbours."""
    (group,) = scene.spheres
    why = _needs_spheres(scene, group)
    if why:
        scene = scene if has_radii else remarked(scene, NO_RADII)
        return remarked(scene, f"Points stay spheres (import.point_shape = {limits.point_shape}): {why}.")
    keys = group.key_frames
    centres = group.centres[None] if keys is None else keys.centres
    radii = np.broadcast_to(group.radii if keys is None or keys.radii is None else keys.radii, centres.shape[:2])
    given = next((one for one in group.attributes if one.name.lower() in NORMALS and one.values.shape[-1] == 3), None)
    normals = np.zeros_like(centres)
    if given is not None and given.values.ndim > 1:
        normals[:] = given.values
    sizes, estimated = np.zeros(centres.shape, np.float32), 0
    wide = np.zeros(len(group.centres))
    for key in range(len(centres)):
        there = radii[key] > 0.0
        has_normal = _make_unit(normals[key])
        missing = there & ~has_normal
        if missing.any() or (key == 0 and not has_radii):
            near = neighbourhood(centres[key, there])
            normals[key, missing] = near.normals()[missing[there]]
            if key == 0:
                wide[there] = near.covering_radii()
        estimated = max(estimated, int(np.count_nonzero(missing)))
        if key:
            turned = np.einsum("ij,ij->i", normals[key], normals[key - 1]) < 0.0
            normals[key, turned] *= -1.0
        sizes[key] = radii[key, :, None]
    if not has_radii:
        wide[wide <= 0.0] = np.median(wide[wide > 0.0]) if wide.any() else 1.0  # of those that come later
        sizes = np.where(sizes > 0.0, wide[:, None], sizes).astype(np.float32)
    flat = _glyphs(group, limits.point_shape, centres, turns_to(normals.astype(np.float64)).astype(np.float32), sizes)
    others = (thing for thing in scene.objects if thing.spheres < 0)
    objects = (Object(scene.objects[0].node, glyphs=len(scene.glyphs)), *others)
    scene = dataclasses.replace(scene, spheres=(), glyphs=(*scene.glyphs, flat), objects=objects)
    if not has_radii:
        scene = remarked(scene, "The file has no radii: each point reaches over the distance to its neighbours.")
    return _said(scene, limits.point_shape, estimated, [one.name for one in group.attributes if one is not given])


def _needs_spheres(scene: Scene, group: Spheres) -> str:
    """Why the group's spheres cannot be taken away; "" where they can."""
    if any(glyphs.links is not None for glyphs in scene.glyphs):
        return "their bonds go from sphere to sphere, so choose import.bonds = none"
    if group.box is not None:
        return "the file has a periodic box, through which spheres alone move"
    return ""


def _make_unit(normals: np.ndarray) -> np.ndarray:
    """Make normals (N, 3) of unit length, in place, and z of those that are none; which of them are some (N,)."""
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.linalg.norm(normals, axis=1)
    good = np.isfinite(lengths) & (lengths > 0.0)
    normals[good] /= lengths[good, None]
    normals[~good] = (0.0, 0.0, 1.0)
    return np.asarray(good)


@dataclasses.dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Each place of points once, `places` (P, 3) float64, and which of them each of the points is at, `of` (N,): many
    points at one place, as sensors write what they did not see, say nothing of a surface. The nearest places of each,
    (P, k)."""

    places: np.ndarray
    of: np.ndarray
    indices: np.ndarray
    distances: np.ndarray

    def normals(self) -> np.ndarray:
        """(N, 3); z where fewer than three places say nothing."""
        if len(self.places) < 3:
            return np.zeros((len(self.of), 3)) + (0.0, 0.0, 1.0)
        return np.asarray(normals_by_neighbours(self.places, self.indices)[self.of])

    def covering_radii(self) -> np.ndarray:
        """(N,): with them discs reach over the gaps to their neighbours, the root of the area around each point."""
        if len(self.places) < 2:
            return np.ones(len(self.of))
        found = np.sqrt(areas_by_neighbours(self.places, self.distances))
        return np.asarray(np.minimum(found, WIDEST * float(np.median(found)))[self.of])


def neighbourhood(points: np.ndarray) -> Neighbourhood:
    """The nearest places of points (N, 3), as many as there are up to NEIGHBOURS."""
    order = np.lexsort(points.T)
    is_new = np.ones(len(points), bool)
    is_new[1:] = (np.diff(points[order], axis=0) != 0.0).any(axis=1)
    of = np.empty(len(points), np.int64)
    of[order] = np.cumsum(is_new) - 1
    places = points[order][is_new].astype(np.float64)
    count = min(NEIGHBOURS, len(places) - 1)
    if count < 1:
        return Neighbourhood(places, of, np.zeros((len(places), 0), np.int64), np.zeros((len(places), 0)))
    return Neighbourhood(places, of, *nearest_points(places, count))


def _glyphs(group: Spheres, shape: str, centres: np.ndarray, turns: np.ndarray, sizes: np.ndarray) -> Glyphs:
    keys = group.key_frames
    known = None if keys is None else GlyphKeys(keys.times, centres, turns, sizes, keys.colours)
    return Glyphs(group.name, shape, centres[0], sizes[0], turns[0], group.colours, group.material_id, group.ids, known)


def _said(scene: Scene, shape: str, estimated: int, attributes: list[str]) -> Scene:
    if estimated:
        of = "points without a normal in the file have one"
        scene = remarked(scene, f"{estimated:,} {of} estimated from their {NEIGHBOURS} nearest points.")
    if attributes:
        names = ", ".join(attributes)
        scene = remarked(
            scene,
            f"Points drawn as {shape}s cannot be coloured, sized or selected by attributes ({names}): spheres can "
            "(import.point_shape = sphere).",
        )
    return scene
