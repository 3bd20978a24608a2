"""What OpenGL and the oracle draw: awkward spheres, and looks at them."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.display.sphere_look import SphereLook

SIZE = (161, 120)


def some_spheres() -> np.ndarray:
    """(N, 4) float32 centre and radius: 400 ahead of the eye at the origin, which looks along -z, and awkward ones."""
    chance = np.random.default_rng(2015)
    centres = chance.uniform((-3, -2, -9), (3, 2, -2), (400, 3))
    radii = chance.uniform(0.02, 0.3, 400)
    awkward = [
        (0.0, 0.0, 4.0, 1.0),  # behind
        (30.0, 0.0, -40.0, 25.0),  # its centre is beside the picture
        (0.0, -300.0, -400.0, 200.0),  # larger than the picture
        (0.3, 0.2, -3.0, -1.0),
        (0.3, 0.2, -3.0, np.nan),
        (np.nan, 0.0, -3.0, 1.0),
        (0.5, 0.5, -3.0, 0.0),
        (1.0, 0.0, -4.0, 1e-6),
        (-0.6, 0.3, -1.1, 0.5),  # across the near plane
    ]
    return np.concatenate([np.column_stack([centres, radii]), np.array(awkward)]).astype(np.float32)


def some_colours() -> np.ndarray:
    """(N, 3) float32 linear colours of them, of each third sphere none."""
    colours = np.random.default_rng(5).uniform(0.0, 1.0, (len(some_spheres()), 3)).astype(np.float32)
    colours[::3] = -1.0
    return colours


def looks() -> dict[str, SphereLook]:
    """Perspective, orthographic, clipped, and from within a sphere; each with a near plane or another tone."""

    def look(eye: tuple[float, float, float], **more: object) -> np.ndarray:
        values = {"look_at": (0.0, 0.0, -5.0), "fov": 60.0, **more}
        return Camera(eye=eye, **values).frame(*SIZE)  # type: ignore[arg-type]

    return {
        "perspective": SphereLook(look((0.0, 0.0, 0.0), near=1.2), depth_scale=5.0),
        "orthographic": SphereLook(look((0.0, 0.0, 0.0), orthographic=True, height=5.0), tone="filmic", exposure=2.0),
        "clipped": SphereLook(look((0.0, 0.0, 0.0), near=1.5, far=8.0), (0.6, 0.0, 0.8, -2.5), tone="reinhard"),
        "within": SphereLook(look((-0.3, 0.0, -1.1)), color=(0.9, 0.3, 0.1), ambient=0.4),
    }
