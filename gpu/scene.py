"""The scene as plain values: numpy arrays and frozen dataclasses, no target and no library.

Positions are float32 relative to `Scene.origin` (float64), which readers subtract before rounding. Times are seconds.
Quaternions are x, y, z, w. Matrices are row-major, column vectors (p' = M p). Colours are linear but in 8-bit textures
marked `is_srgb`. Readers hand a scene to `app.scene_io.sanitise`, so that what arrives here is finite and in range.
"""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Track:
    """Values over time. `times` (K,) float32, ascending; `values` (K, C) float32, for `cubic` (K, 3, C): in-tangent, value,
    out-tangent. `interpolation` is step, linear (slerp where the values are rotations) or cubic."""

    times: np.ndarray
    values: np.ndarray
    interpolation: str = "linear"


@dataclasses.dataclass(frozen=True, eq=False)
class Node:
    """A frame of reference: translation, rotation, scale relative to `parent` (an earlier node's index, -1 for none)."""

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
    """Whole-mesh key frames: `times` (K,), `positions` (K, V, 3), `normals` (K, V, 3) or None. Linear between neighbours (Meister 6.2.3)."""

    times: np.ndarray
    positions: np.ndarray
    normals: np.ndarray | None = None

    def pair(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions of key `index` and of the one after it (the last key pairs with itself)."""
        return self.positions[index], self.positions[min(index + 1, len(self.times) - 1)]


@dataclasses.dataclass(frozen=True, eq=False)
class Skin:
    """`joints` (J,) node indices, `inverse_bind` (J, 4, 4), four joint slots and weights a vertex: (V, 4) int32, (V, 4) float32."""

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
    """Triangles over vertices: positions (V, 3) float32, triangles (T, 3) and material_ids (T,) int32, normals (V, 3), uvs (V, 2), v downwards."""

    name: str
    positions: np.ndarray
    triangles: np.ndarray
    material_ids: np.ndarray
    normals: np.ndarray | None = None
    uvs: np.ndarray | None = None
    key_frames: KeyFrames | None = None
    skin: Skin | None = None
    morph_targets: MorphTargets | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Spheres:
    """Spheres or points with attributes: centres (N, 3), radii (N,), colours (N, 3) linear or None."""

    centres: np.ndarray
    radii: np.ndarray
    colours: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class Object:
    """A mesh placed at a node: the unit that moves rigidly. Objects follow one another in the vertex and triangle buffers."""

    node: int
    mesh: int


ALPHA_MODES = ("opaque", "mask", "blend")
"""What becomes of alpha: nothing; below the cut-off there is no surface; or the surface covers that share."""


@dataclasses.dataclass(frozen=True)
class Material:
    """Metallic-roughness material as glTF has it; colours linear. A texture is an index into `Scene.textures`, -1 for none.

    `transmission` is the share of light that enters through the surface, refracted by `ior`; inside, `attenuation_color` is what is left of white
    light after `attenuation_distance` (0: nothing is absorbed). A thin surface is a pane without an inside: light goes on straight. Roughness is
    the green and metalness the blue of their texture; emission and base colour are multiplied by theirs. What is not double-sided sends its emission
    from its front alone, from where its corners go round counterclockwise."""

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

    Directional: irradiance `color` along `direction`, the way the light travels. All others shine from `position` with the radiant intensity `color`
    (W/sr), so that another kind is as bright from afar: a spot along `direction`, full inside `inner_angle` and none outside `outer_angle` (degrees
    from its axis); a sphere of `radius` to all sides; a rectangle of `size` from its front, by the cosine. `up` says how the rectangle is turned."""

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
    """Light from far away: radiance `pixels` (H, W, 3) float32, linear, equirectangular: row 0 straight up, the middle column along -Z."""

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
    """Something the reader or sanitiser did to the data, or could not have: a `count` and a sentence a person can act on."""

    count: int
    sentence: str

    @property
    def counted(self) -> str:
        """The sentence with how often it holds, as people read it."""
        return f"{self.sentence} ({self.count:,} times)" if self.count > 1 else self.sentence


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """Everything that can be drawn, at every time. `fps` is the file's frame rate or 0; `lower`, `upper` bound the scene over its
    whole animation (as far as known), relative to `origin`."""

    name: str
    nodes: tuple[Node, ...] = (Node(),)
    meshes: tuple[Mesh, ...] = ()
    objects: tuple[Object, ...] = ()
    spheres: Spheres | None = None
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

    @property
    def triangle_count(self) -> int:
        """Triangles as drawn: a mesh counts once for each object."""
        return sum(len(self.meshes[thing.mesh].triangles) for thing in self.objects)

    @property
    def vertex_count(self) -> int:
        """Vertices as drawn."""
        return sum(len(self.meshes[thing.mesh].positions) for thing in self.objects)

    def duration(self, clip: int = 0) -> float:
        """Seconds until the animation repeats: the clip's, or the longest key-frame sequence's; 0 for a still scene."""
        of_clip = self.clips[clip].duration if 0 <= clip < len(self.clips) else 0.0
        keys = [float(m.key_frames.times[-1]) for m in self.meshes if m.key_frames is not None and len(m.key_frames.times)]
        return max([of_clip, *keys])

    def key_times(self, clip: int = 0) -> np.ndarray:
        """Every key's time, ascending, once (float64): the ticks of the timeline."""
        times = [m.key_frames.times for m in self.meshes if m.key_frames is not None]
        if 0 <= clip < len(self.clips):
            times += [channel.track.times for channel in self.clips[clip].channels]
        # Not np.unique: its first call imports numpy.ma, for which the window would stand still.
        together = np.sort(np.concatenate(times).astype(np.float64)) if times else np.zeros(0)
        return together[np.diff(together, prepend=-np.inf) > 0.0]


@dataclasses.dataclass(frozen=True)
class Moment:
    """An instant to draw: seconds, the clip, and a running number that statistics carry back. Every track finds its own keys."""

    time: float = 0.0
    clip: int = 0
    frame_id: int = 0
