"""Camera moves as pure functions: a camera, and how far the mouse or the keys went, to a camera.

Drags are in fractions of the picture's height, so that they feel alike at every size; wheel steps are notches; times
are seconds.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from raygrove.gpu.camera import Camera, Vector, fit
from raygrove.gpu.settings import OptionField, OptionInfo, option


@dataclasses.dataclass(frozen=True)
class CameraOptions:
    """How the camera moves, and how it stands when a scene opens."""

    mode: str = option(
        "orbit", (
            "What a left drag does: orbit about a point with up staying up, turn freely about any axis, or look "
            "round as in flight."
        ),
        choices=("orbit", "axis-free", "fly"),
    )  # fmt: skip
    pivot: str = option(
        "pointer",
        "A drag turns about the point under the pointer, or the picture's centre.",
        choices=("pointer", "centre"),
    )
    up_axis: str = option(
        "y", "The axis that points up when a scene opens; many CAD and map files need z.", choices=("x", "y", "z")
    )
    speed: float = option(
        1.0,
        "Flying speed; 1 crosses a fifth of the scene in a second, or goes 30 steps.",
        minimum=0.001,
        maximum=1000.0,
    )
    step: float = option(
        0.0,
        "One step of flight; 0 lets the scene's size decide how far one flies.",
        minimum=0.0,
        maximum=1e12,
        unit="scene units",
        least="automatic",
    )
    field_of_view: float = option(
        45.0, "Vertical angle of the camera when a scene opens.", minimum=1.0, maximum=170.0, unit="degrees"
    )
    near: float = option(
        0.0,
        "Nearest depth that is drawn when a scene opens; 0 sets no bound.",
        minimum=0.0,
        maximum=1e12,
        unit="scene units",
        least="automatic",
    )
    far: float = option(
        0.0,
        "Farthest depth that is drawn when a scene opens; 0 sets no bound.",
        minimum=0.0,
        maximum=1e12,
        unit="scene units",
        least="automatic",
    )


FAR = 1e18
LENS: tuple[OptionField, ...] = (
    OptionField("eye", Vector, Camera().eye, OptionInfo("Where the camera stands.", -FAR, FAR, "scene units")),
    OptionField(
        "look_at",
        Vector,
        Camera().look_at,
        OptionInfo("The point in the middle of the picture that it turns about.", -FAR, FAR, "scene units"),
    ),
    OptionField("up", Vector, Camera().up, OptionInfo("The direction that points up in the picture.", -FAR, FAR)),
    OptionField("fov", float, Camera().fov, OptionInfo("Vertical field of view.", 1.0, 170.0, "degrees")),
    OptionField("orthographic", bool, False, OptionInfo("Parallel rays: sizes do not shrink with distance.")),
    OptionField(
        "height", float, Camera().height, OptionInfo("Height of an orthographic picture.", 1e-9, 1e12, "scene units")
    ),
    OptionField(
        "near",
        float,
        0.0,
        OptionInfo(
            "Nothing nearer to the camera is drawn; 0 sets no bound.", 0.0, 1e12, "scene units", least="automatic"
        ),
    ),
    OptionField(
        "far",
        float,
        0.0,
        OptionInfo(
            "Nothing farther from the camera is drawn; 0 sets no bound.", 0.0, 1e12, "scene units", least="automatic"
        ),
    ),
)
"""The fields of a Camera, with what each takes."""

STANDARD_VIEWS: dict[str, tuple[Vector, Vector]] = {
    "front": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
    "back": ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0)),
    "right": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "left": ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "top": ((0.0, 1.0, 0.0), (0.0, 0.0, -1.0)),
    "bottom": ((0.0, -1.0, 0.0), (0.0, 0.0, 1.0)),
    "corner": ((1.0, 1.0, 1.0), (0.0, 1.0, 0.0)),
    "far corner": ((-1.0, 1.0, -1.0), (0.0, 1.0, 0.0)),
}
"""Where the eye stands, seen from the centre, and which way is up, where y is up."""

UP_AXES: dict[str, np.ndarray] = {
    "y": np.eye(3),
    "z": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "x": np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
}
"""The turn that takes y to each axis; with z up the front is -y, as modelling programs have it."""

POLE_LIMIT = math.radians(89.5)


def orbit(camera: Camera, across: float, down: float, centre: Vector | None = None) -> Camera:
    """Turn about `centre` (default: what is looked at): a drag over one picture height is half a turn. Stops short of
    the poles of `up`."""
    pivot = np.asarray(camera.look_at if centre is None else centre, np.float64)
    up = _unit(np.asarray(camera.up, np.float64))
    turn = _rotation(up, -across * math.pi)
    right, _, forward = camera.basis()
    elevation = math.asin(float(np.clip(np.dot(-forward, up), -1.0, 1.0)))
    wanted = float(np.clip(elevation + down * math.pi, -POLE_LIMIT, POLE_LIMIT))
    if abs(elevation) > POLE_LIMIT:
        wanted = elevation if abs(elevation + down * math.pi) >= abs(elevation) else elevation + down * math.pi
    rotation = turn @ _rotation(right, -(wanted - elevation))
    eye = pivot + rotation @ (np.asarray(camera.eye) - pivot)
    look_at = pivot + rotation @ (np.asarray(camera.look_at) - pivot)
    return dataclasses.replace(camera, eye=_vector(eye), look_at=_vector(look_at))


def aimed(camera: Camera, point: Vector) -> Camera:
    """The same picture, but what is looked at lies as deep as a point: pans and the wheel then move at its pace. A
    point behind changes nothing."""
    _, _, forward = camera.basis()
    depth = float(np.dot(np.subtract(point, camera.eye), forward))
    return (
        dataclasses.replace(camera, look_at=_vector(np.asarray(camera.eye) + forward * depth))
        if depth > 1e-9
        else camera
    )


def turn_freely(camera: Camera, across: float, down: float, centre: Vector | None = None) -> Camera:
    """Turn about `centre` (default: what is looked at) and the picture's own axes; up turns too, so that there is no
    pole."""
    right, up, _ = camera.basis()
    return _turned(camera, _rotation(up, -across * math.pi) @ _rotation(right, -down * math.pi), centre)


def roll(camera: Camera, turns: float) -> Camera:
    """Turn the picture about its middle; positive turns it clockwise."""
    _, _, forward = camera.basis()
    return _turned(camera, _rotation(forward, -turns * 2.0 * math.pi), camera.eye)


def _turned(camera: Camera, rotation: np.ndarray, centre: Vector | None) -> Camera:
    pivot = np.asarray(camera.look_at if centre is None else centre, np.float64)
    _, up, _ = camera.basis()
    eye = pivot + rotation @ (np.asarray(camera.eye) - pivot)
    look_at = pivot + rotation @ (np.asarray(camera.look_at) - pivot)
    return dataclasses.replace(camera, eye=_vector(eye), look_at=_vector(look_at), up=_vector(rotation @ up))


def focus(camera: Camera, point: Vector, nearer: float = 1.0) -> Camera:
    """Look at a point in the direction the camera has, from the same distance times `nearer`."""
    _, _, forward = camera.basis()
    away = distance(camera) * nearer
    return dataclasses.replace(
        camera, look_at=point, eye=_vector(np.asarray(point) - forward * away), height=camera.height * nearer
    )


def up_axis_of(camera: Camera) -> str:
    """The axis nearest to up."""
    return "xyz"[int(np.argmax(np.abs(camera.up)))]


def upright(camera: Camera, axis: str) -> Camera:
    """A camera that looks straight along an axis, from the top or the bottom, so that this axis is up in its picture:
    the eye moves by next to nothing, and turns and other views are about the axis as anywhere else. Other cameras stay
    as they are."""
    along = UP_AXES[axis][:, 1]
    _, up, forward = camera.basis()
    slope = float(forward @ along)
    if abs(slope) < math.sin(POLE_LIMIT) or up_axis_of(camera) == axis:
        return camera
    forward = forward * math.sin(POLE_LIMIT) - np.sign(slope) * up * math.cos(POLE_LIMIT)
    eye = np.asarray(camera.look_at) - forward * distance(camera)
    return dataclasses.replace(camera, eye=_vector(eye), up=_vector(along))


def with_up(camera: Camera, axis: str) -> Camera:
    """The same look at the scene with another axis pointing up: the eye goes round what is looked at as the axes do. Up
    is upright afterwards."""
    turn = UP_AXES[axis] @ UP_AXES[up_axis_of(camera)].T
    offset = turn @ np.subtract(camera.eye, camera.look_at)
    return dataclasses.replace(
        camera, eye=_vector(np.asarray(camera.look_at) + offset), up=_vector(UP_AXES[axis][:, 1])
    )


def toggled_orthographic(camera: Camera) -> Camera:
    """Parallel or perspective rays; what is looked at keeps its size."""
    tall = 2.0 * math.tan(math.radians(camera.fov) / 2.0)
    if not camera.orthographic:
        return dataclasses.replace(camera, orthographic=True, height=tall * distance(camera))
    _, _, forward = camera.basis()
    return dataclasses.replace(
        camera, orthographic=False, eye=_vector(np.asarray(camera.look_at) - forward * camera.height / tall)
    )


def pan(camera: Camera, across: float, down: float) -> Camera:
    """Move along the picture plane so that what is looked at follows the mouse."""
    right, up, _ = camera.basis()
    return _moved(camera, (-right * across + up * down) * picture_height(camera))


def picture_height(camera: Camera) -> float:
    """How much of the scene the picture shows from top to bottom, as deep as what is looked at, in scene units."""
    return camera.height if camera.orthographic else 2.0 * distance(camera) * math.tan(math.radians(camera.fov) / 2.0)


def dolly(camera: Camera, notches: float) -> Camera:
    """Come nearer (positive) to what is looked at, a tenth of the way a notch; an orthographic picture shrinks its
    height instead."""
    scale = 0.9**notches
    if camera.orthographic:
        return dataclasses.replace(camera, height=min(max(camera.height * scale, 1e-9), 1e12))
    eye, look_at = np.asarray(camera.eye), np.asarray(camera.look_at)
    return dataclasses.replace(camera, eye=_vector(look_at + (eye - look_at) * scale))


def zoom(camera: Camera, notches: float) -> Camera:
    """Narrow (positive) the field of view."""
    return dataclasses.replace(camera, fov=min(max(camera.fov * 0.95**notches, 1.0), 170.0))


def look(camera: Camera, across: float, down: float) -> Camera:
    """Turn the head where it stands: orbit about the eye."""
    return orbit(camera, across, down, camera.eye)


FLY_KEYS: dict[str, tuple[float, float, float]] = {
    "w": (0.0, 0.0, 1.0),
    "s": (0.0, 0.0, -1.0),
    "a": (-1.0, 0.0, 0.0),
    "d": (1.0, 0.0, 0.0),
    "q": (0.0, -1.0, 0.0),
    "e": (0.0, 1.0, 0.0),
}
"""Direction of each key: to the right, up, forward."""


def fly(
    camera: Camera,
    keys: frozenset[str] | set[str],
    seconds: float,
    scene_size: float,
    *,
    fast: bool = False,
    slow: bool = False,
) -> Camera:
    """Fly with the keys W A S D Q E: a fifth of `scene_size` (the scene's diagonal) a second, ten times that if `fast`
    (Shift), a tenth if `slow` (Ctrl)."""
    direction = np.sum([FLY_KEYS[key] for key in keys if key in FLY_KEYS] or [(0.0, 0.0, 0.0)], axis=0)
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return camera
    speed = 0.2 * scene_size * (10.0 if fast else 1.0) * (0.1 if slow else 1.0)
    right, _, forward = camera.basis()
    axes = np.stack([right, _unit(np.asarray(camera.up, np.float64)), forward])
    return _moved(camera, (direction / length) @ axes * speed * seconds)


def flying_size(options: CameraOptions, scene_size: float) -> float:
    """What `fly` takes as the scene's size, so that it goes `step` thirty times a second, or a fifth of the scene,
    times the speed."""
    return (options.step * 30.0 / 0.2 if options.step else scene_size) * options.speed


def standard_view(camera: Camera, name: str, lower: Vector, upper: Vector, aspect: float = 4.0 / 3.0) -> Camera:
    """Look at the whole box from one of its sides, the camera's up axis staying up: a name of STANDARD_VIEWS. KeyError
    for another."""
    side, up = (_vector(UP_AXES[up_axis_of(camera)] @ np.asarray(part)) for part in STANDARD_VIEWS[name])
    return fit(lower, upper, dataclasses.replace(camera, eye=side, look_at=(0.0, 0.0, 0.0), up=up), aspect)


WITHIN = 0.9
"""How far from the middle to the walls of a room one stands who sees as much of it as can be seen from within."""


def fitted(
    camera: Camera, lower: Vector, upper: Vector, aspect: float = 4.0 / 3.0, *, stays_within: bool = False
) -> Camera:
    """See the whole box from the same side, or as much of it as is seen from within."""
    found = fit(lower, upper, camera, aspect)
    if not stays_within:
        return found
    centre, half = np.asarray(found.look_at), (np.asarray(upper) - lower) / 2.0
    away = np.asarray(found.eye) - centre
    share = min(1.0, WITHIN / max(float(np.max(np.abs(away) / np.maximum(half, 1e-30))), 1e-30))
    return dataclasses.replace(found, eye=_vector(centre + share * away))


def distance(camera: Camera) -> float:
    """From the eye to what is looked at."""
    return max(float(np.linalg.norm(np.subtract(camera.look_at, camera.eye))), 1e-9)


def _moved(camera: Camera, offset: np.ndarray) -> Camera:
    return dataclasses.replace(
        camera, eye=_vector(np.asarray(camera.eye) + offset), look_at=_vector(np.asarray(camera.look_at) + offset)
    )


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-30 else np.array([0.0, 1.0, 0.0])


def _rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula: (3, 3) for a unit axis."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross


def _vector(values: np.ndarray) -> Vector:
    return (float(values[0]), float(values[1]), float(values[2]))
