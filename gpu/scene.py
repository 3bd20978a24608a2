"""The scene as plain values: numpy arrays and frozen dataclasses, no target and no library.

Positions are float32 relative to `Scene.origin` (float64), which readers subtract before rounding. Times are seconds.
Quaternions are x, y, z, w. Matrices are row-major, column vectors (p' = M p). Colours are linear but in 8-bit textures
marked `is_srgb`. Readers hand a scene to `app.scene_io.sanitise`, so that what arrives here is finite and in range.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .glyph_shapes import Glyphs
from .gravity import Gravity


@dataclasses.dataclass(frozen=True, eq=False)
class Track:
    """Values over time. `times` (K,) float32, ascending; `values` (K, C) float32, for `cubic` (K, 3, C): in-tangent,
    value, out-tangent. `interpolation` is step, linear (slerp where the values are rotations) or cubic."""

    times: np.ndarray
    values: np.ndarray
    interpolation: str = "linear"


@dataclasses.dataclass(frozen=True, eq=False)
class Node:
    """A frame of reference: translation, rotation, scale relative to `parent` (an earlier node's index, -1 for
    none)."""

    name: str = ""
    parent: int = -1
    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclasses.dataclass(frozen=True, eq=False)
class Channel:
    """A track that drives one `path` (translation, rotation, scale or weights) of one node."""

    node: int
    path: str
    track: Track


@dataclasses.dataclass(frozen=True, eq=False)
class Clip:
    """A named animation: channels over `duration` seconds."""

    name: str
    duration: float
    channels: tuple[Channel, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class KeyFrames:
    """Whole-mesh key frames: `times` (K,), `positions` (K, V, 3), `normals` (K, V, 3) or None. Linear between
    neighbours (Meister 6.2.3)."""

    times: np.ndarray
    positions: np.ndarray
    normals: np.ndarray | None = None

    def pair(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions of key frame `index` and of the one after it (the last one pairs with itself)."""
        return self.positions[index], self.positions[min(index + 1, len(self.times) - 1)]


@dataclasses.dataclass(frozen=True, eq=False)
class Skin:
    """`joints` (J,) node indices, `inverse_bind` (J, 4, 4), four joint slots and weights a vertex: (V, 4) int32, (V, 4)
    float32."""

    joints: np.ndarray
    inverse_bind: np.ndarray
    joint_ids: np.ndarray
    weights: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class MorphTargets:
    """Differences to the base: `positions` (M, V, 3), `normals` (M, V, 3) or None, `weights` (M,) at rest."""

    positions: np.ndarray
    normals: np.ndarray | None
    weights: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles over vertices: positions (V, 3) float32, triangles (T, 3) and material_ids (T,) int32, normals (V, 3),
    uvs (V, 2), v downwards."""

    name: str
    positions: np.ndarray
    triangles: np.ndarray
    material_ids: np.ndarray
    normals: np.ndarray | None = None
    uvs: np.ndarray | None = None
    key_frames: KeyFrames | None = None
    skin: Skin | None = None
    morph_targets: MorphTargets | None = None


ABSENT = -1.0
"""The radius of a sphere that is not there: hidden, missing from a key frame, or without a usable centre or radius."""


@dataclasses.dataclass(frozen=True, eq=False)
class SphereKeys:
    """Key frames of spheres: `times` (K,), `centres` (K, N, 3), `radii` (K, N) and linear `colours` (K, N, 3), None
    where they do not change. N is the largest frame's count: what a frame lacks has the radius ABSENT there. Linear
    between neighbours; a sphere that only one of two neighbours has is there from that key frame to the middle."""

    times: np.ndarray
    centres: np.ndarray
    radii: np.ndarray | None = None
    colours: np.ndarray | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Attribute:
    """Numbers of each sphere under a name: `values` (N,) or (N, C) float32, over time (K, N) or (K, N, C). NaN is
    allowed: no value there."""

    name: str
    values: np.ndarray
    unit: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class PeriodicBox:
    """The cell of a simulation: corner `origin` (3,) and edges, the rows of `vectors` (3, 3), or those of each key
    frame: (K, 3), (K, 3, 3). Along the edges that are `periodic` spheres move to their nearest image. The spheres are
    there `copies` times along the edges."""

    origin: np.ndarray
    vectors: np.ndarray
    periodic: tuple[bool, bool, bool] = (True, True, True)
    copies: tuple[int, int, int] = (1, 1, 1)


@dataclasses.dataclass(frozen=True, eq=False)
class Spheres:
    """Spheres with attributes: `centres` (N, 3), `radii` (N,), `colours` (N, 3) linear or None, then the material's
    base colour. `ids` (N,) int64 are the file's own numbers. With key frames those hold at all times; `centres`,
    `radii` and `colours` are the first instant. With `gravity` they have no key frames: they are simulated. A radius
    that is not above 0 is none."""

    name: str
    centres: np.ndarray
    radii: np.ndarray
    colours: np.ndarray | None = None
    material_id: int = 0
    ids: np.ndarray | None = None
    attributes: tuple[Attribute, ...] = ()
    key_frames: SphereKeys | None = None
    box: PeriodicBox | None = None
    gravity: Gravity | None = None

    def has_keys(self, attribute: Attribute) -> bool:
        """Whether an attribute has values for each key frame: the first axis of (K, N) or (K, N, C)."""
        keys = self.key_frames
        return keys is not None and attribute.values.shape[:2] == (len(keys.times), len(self.centres))


@dataclasses.dataclass(frozen=True)
class Object:
    """A mesh, spheres or glyphs placed at a node, -1 for the others: the unit that moves rigidly. Objects follow one
    another in the buffers of vertices, triangles, spheres and glyphs; those of spheres come after all meshes, those of
    glyphs after them."""

    node: int
    mesh: int = -1
    spheres: int = -1
    glyphs: int = -1


ALPHA_MODES = ("opaque", "mask", "blend")
"""What becomes of alpha: nothing; below the cut-off there is no surface; or the surface covers that share."""


@dataclasses.dataclass(frozen=True)
class Material:
    """Metallic-roughness material as glTF has it; colours linear. A texture is an index into `Scene.textures`, -1 for
    none.

    `transmission` is the share of light that enters through the surface, refracted by `ior`; inside,
    `attenuation_color` is what is left of white light after `attenuation_distance` (0: nothing is absorbed). A thin
    surface is a pane without an inside: light goes on straight. Roughness is the green and metalness the blue of their
    texture; emission and base colour are multiplied by theirs. What is not double-sided sends its emission from its
    front alone, from where its corners go round counterclockwise."""

    name: str = ""
    base_color: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    metallic: float = 0.0
    roughness: float = 0.6
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)
    base_color_texture: int = -1
    transmission: float = 0.0
    ior: float = 1.5
    attenuation_color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    attenuation_distance: float = 0.0
    is_thin: bool = False
    is_double_sided: bool = True
    alpha_mode: str = "opaque"
    alpha_cutoff: float = 0.5
    normal_texture: int = -1
    normal_scale: float = 1.0
    metallic_roughness_texture: int = -1
    emission_texture: int = -1

    @property
    def texture_ids(self) -> tuple[int, int, int, int]:
        """All its textures: base colour, metalness and roughness, normals, emission."""
        return self.base_color_texture, self.metallic_roughness_texture, self.normal_texture, self.emission_texture


@dataclasses.dataclass(frozen=True, eq=False)
class Texture:
    """`pixels` (H, W, 4) uint8, row 0 on top; repeats."""

    name: str
    pixels: np.ndarray
    is_srgb: bool = True


LIGHT_KINDS = ("point", "directional", "spot", "sphere", "rectangle")


@dataclasses.dataclass(frozen=True)
class Light:
    """`kind` is one of LIGHT_KINDS, placed by `node` (-1: the scene).

    Directional: irradiance `color` along `direction`, the way the light travels. All others shine from `position` with
    the radiant intensity `color` (W/sr), so that another kind is as bright from afar: a spot along `direction`, full
    inside `inner_angle` and none outside `outer_angle` (degrees from its axis); a sphere of `radius` to all sides; a
    rectangle of `size` from its front, by the cosine. `up` says how the rectangle is turned."""

    kind: str
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    direction: tuple[float, float, float] = (0.0, -1.0, 0.0)
    node: int = -1
    inner_angle: float = 0.0
    outer_angle: float = 45.0
    radius: float = 0.1
    size: tuple[float, float] = (1.0, 1.0)
    up: tuple[float, float, float] = (0.0, 0.0, -1.0)
    name: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Environment:
    """Light from far away: radiance `pixels` (H, W, 3) float32, linear, equirectangular: row 0 straight up, the middle
    column along -Z."""

    name: str
    pixels: np.ndarray


@dataclasses.dataclass(frozen=True)
class SceneCamera:
    """A camera of the file: looks along -Z of its node, `fov` vertical in degrees."""

    name: str
    node: int
    fov: float = 45.0


@dataclasses.dataclass(frozen=True)
class Remark:
    """Something the reader or sanitiser did to the data, or could not have: a `count` and a sentence a person can act
    on; the setting and its value that would have read more, as `--set` takes it, where there is one."""

    count: int
    sentence: str
    setting: str = ""

    @property
    def counted(self) -> str:
        """The sentence with how often it holds, as people read it."""
        return f"{self.sentence} ({self.count:,} times)" if self.count > 1 else self.sentence


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """Everything that can be drawn, at every time. `fps` is the file's frame rate or 0; `lower`, `upper` bound the
    scene over its whole animation (as far as known), relative to `origin`. Spheres stay spheres at a node: their
    radii grow by the root of the mean square of its axes' lengths."""

    name: str
    nodes: tuple[Node, ...] = (Node(),)
    meshes: tuple[Mesh, ...] = ()
    objects: tuple[Object, ...] = ()
    spheres: tuple[Spheres, ...] = ()
    materials: tuple[Material, ...] = (Material(),)
    textures: tuple[Texture, ...] = ()
    lights: tuple[Light, ...] = ()
    cameras: tuple[SceneCamera, ...] = ()
    clips: tuple[Clip, ...] = ()
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    lower: tuple[float, float, float] = (-1.0, -1.0, -1.0)
    upper: tuple[float, float, float] = (1.0, 1.0, 1.0)
    fps: float = 0.0
    eye: tuple[float, float, float] | None = None
    look_at: tuple[float, float, float] | None = None
    remarks: tuple[Remark, ...] = ()
    environment: Environment | None = None
    glyphs: tuple[Glyphs, ...] = ()

    @property
    def triangle_count(self) -> int:
        """Triangles as drawn: a mesh counts once for each object."""
        return sum(len(self.meshes[thing.mesh].triangles) for thing in self.objects if thing.mesh >= 0)

    @property
    def vertex_count(self) -> int:
        """Vertices as drawn."""
        return sum(len(self.meshes[thing.mesh].positions) for thing in self.objects if thing.mesh >= 0)

    @property
    def sphere_count(self) -> int:
        """Places for spheres as drawn: those that a key frame lacks are counted."""
        return sum(len(self.spheres[thing.spheres].centres) for thing in self.objects if thing.spheres >= 0)

    @property
    def glyph_count(self) -> int:
        """Places for glyphs as drawn."""
        return sum(len(self.glyphs[thing.glyphs].centres) for thing in self.objects if thing.glyphs >= 0)

    @property
    def beside_spheres(self) -> str:
        """What keeps this from being a scene of spheres alone, in words: what it has beside them, or that it has none
        of them; else ""."""
        others = {"triangles": self.triangle_count, "glyphs": self.glyph_count}
        found = " and ".join(f"{count:,} {name}" for name, count in others.items() if count)
        return found or ("" if self.sphere_count else "none")

    @property
    def primitive_count(self) -> int:
        """Triangles, spheres and glyphs as drawn. The spheres' numbers follow the triangles', the glyphs' theirs."""
        return self.triangle_count + self.sphere_count + self.glyph_count

    def count_of(self, index: int) -> int:
        """Primitives of the object `index`: triangles, spheres or glyphs."""
        thing = self.objects[index]
        if thing.mesh >= 0:
            return len(self.meshes[thing.mesh].triangles)
        return len(self.group_of(thing).centres)

    def group_of(self, thing: Object) -> Spheres | Glyphs:
        """The spheres or the glyphs that an object without a mesh places."""
        return self.spheres[thing.spheres] if thing.spheres >= 0 else self.glyphs[thing.glyphs]

    def name_of(self, index: int) -> str:
        """The name of the mesh, of the spheres or of the glyphs that the object `index` places."""
        thing = self.objects[index]
        return self.meshes[thing.mesh].name if thing.mesh >= 0 else self.group_of(thing).name

    def _sequence_times(self) -> list[np.ndarray]:
        things: tuple[Mesh | Spheres | Glyphs, ...] = (*self.meshes, *self.spheres, *self.glyphs)
        return [thing.key_frames.times for thing in things if thing.key_frames is not None]

    def duration(self, clip: int = 0) -> float:
        """Seconds until the animation repeats: the clip's, the longest key-frame sequence's or simulation's; 0 for a
        still scene."""
        of_clip = self.clips[clip].duration if 0 <= clip < len(self.clips) else 0.0
        simulated = (one.gravity.duration for one in self.spheres if one.gravity is not None)
        return max([of_clip, *simulated, *(float(times[-1]) for times in self._sequence_times() if len(times))])

    def key_times(self, clip: int = 0) -> np.ndarray:
        """The time of every key frame, ascending, once (float64): the ticks of the timeline."""
        times = self._sequence_times()
        if 0 <= clip < len(self.clips):
            times += [channel.track.times for channel in self.clips[clip].channels]
        # Not np.unique: its first call imports numpy.ma, for which the window would stand still.
        together = np.sort(np.concatenate(times).astype(np.float64)) if times else np.zeros(0)
        return together[np.diff(together, prepend=-np.inf) > 0.0]


@dataclasses.dataclass(frozen=True)
class Moment:
    """An instant to draw: seconds, the clip, and a running number that statistics carry back. Every track finds its own
    keys."""

    time: float = 0.0
    clip: int = 0
    frame_id: int = 0
