"""What the window's OpenGL is given where it draws spheres in place of rays: the spheres of an instant, and the look of
the first view."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from raygrove.app.document.state import State
from raygrove.gpu.clip import half_space
from raygrove.gpu.display.sphere_look import MOST_FULL_SCREEN, SphereDrawingError, SphereLook, SpherePicture
from raygrove.gpu.scene import Moment, Scene

NOT_FLAT = ("radiosity",)
"""Ray types for which flat shading does not stand in."""


def check_scene(scene: Scene, way: str) -> None:
    """Raise SphereDrawingError for scenes that OpenGL does not draw, or not in that way."""
    if scene.beside_spheres:
        raise SphereDrawingError(
            f"OpenGL draws scenes of spheres alone, and this one has {scene.beside_spheres}. "
            "Choose Structure > Spheres drawn by > Rays."
        )
    if way == "full_screen" and scene.sphere_count > MOST_FULL_SCREEN:
        raise SphereDrawingError(
            f"The full-screen fragment shader tests every pixel against all spheres and takes {MOST_FULL_SCREEN:,} at "
            f"most; the scene has {scene.sphere_count:,}. Choose Structure > Spheres drawn by > Impostors, or Rays."
        )


def check_ray_type(state: State) -> None:
    """Raise SphereDrawingError where the first view's ray type shows what OpenGL, which shades flatly, cannot."""
    ray_type = state.ray_type_of()
    if ray_type in NOT_FLAT:
        raise SphereDrawingError(
            f"OpenGL draws spheres in flat shading, and {ray_type} is the light that surfaces exchange, which rays "
            "gather. Choose Structure > Spheres drawn by > Rays, or another ray type."
        )


def check_no_window(state: State) -> None:
    """Raise SphereDrawingError where OpenGL would have to draw without a window."""
    way = state.settings.display.spheres
    if way != "rays":
        raise SphereDrawingError(
            f"display.spheres is {way}: OpenGL draws spheres in the window alone, and pictures in files are made by "
            "rays. Set display.spheres to rays."
        )


def sphere_picture(engine: Any, scene: Scene, state: State, moment: Moment, width: int, height: int) -> SpherePicture:
    """What OpenGL draws at a moment in place of rays, in a picture of that size. Waits for the target. Raises
    SphereDrawingError."""
    way = state.settings.display.spheres
    check_scene(scene, way)
    check_ray_type(state)
    spheres = engine.spheres(moment)
    return SpherePicture(spheres, way, look_of(scene, state, width, height), engine.attribute_colours())


def look_of(scene: Scene, state: State, width: int, height: int) -> SphereLook:
    """The camera of the first view, the clipping plane, and the options of flat shading, as that ray type has them."""
    settings, camera = state.settings, state.camera_of(0)
    flat = settings.ray_type_options("flat")
    lower, upper = np.asarray(scene.lower, float), np.asarray(scene.upper, float)
    reach = float(np.linalg.norm(upper - lower)) + float(np.linalg.norm((upper + lower) / 2.0 - np.asarray(camera.eye)))
    return SphereLook(
        camera=camera.frame(width, height),
        clip=half_space(settings.clip, scene.lower, scene.upper),
        color=flat.color,
        ambient=flat.ambient,
        below=flat.background_below,
        above=flat.background_above,
        exposure=2.0**flat.exposure,
        tone=flat.tone,
        depth_scale=reach if 0.0 < reach < math.inf else 1.0,
    )
