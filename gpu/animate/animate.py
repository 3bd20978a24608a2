"""Scene and moment -> the surface of this instant: world-space vertices, evaluated on the target every frame that
something moves.

Nodes move by tracks (step, linear with quaternion slerp, cubic), meshes by whole-mesh key frames (linear, Meister 2014,
6.2.3), morph targets and skins (deform.py). Only objects that the clip moves are written again; a scene that does not
move costs nothing. What is not drawn as the file means it is said in `Animator.remarks`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Hashable

import numpy as np

from ..attributes import SphereOptions
from ..gravity import GravityOptions
from ..hierarchy.base import ObjectRange, Primitives
from ..scene import Light, Moment, Scene
from ..stats import KeyStreaming
from ..target.base import Array, Target, UnitSource
from . import deform_tables, tables
from .attributes import SphereAttributes
from .checks import check_mesh, check_order, remarks_of
from .deform import Deformer
from .glyphs import GlyphAnimator, GlyphSurface, with_glyphs
from .key_sources import plan_keys, upload_meshes
from .key_stream import KeyStream
from .pose import Pose
from .simulation import Simulations
from .spheres import SphereAnimator, SphereSurface, surface_primitives


@dataclasses.dataclass(eq=False)
class Surface:
    """The scene's triangles, spheres and glyphs at one instant, on the target. V vertices, T triangles, S spheres and
    glyphs over all objects, in the objects' order.

    positions, previous (the instant before), normals (V, 3) float32; uvs (V, 2) float32 or one row of zeros; triangles
    (T, 3) int32 into the vertices; material_ids (T + S,) int32; lights (max(1, L), 20) float32 as lights.cuh has them;
    `objects` are the scene's, by their primitives there.
    `primitives` are those of the objects that are not hidden. `version` grows when anything of it changes; spheres have
    their sizes by `sizing`.
    """

    positions: Array
    previous: Array
    normals: Array
    uvs: Array
    triangles: Array
    material_ids: Array
    lights: Array
    light_count: int
    objects: tuple[ObjectRange, ...]
    primitives: Primitives
    spheres: SphereSurface | None = None
    glyphs: GlyphSurface | None = None
    version: int = 1
    sizing: Hashable = ()


@dataclasses.dataclass(frozen=True, eq=False)
class _Parts:
    """What a clip moves: object indices, whether nothing at all moves, and the tiles (X, 4) int32 of the moving and of
    the other objects, apart for those that keep their shape and those that deform; `spheres` and `glyphs` are theirs,
    moving and not. What is launched for it is one function a clip: captured frames are told apart by it."""

    moving: np.ndarray
    is_still: bool
    moving_tiles: tuple[Array, Array]
    still_tiles: tuple[Array, Array]
    spheres: tuple[Array | None, Array | None]
    glyphs: tuple[Array | None, Array | None]
    launch_moving: Callable[[], None]
    launch_all: Callable[[], None]


class Animator:
    """Holds a scene on a target and brings its surface to a moment. Raises ValueError for a scene whose parts do not
    fit one another."""

    def __init__(self, target: Target, scene: Scene) -> None:
        check_order(scene)
        for mesh in scene.meshes:
            check_mesh(mesh, len(scene.nodes))
        self.remarks = remarks_of(scene)
        placed = tuple(thing for thing in scene.objects if thing.mesh >= 0)
        sequences, slots, are_mapped = plan_keys(target, scene)
        meshes, room = len(scene.meshes), slots[len(scene.meshes) :]
        self._spheres = SphereAnimator(target, scene, len(placed), scene.triangle_count, room, are_mapped)
        self.simulations = Simulations(target, scene, self._spheres.centres_of)
        self.attributes = SphereAttributes(target, scene, self._spheres, len(placed)) if self._spheres.objects else None
        others = len(placed) + len(self._spheres.objects)
        first_glyph = scene.triangle_count + scene.sphere_count
        self._glyphs = GlyphAnimator(target, scene, others, first_glyph, self._spheres, room, are_mapped)
        self._sequence_seconds = [scene.duration(clip) for clip in range(max(1, len(scene.clips)))]
        scene = dataclasses.replace(scene, objects=placed)  # of the meshes: spheres' objects come after them
        self._target, self._scene, self.lights = target, scene, scene.lights
        self._unit = target.unit(UnitSource("gpu/animate/animate.cu"))
        self._counts = np.array([len(scene.meshes[o.mesh].positions) for o in scene.objects], np.int64)
        self._first_vertex = np.cumsum(self._counts) - self._counts
        skins, weights = deform_tables.skin_tables(scene.meshes), deform_tables.weight_tables(scene)
        sources = tables.source_tables(scene.meshes, slots[:meshes])
        tables.check_counts(scene, sources)
        further = (*self._spheres.placed(), *self._glyphs.placed())
        self._pose = Pose(target, scene, sources, skins, weights, further)
        self._deformer = Deformer(target, scene, sources.strides, skins, weights)
        self._source_positions, self._source_normals, shapes = upload_meshes(target, scene.meshes, sources, are_mapped)
        shapes |= self._spheres.shapes(self._pose.first_times[len(placed) : others], meshes)
        shapes |= self._glyphs.shapes(self._pose.first_times[others:], len(slots) - len(scene.glyphs))
        self._keys = KeyStream(target, sequences, shapes, self._pose.key_slots, are_mapped)
        self.surface = self._make_surface()
        self.is_placed = self._is_relit = False
        self._shown: tuple[float, int] | None = None
        self._unsettled: Callable[[], None] | None = None
        self._parts: dict[int, _Parts] = {}
        self._not_finite = target.zeros(2, np.int32, "surface")
        for clip in range(max(1, len(scene.clips))):
            self._parts_of(clip)  # now, so that no frame allocates

    # -- the frame ------------------------------------------------------------------------------------------------
    def prepare(self, moment: Moment) -> tuple[Callable[[], None], ...]:
        """Write the moment, and give what has to be launched for it: nothing, what moves, or everything the first time
        and when the clip changes. The launches stay the same from frame to frame while a clip plays; an unmoved frame
        after a moved one launches once more, so that `previous` becomes equal to `positions`, and so does one whose
        lights are others."""
        clip = self._clip_of(moment)
        wanted, shown, parts = (float(np.float32(moment.time)), clip), self._shown, self._parts_of(clip)
        is_relit, self._is_relit = self._is_relit, False
        if self._is_shown(*wanted):
            once_more = self._unsettled or (parts.launch_moving if is_relit else None)
            self._unsettled = None
            return (once_more,) if once_more else ()
        self._shown = wanted
        self._keys.show(wanted[0], self._sequence_seconds[clip])
        self.simulations.show(wanted[0], self.attributes.live if self.attributes is not None else {})
        self._pose.write_moment(wanted)
        if shown is None:
            return (parts.launch_all, parts.launch_all)
        is_new_clip = shown[1] != clip
        self._count_motion(self._all_objects() if is_new_clip else parts.moving)
        self._unsettled = parts.launch_all if is_new_clip else parts.launch_moving
        return (self._unsettled,)

    def version_at(self, moment: Moment) -> int:
        """The version that the surface will have once the moment is prepared: the same as long as it shows the
        same."""
        clip = self._clip_of(moment)
        changes = self._shown is not None and not self._is_shown(float(np.float32(moment.time)), clip)
        return self.surface.version + int(changes)

    def _clip_of(self, moment: Moment) -> int:
        return moment.clip if 0 <= moment.clip < len(self._scene.clips) else 0

    def _is_shown(self, time: float, clip: int) -> bool:
        shown = self._shown
        return shown is not None and shown[1] == clip and (shown[0] == time or self._parts_of(clip).is_still)

    @property
    def shown_time(self) -> float:
        """The instant last prepared, in seconds; 0 before."""
        return self._shown[0] if self._shown is not None else 0.0

    def take_lights(self, lights: tuple[Light, ...]) -> None:
        """Other lights for the moments to come; what moved in between is told as ever."""
        self.lights = lights
        self._pose.take_lights(lights)
        self.surface.light_count = self._pose.light_count
        for clip in tuple(self._parts):
            del self._parts[clip]
            self._parts_of(clip)
        self._is_relit = True
        self.surface.version += 1

    def catch_up(self) -> None:
        """Between two frames: where the last one showed an earlier instant of a simulation, show its own now."""
        if self.simulations.settle():
            self.forget()

    def forget(self) -> None:
        """What was prepared was not launched: everything is written anew for the next moment."""
        self._shown = None
        self._count_motion(self._all_objects())

    def _all_objects(self) -> np.ndarray:
        return np.arange(len(self.surface.objects))

    def hide_others(self, hidden: Collection[int]) -> None:
        """Leave out these objects' spheres and glyphs, and no others', now and from now on. Between two frames."""
        firsts, spheres = len(self._scene.objects), len(self._spheres.objects)
        flags = np.array([firsts + index in hidden for index in range(spheres)], bool)
        if len(flags):
            self._spheres.hide(flags)
        self._glyphs.hide(hidden, firsts + spheres)
        if self._shown is not None:  # else all is launched for the next moment
            self._launch_others(self._shown[1], 0)
            self._launch_others(self._shown[1], 1)

    def take_sphere_options(self, options: SphereOptions, colors: np.ndarray) -> bool:
        """Other colours, sizes and selection of spheres for the moments to come (SphereAttributes.take). Whether
        captured launches are stale. Between two frames."""
        if self.attributes is None or options == self.attributes.options:
            return False
        is_other = self.attributes.take(options, colors)
        self.surface.spheres, self.surface.sizing = self._spheres.surface, options.sizing
        self.forget()
        return is_other

    def take_gravity_options(self, options: GravityOptions) -> None:
        """Other forces between bodies that are simulated (Simulations.take). Between two frames."""
        if self.simulations.take(options):
            self.forget()

    def place(self, moment: Moment) -> None:
        """Before a frame: launch the surface of its moment, so that what is made ready for it meets primitives in their
        places. The frame does so once more, unless they stand there already."""
        if not (self.is_placed and self._is_shown(float(np.float32(moment.time)), self._clip_of(moment))):
            self.at(moment)
            self.forget()

    def at(self, moment: Moment) -> Surface:
        """The surface at a moment: prepare and launch."""
        for launch in self.prepare(moment):
            launch()
        self.is_placed = True
        return self.surface

    def streaming(self) -> KeyStreaming | None:
        """How the key frames of the moment last prepared came to the target; None for a scene without any."""
        return self._keys.statistics()

    def close(self) -> None:
        """Wait for copies under way. The surface's memory goes with the animator, at once: what it launches no longer
        holds it."""
        self._keys.close()
        self._parts.clear()
        self._unsettled = None

    def not_finite_count(self) -> int:
        """Vertices and spheres that are not finite at the moment shown, their primitives inactive. Waits: on request,
        outside a frame."""
        moving, still = self._target.download(self._not_finite).tolist()
        return int(moving) + int(still)

    def object_of(self, prim_id: int) -> int:
        """The object that a primitive belongs to."""
        firsts = [thing.first for thing in self.surface.objects]
        return int(np.searchsorted(firsts, prim_id, side="right")) - 1

    def _parts_of(self, clip: int) -> _Parts:
        if clip not in self._parts:
            nodes = tables.moving_nodes(self._scene, clip)
            keyed = [m.key_frames is not None and len(m.key_frames.times) > 1 for m in self._scene.meshes]
            skinned = [m.skin is not None for m in self._scene.meshes]
            moves = np.array(
                [(bool(nodes[o.node]) and not skinned[o.mesh]) or keyed[o.mesh] for o in self._scene.objects], bool
            )
            moves |= self._deformer.moves(clip, nodes)
            moving, still = np.flatnonzero(moves), np.flatnonzero(~moves)
            lights_move = any(light.node >= 0 and nodes[light.node] for light in self.lights)
            things = self._spheres.objects
            spheres_move = np.array([bool(nodes[o.node]) for o in things], bool) | self._spheres.moves
            spheres = (np.flatnonzero(spheres_move), np.flatnonzero(~spheres_move))
            tiles = (self._upload_tiles(moving), self._upload_tiles(still))
            glyphs_move = self._glyphs.moves(nodes, spheres_move)
            glyphs = (np.flatnonzero(glyphs_move), np.flatnonzero(~glyphs_move))
            moving = np.concatenate([moving, len(moves) + spheres[0], len(moves) + len(things) + glyphs[0]])
            is_still = not len(moving) and not lights_move
            launches = (functools.partial(self._launch_moving, clip), functools.partial(self._launch_all, clip))
            sphere_tiles = (self._spheres.tiles(spheres[0]), self._spheres.tiles(spheres[1]))
            glyph_tiles = (self._glyphs.tiles(glyphs[0]), self._glyphs.tiles(glyphs[1]))
            self._parts[clip] = _Parts(moving, is_still, *tiles, sphere_tiles, glyph_tiles, *launches)
        return self._parts[clip]

    def _count_motion(self, moved: np.ndarray) -> None:
        surface, primitives = self.surface, self.surface.primitives
        surface.version += 1
        if not len(moved):
            return
        is_whole = primitives.objects is surface.objects
        surface.objects = _moved(surface.objects, moved)
        visible = surface.objects if is_whole else _moved(primitives.objects, moved)
        surface.primitives = dataclasses.replace(
            primitives, objects=visible, shape_version=primitives.shape_version + 1
        )

    # -- launches -------------------------------------------------------------------------------------------------
    def _launch_moving(self, clip: int) -> None:
        self._pose.launch(self._not_finite[0:1])
        self._transform(self._parts_of(clip).moving_tiles, self._not_finite[0:1])
        self._launch_others(clip, 0)

    def _launch_all(self, clip: int) -> None:
        self._launch_moving(clip)
        self._target.fill(self._not_finite[1:2], 0)
        self._transform(self._parts_of(clip).still_tiles, self._not_finite[1:2])
        self._launch_others(clip, 1)

    def _launch_others(self, clip: int, part: int) -> None:
        """The spheres and glyphs that move (part 0), or those that do not."""
        parts, not_finite = self._parts_of(clip), self._not_finite[part : part + 1]
        self._spheres.launch(parts.spheres[part], self._pose.placements, not_finite)
        if self.attributes is not None:
            self.attributes.launch(parts.spheres[part], self._pose, part)
        self._glyphs.launch(parts.glyphs[part], self._pose.placements, not_finite)

    def _transform(self, tiles: tuple[Array, Array], not_finite: Array) -> None:
        (rigid, deformed), surface = tiles, self.surface
        buffers = {
            "source_positions": self._source_positions,
            "source_normals": self._source_normals,
            "positions": surface.positions,
            "previous": surface.previous,
            "normals": surface.normals,
            "not_finite": not_finite,
        }
        count = len(rigid)
        if count:
            blocks = min(count, tables.MAX_BLOCKS)
            self._target.launch(
                self._unit,
                "transform_vertices",
                count,
                tiles=rigid,
                tile_count=count,
                placements=self._pose.placements,
                **buffers,
                blocks=blocks,
            )
        self._deformer.deform(deformed, self._pose, buffers)

    # -- once a scene ---------------------------------------------------------------------------------------------
    def _upload_tiles(self, objects: np.ndarray) -> tuple[Array, Array]:
        """Tiles of the objects that keep their shape, and of those that deform."""
        deforms = self._deformer.deforms[objects]
        rigid = self._target.upload(tables.tiles_of(self._first_vertex, self._counts, objects[~deforms]), "animation")
        return rigid, self._deformer.tiles(self._first_vertex, self._counts, objects[deforms])

    def _make_surface(self) -> Surface:
        target, scene = self._target, self._scene
        meshes = [scene.meshes[o.mesh] for o in scene.objects]
        vertex_count, triangle_count = int(self._counts.sum()), sum(len(m.triangles) for m in meshes)
        rows = max(1, triangle_count)
        triangles, materials = np.zeros((rows, 3), np.int32), np.zeros(rows, np.int32)
        of_others = (self._spheres.material_ids, self._glyphs.material_ids)
        materials = np.concatenate([materials[:triangle_count], *of_others]).astype(np.int32)
        if not len(materials):
            materials = np.zeros(1, np.int32)
        has_others = self._spheres.surface is not None or self._glyphs.surface is not None
        has_uvs = any(mesh.uvs is not None for mesh in scene.meshes) or has_others
        uvs = np.zeros((max(1, vertex_count) if has_uvs else 1, 2), np.float32)
        ranges, first = [], 0
        for thing, mesh, first_vertex in zip(scene.objects, meshes, self._first_vertex.tolist(), strict=True):
            last = first + len(mesh.triangles)
            triangles[first:last] = mesh.triangles + np.int32(first_vertex)
            materials[first:last] = np.clip(mesh.material_ids, 0, max(0, len(scene.materials) - 1))
            if mesh.uvs is not None:
                uvs[first_vertex : first_vertex + len(mesh.positions)] = mesh.uvs
            ranges.append(ObjectRange(first, len(mesh.triangles), thing.node))
            first = last
        positions, previous, normals = (
            target.zeros((max(1, vertex_count), 3), np.float32, "surface") for _ in range(3)
        )
        others = (*self._spheres.objects, *self._glyphs.objects)
        counts = (*self._spheres.counts.tolist(), *self._glyphs.counts.tolist())
        for thing, count in zip(others, counts, strict=True):
            ranges.append(ObjectRange(first, count, thing.node))
            first += count
        indices, objects, spheres = target.upload(triangles, "surface"), tuple(ranges), self._spheres.surface
        primitives = surface_primitives(
            positions[:vertex_count],
            indices[:triangle_count],
            spheres,
            objects=objects,
            topology_version=1,
            shape_version=1,
        )
        primitives = with_glyphs(primitives, self._glyphs.surface)
        on_target = (target.upload(uvs, "surface"), indices, target.upload(materials, "surface"))
        return Surface(
            positions,
            previous,
            normals,
            *on_target,
            self._pose.lights,
            self._pose.light_count,
            objects,
            primitives,
            spheres,
            self._glyphs.surface,
        )


def _moved(objects: tuple[ObjectRange, ...], moved: np.ndarray) -> tuple[ObjectRange, ...]:
    """The objects with the versions of those that moved grown."""
    changed = list(objects)
    for index in moved:
        changed[index] = changed[index]._replace(version=changed[index].version + 1)
    return tuple(changed)
