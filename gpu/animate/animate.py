"""Scene and moment -> the surface of this instant: world-space vertices, evaluated on the target every frame that something moves.

Nodes move by tracks (step, linear with quaternion slerp, cubic), meshes by whole-mesh key frames (linear, Meister 2014, 6.2.3), morph targets and
skins (deform.py). Only objects that the clip moves are written again; a scene that does not move costs nothing. What is not drawn as the file
means it is said in `Animator.remarks`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from ..hierarchy.base import ObjectRange, Primitives
from ..hierarchy.primitives import triangle_primitives
from ..scene import Light, Mesh, Moment, Remark, Scene
from ..stats import KeyStreaming
from ..target.base import Array, Target, UnitSource
from . import deform_tables, tables
from .deform import Deformer
from .key_schedule import plan_sequences, slots_of
from .key_stream import KeyStream
from .pose import Pose


@dataclasses.dataclass(eq=False)
class Surface:
    """The scene's triangles at one instant, on the target. V vertices, T triangles over all objects, in the objects' order.

    positions, previous (the instant before), normals (V, 3) float32; uvs (V, 2) float32 or one row of zeros; triangles (T, 3) int32 into the
    vertices; material_ids (T,) int32; lights (max(1, L), 20) float32 as lights.cuh has them; `objects` are the scene's, by their triangles there.
    `primitives` are those of the objects that are not hidden. `version` grows when anything of it changes.
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
    version: int = 1


@dataclasses.dataclass(frozen=True, eq=False)
class _Parts:
    """What a clip moves: object indices, whether nothing at all moves, and the tiles (X, 4) int32 of the moving and of the other objects, apart
    for those that keep their shape and those that deform. What is launched for it is one function a clip: captured frames are told apart by it."""

    moving: np.ndarray
    is_still: bool
    moving_tiles: tuple[Array, Array]
    still_tiles: tuple[Array, Array]
    launch_moving: Callable[[], None]
    launch_all: Callable[[], None]


class Animator:
    """Holds a scene on a target and brings its surface to a moment. Raises ValueError for a scene whose parts do not fit one another."""

    def __init__(self, target: Target, scene: Scene) -> None:
        self._target, self._scene, self.lights = target, scene, scene.lights
        for mesh in scene.meshes:
            _check_mesh(mesh, len(scene.nodes))
        self._unit = target.unit(UnitSource("gpu/animate/animate.cu"))
        self._counts = np.array([len(scene.meshes[o.mesh].positions) for o in scene.objects], np.int64)
        self._first_vertex = np.cumsum(self._counts) - self._counts
        skins, weights = deform_tables.skin_tables(scene.meshes), deform_tables.weight_tables(scene)
        sequences = plan_sequences(scene.meshes, self._key_budget())
        sources = tables.source_tables(scene.meshes, slots_of(scene.meshes, sequences))
        tables.check_counts(scene, sources)
        self._pose = Pose(target, scene, sources, skins, weights)
        self._deformer = Deformer(target, scene, sources.strides, skins, weights)
        shapes = self._upload_sources(sources)
        self._keys = KeyStream(target, sequences, sources, shapes, (self._source_positions, self._source_normals), self._pose.key_slots)
        self.surface = self._make_surface()
        self.remarks = remarks_of(scene)
        self.is_placed = self._is_relit = False
        self._shown: tuple[float, int] | None = None
        self._unsettled: Callable[[], None] | None = None
        self._parts: dict[int, _Parts] = {}
        self._not_finite = target.zeros(2, np.int32, "surface")
        for clip in range(max(1, len(scene.clips))):
            self._parts_of(clip)  # now, so that no frame allocates

    # -- the frame ------------------------------------------------------------------------------------------------
    def prepare(self, moment: Moment) -> tuple[Callable[[], None], ...]:
        """Write the moment, and give what has to be launched for it: nothing, what moves, or everything the first time and when the clip changes.

        The launches stay the same from frame to frame while a clip plays; an unmoved frame after a moved one launches once more, so that
        `previous` becomes equal to `positions`, and so does one whose lights are others."""
        clip = moment.clip if 0 <= moment.clip < len(self._scene.clips) else 0
        wanted, shown = (float(np.float32(moment.time)), clip), self._shown
        parts = self._parts_of(clip)
        is_relit, self._is_relit = self._is_relit, False
        if shown is not None and shown[1] == clip and (wanted == shown or parts.is_still):
            once_more = self._unsettled or (parts.launch_moving if is_relit else None)
            self._unsettled = None
            return (once_more,) if once_more else ()
        self._shown = wanted
        self._keys.show(wanted[0], self._scene.duration(clip))
        self._pose.write_moment(wanted)
        if shown is None:
            return (parts.launch_all, parts.launch_all)
        is_new_clip = shown[1] != clip
        self._count_motion(np.arange(len(self._scene.objects)) if is_new_clip else parts.moving)
        self._unsettled = parts.launch_all if is_new_clip else parts.launch_moving
        return (self._unsettled,)

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

    def forget(self) -> None:
        """What was prepared was not launched: everything is written anew for the next moment."""
        self._shown = None
        self._count_motion(np.arange(len(self._scene.objects)))

    def place(self, moment: Moment) -> None:
        """Before a frame: launch the surface of its moment, so that what is made ready for it meets primitives in their places. The frame does so
        once more."""
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
        """Wait for copies under way. The surface's memory goes with the animator, at once: what it launches no longer holds it."""
        self._keys.close()
        self._parts.clear()
        self._unsettled = None

    def not_finite_count(self) -> int:
        """Vertices that are not finite at the moment shown, their primitives inactive. Waits: on request, outside a frame."""
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
            moves = np.array([(bool(nodes[o.node]) and not skinned[o.mesh]) or keyed[o.mesh] for o in self._scene.objects], bool)
            moves |= self._deformer.moves(clip, nodes)
            moving, still = np.flatnonzero(moves), np.flatnonzero(~moves)
            lights_move = any(light.node >= 0 and nodes[light.node] for light in self.lights)
            is_still = not len(moving) and not lights_move
            tiles = (self._upload_tiles(moving), self._upload_tiles(still))
            launches = (functools.partial(self._launch_moving, clip), functools.partial(self._launch_all, clip))
            self._parts[clip] = _Parts(moving, is_still, *tiles, *launches)
        return self._parts[clip]

    def _count_motion(self, moved: np.ndarray) -> None:
        surface, primitives = self.surface, self.surface.primitives
        surface.version += 1
        if not len(moved):
            return
        is_whole = primitives.objects is surface.objects
        surface.objects = _moved(surface.objects, moved)
        visible = surface.objects if is_whole else _moved(primitives.objects, moved)
        surface.primitives = dataclasses.replace(primitives, objects=visible, shape_version=primitives.shape_version + 1)

    # -- launches -------------------------------------------------------------------------------------------------
    def _launch_moving(self, clip: int) -> None:
        self._pose.launch(self._not_finite[0:1])
        self._transform(self._parts_of(clip).moving_tiles, self._not_finite[0:1])

    def _launch_all(self, clip: int) -> None:
        self._launch_moving(clip)
        self._target.fill(self._not_finite[1:2], 0)
        self._transform(self._parts_of(clip).still_tiles, self._not_finite[1:2])

    def _transform(self, tiles: tuple[Array, Array], not_finite: Array) -> None:
        (rigid, deformed), surface = tiles, self.surface
        buffers = (surface.positions, surface.previous, surface.normals, not_finite)
        sources = (self._source_positions, self._source_normals)
        count = len(rigid)
        if count:
            blocks = min(count, tables.MAX_BLOCKS)
            self._target.launch(self._unit, "transform_vertices", count, rigid, count, self._pose.placements, *sources, *buffers, blocks=blocks)
        self._deformer.deform(deformed, self._pose, sources, buffers)

    # -- once a scene ---------------------------------------------------------------------------------------------
    def _key_budget(self) -> int:
        """Bytes of the target that key frames may take."""
        chosen = self._target.options.key_memory_mib
        return chosen << 20 if chosen else self._target.free_bytes() // 2

    def _upload_sources(self, places: tables.SourceTables) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Shapes at rest and in their key frames, as many of each mesh as it has slots. Returns all of those of which there are more."""
        unused = np.zeros((tables.ALIGNED_VERTICES, 3), np.float32)
        positions, normals = [unused], [unused]
        shapes: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for index, (mesh, room) in enumerate(zip(self._scene.meshes, places.slots.tolist(), strict=True)):
            key_positions, key_normals = shapes_of(mesh)
            if room < len(key_positions):
                shapes[index] = key_positions, key_normals
            positions.append(tables.padded(np.asarray(key_positions[:room], np.float32)))
            normals.append(tables.padded(np.asarray(key_normals[:room], np.float32)))
        self._source_positions = self._target.upload(np.concatenate(positions), "animation")
        self._source_normals = self._target.upload(np.concatenate(normals), "animation")
        return shapes

    def _upload_tiles(self, objects: np.ndarray) -> tuple[Array, Array]:
        """Tiles of the objects that keep their shape, and of those that deform."""
        deforms = self._deformer.deforms[objects]
        rigid = self._target.upload(tables.tiles_of(self._first_vertex, self._counts, objects[~deforms]), "animation")
        return rigid, self._deformer.tiles(self._first_vertex, self._counts, objects[deforms])

    def _make_surface(self) -> Surface:
        target, scene = self._target, self._scene
        meshes = [scene.meshes[o.mesh] for o in scene.objects]
        vertex_count, triangle_count = int(self._counts.sum()), sum(len(m.triangles) for m in meshes)
        triangles, materials = np.zeros((max(1, triangle_count), 3), np.int32), np.zeros(max(1, triangle_count), np.int32)
        has_uvs = any(mesh.uvs is not None for mesh in scene.meshes)
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
        positions, previous, normals = (target.zeros((max(1, vertex_count), 3), np.float32, "surface") for _ in range(3))
        indices, objects = target.upload(triangles, "surface"), tuple(ranges)
        primitives = triangle_primitives(positions[:vertex_count], indices[:triangle_count], objects=objects, topology_version=1, shape_version=1)
        on_target = (target.upload(uvs, "surface"), indices, target.upload(materials, "surface"))
        return Surface(positions, previous, normals, *on_target, self._pose.lights, self._pose.light_count, objects, primitives)


def _moved(objects: tuple[ObjectRange, ...], moved: np.ndarray) -> tuple[ObjectRange, ...]:
    """The objects with the versions of those that moved grown."""
    changed = list(objects)
    for index in moved:
        changed[index] = changed[index]._replace(version=changed[index].version + 1)
    return tuple(changed)


def _check_mesh(mesh: Mesh, node_count: int) -> None:
    count = len(mesh.positions)
    if len(mesh.triangles) and not 0 <= int(mesh.triangles.min()) <= int(mesh.triangles.max()) < count:
        raise ValueError(f"Mesh {mesh.name!r} has triangles whose vertices do not exist: it has {count} vertices.")
    if mesh.key_frames is not None and mesh.key_frames.positions.shape != (len(mesh.key_frames.times), count, 3):
        shape = mesh.key_frames.positions.shape
        raise ValueError(f"Mesh {mesh.name!r} has {len(mesh.key_frames.times)} key times and {count} vertices, but key positions of shape {shape}.")
    skin, morph = mesh.skin, mesh.morph_targets
    if skin is not None and not (skin.joint_ids.shape == skin.weights.shape == (count, 4) and _is_within(skin.joint_ids, len(skin.joints))):
        raise ValueError(f"Mesh {mesh.name!r} hangs from joints that its skin does not have: it has {len(skin.joints)} joints and {count} vertices.")
    if skin is not None and not _is_within(skin.joints, node_count):
        raise ValueError(f"Mesh {mesh.name!r} has joints at nodes that the scene does not have: it has {node_count} nodes.")
    if morph is not None and morph.positions.shape != (len(morph.weights), count, 3):
        shape = morph.positions.shape
        raise ValueError(f"Mesh {mesh.name!r} has {len(morph.weights)} weights and {count} vertices, but targets of shape {shape}.")


def shapes_of(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Positions and normals of all the mesh's key frames (K, V, 3), its shape at rest where it has none; missing normals from its triangles."""
    keys = mesh.key_frames
    positions = mesh.positions[None] if keys is None else keys.positions
    normals = keys.normals if keys is not None else (None if mesh.normals is None else mesh.normals[None])
    if normals is None:
        normals = np.stack([tables.vertex_normals(key, mesh.triangles) for key in positions])
    return positions, normals


def _is_within(ids: np.ndarray, count: int) -> bool:
    return not ids.size or 0 <= int(ids.min()) <= int(ids.max()) < count


def remarks_of(scene: Scene) -> tuple[Remark, ...]:
    """What this version does not draw as the scene means it."""
    spheres = 0 if scene.spheres is None else len(scene.spheres.centres)
    lights = max(0, len(scene.lights) - tables.MAX_LIGHTS)
    found = ((spheres, "Spheres and points are not drawn yet."), (lights, f"Lights past the first {tables.MAX_LIGHTS} are left out."))
    return tuple(Remark(count, sentence) for count, sentence in found if count)
