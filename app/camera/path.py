"""A path of the camera through bookmarks: a curve through where they stand and what they look at, in the time that each
takes to the next.

Positions and what is looked at follow centripetal Catmull-Rom curves (Yuksel, Schaefer and Keyser 2011: no loops and no
cusps between two bookmarks), which way is up turns by slerp between the bookmarks' orientations, and lenses change
smoothly without overshooting. At a bookmark the path bends smoothly; where its neighbours' times differ much, the speed
changes there.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from raygrove.app.camera.path_options import PathOptions
from raygrove.app.document.state import Bookmark
from raygrove.gpu.camera import Camera, Vector
from raygrove.gpu.node_transforms import slerp

SHORTEST = 1e-3
"""Between two places that are (nearly) the same the curve is given this part of the longest stretch, so that nothing is
divided by 0."""


class CameraPath:
    """See the module. At least two bookmarks make a path; one is a camera that stands, none raises ValueError."""

    def __init__(self, bookmarks: Sequence[Bookmark], options: PathOptions | None = None) -> None:
        options = options or PathOptions()
        if not bookmarks:
            raise ValueError(
                "A camera path goes through bookmarks, and there are none: add some first (Camera > Add a bookmark)."
            )
        self._cameras = [bookmark.camera for bookmark in bookmarks]
        if options.closed and len(self._cameras) > 1:
            self._cameras.append(self._cameras[0])
        self._is_closed = options.closed and len(bookmarks) > 1
        eyes = np.array([camera.eye for camera in self._cameras], np.float64)
        targets = np.array([camera.look_at for camera in self._cameras], np.float64)
        self._eyes, self._targets = self._curve(eyes), self._curve(targets)
        self._turns = [orientation(camera) for camera in self._cameras]
        seconds = [bookmark.seconds for bookmark in bookmarks][: len(self._cameras) - 1]
        if options.even and len(seconds) > 1:
            seconds = _by_length(self._eyes, sum(seconds), len(seconds))
        self._times = [0.0, *itertools.accumulate(seconds)]

    @property
    def duration(self) -> float:
        """Seconds from the first bookmark to the last."""
        return self._times[-1]

    @property
    def times(self) -> tuple[float, ...]:
        """When each bookmark is reached."""
        return tuple(self._times)

    def frame_count(self, fps: float) -> int:
        """Frames of the whole path, its last bookmark included unless it is the first one again."""
        return max(1, round(self.duration * fps) + (0 if self._is_closed else 1))

    def at(self, seconds: float) -> Camera:
        """The camera at a time; before the beginning and after the end it stands, but a closed path goes on."""
        if self._is_closed and self.duration > 0.0:
            seconds = seconds % self.duration
        last = len(self._cameras) - 2
        if last < 0 or seconds <= 0.0:
            return self._cameras[0]
        if seconds >= self.duration:
            return self._cameras[-1]
        stretch = min(bisect.bisect_right(self._times, seconds) - 1, last)
        length = self._times[stretch + 1] - self._times[stretch]
        return self._between(stretch, (seconds - self._times[stretch]) / length)

    def _between(self, stretch: int, share: float) -> Camera:
        before, after = self._cameras[stretch], self._cameras[stretch + 1]
        eased = share * share * (3.0 - 2.0 * share)
        turn = slerp(self._turns[stretch], self._turns[stretch + 1], share)

        def mixed(name: str) -> float:
            a, b = float(getattr(before, name)), float(getattr(after, name))
            return a + (b - a) * eased

        far = mixed("far") if before.far > 0.0 and after.far > 0.0 else before.far
        return Camera(
            eye=_vector(self._eyes(stretch, share)),
            look_at=_vector(self._targets(stretch, share)),
            up=_vector(up_of(turn)),
            fov=mixed("fov"),
            orthographic=before.orthographic,
            height=mixed("height"),
            near=mixed("near"),
            far=far,
        )

    def _curve(self, points: np.ndarray) -> Callable[[int, float], np.ndarray]:
        """The curve through points (N, 3) as a function of the stretch and the share of it."""
        if self._is_closed:
            ends = points[-2], points[1]
        else:  # the first and last stretch go on as they begin and end
            ends = 2.0 * points[0] - points[min(1, len(points) - 1)], 2.0 * points[-1] - points[max(len(points) - 2, 0)]
        around = np.concatenate([ends[0][None], points, ends[1][None]])
        knots = np.sqrt(np.linalg.norm(np.diff(around, axis=0), axis=1))
        longest = float(knots.max())
        knots = np.maximum(knots, SHORTEST * longest if longest > 0.0 else 1.0)

        def curve(stretch: int, share: float) -> np.ndarray:
            return catmull_rom(around[stretch : stretch + 4], knots[stretch : stretch + 3], share)

        return curve


def catmull_rom(points: np.ndarray, knots: np.ndarray, share: float) -> np.ndarray:
    """Between the second and third of four points, `knots` (3,) apart: Barry and Goldman's pyramid (1988)."""
    t0, t1, t2, t3 = 0.0, knots[0], knots[0] + knots[1], knots.sum()
    t = t1 + (t2 - t1) * share

    def mix(a: np.ndarray, b: np.ndarray, start: float, end: float) -> np.ndarray:
        return np.asarray(a * ((end - t) / (end - start)) + b * ((t - start) / (end - start)))

    a1, a2, a3 = (
        mix(points[k], points[k + 1], start, end) for k, (start, end) in enumerate(((t0, t1), (t1, t2), (t2, t3)))
    )
    return mix(mix(a1, a2, t0, t2), mix(a2, a3, t1, t3), t1, t2)


def orientation(camera: Camera) -> np.ndarray:
    """The camera's axes (right, up, backward) as a quaternion x, y, z, w."""
    right, up, forward = camera.basis()
    m = np.stack([right, up, -forward], axis=1)
    squares = np.maximum(
        0.0,
        1.0
        + np.array(
            [m[0, 0] - m[1, 1] - m[2, 2], m[1, 1] - m[0, 0] - m[2, 2], m[2, 2] - m[0, 0] - m[1, 1], np.trace(m)]
        ),
    )
    x, y, z, w = np.sqrt(squares) / 2.0
    largest = int(np.argmax(squares))
    if largest == 3:
        return np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 4.0 * w * w]) / (4.0 * w)
    if largest == 0:
        return np.array([4.0 * x * x, m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[2, 1] - m[1, 2]]) / (4.0 * x)
    if largest == 1:
        return np.array([m[0, 1] + m[1, 0], 4.0 * y * y, m[1, 2] + m[2, 1], m[0, 2] - m[2, 0]]) / (4.0 * y)
    return np.array([m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], 4.0 * z * z, m[1, 0] - m[0, 1]]) / (4.0 * z)


def up_of(turn: np.ndarray) -> np.ndarray:
    """Where a quaternion turns +Y to."""
    x, y, z, w = turn
    return np.array([2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)])


def _by_length(curve: Callable[[int, float], np.ndarray], duration: float, count: int) -> list[float]:
    """Times of the stretches in proportion to their lengths; equal ones where nothing moves."""
    lengths = []
    for stretch in range(count):
        places = np.array([curve(stretch, share) for share in np.linspace(0.0, 1.0, 33)])
        lengths.append(float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()))
    total = sum(lengths)
    if total <= 0.0:
        return [duration / count] * count
    least = 1e-3 * duration / count
    grown = [max(duration * length / total, least) for length in lengths]
    return [one * duration / sum(grown) for one in grown]


def _vector(values: np.ndarray) -> Vector:
    return (float(values[0]), float(values[1]), float(values[2]))
