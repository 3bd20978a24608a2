"""Lights that are far too bright for their scene, brought to what lights it well.

FBX files give the strength of lights in percent of nobody knows what: the scene's unit, and watts for a program that
means those. A picture is then white. Where all lights together would light a tenth of the scene far brighter than
white, all are dimmed alike, so that they stay as they are to one another.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.scene import Light, Remark, Scene

from .transforms import global_matrices

POINTS = 200
"""Vertices of each object that are looked at."""

MOST = 30.0
"""Irradiance that somebody may have meant: a white surface looks ten times as bright as white."""

GOOD = 3.0
"""Irradiance that shows a white surface as white."""


def tamed(scene: Scene) -> Scene:
    """The scene with its lights dimmed, and a remark, where they are far too bright; else the scene."""
    found = irradiance(scene)
    if not found > MOST:
        return scene
    share = GOOD / found
    lights = tuple(dataclasses.replace(light, color=_times(light.color, share)) for light in scene.lights)
    sentence = (
        f"The lights are about {1.0 / share:.0f} times too bright for the size of the scene, as the file gives them in "
        "a unit of its own: all were dimmed alike."
    )
    return dataclasses.replace(scene, lights=lights, remarks=(*scene.remarks, Remark(1, sentence)))


def irradiance(scene: Scene) -> float:
    """What all lights together give a surface that faces them, in their brightest channel: what nine tenths of the
    vertices of the scene at rest get at most."""
    points = _points(scene)
    if not scene.lights or not len(points):
        return 0.0
    matrices = global_matrices(scene.nodes)
    least = max(1e-3 * float(np.linalg.norm(np.ptp(points, axis=0))), 1e-12)
    total = np.zeros(len(points))
    for light in scene.lights:
        total += max(light.color) / (1.0 if light.kind == "directional" else _squares(light, matrices, points, least))
    return float(np.quantile(total, 0.9))


def _squares(light: Light, matrices: np.ndarray, points: np.ndarray, least: float) -> np.ndarray:
    """The squares of the points' distances to a light."""
    matrix = matrices[light.node] if light.node >= 0 else np.eye(4)
    place = (matrix @ np.array([*light.position, 1.0]))[:3]
    return np.maximum(np.sum(np.square(points - place), axis=1), least * least)


def _points(scene: Scene) -> np.ndarray:
    """(N, 3): some of each object's vertices at rest."""
    matrices = global_matrices(scene.nodes)
    found = [np.zeros((0, 3))]
    for thing in scene.objects:
        if thing.mesh >= 0:
            vertices = scene.meshes[thing.mesh].positions
            some = np.asarray(vertices[:: max(1, len(vertices) // POINTS)], np.float64)
            found.append(some @ matrices[thing.node][:3, :3].T + matrices[thing.node][:3, 3])
    points = np.concatenate(found)
    return points[np.isfinite(points).all(axis=1)]


def _times(color: tuple[float, float, float], share: float) -> tuple[float, float, float]:
    return color[0] * share, color[1] * share, color[2] * share
