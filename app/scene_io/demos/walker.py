"""`walker`: a robot of rigid parts that walks in a circle. Joints are nodes with rotation tracks; feet meet the floor
by forward kinematics."""

from __future__ import annotations

import math

import numpy as np

from raygrove.gpu.scene import Channel, Clip, Light, Material, Mesh, Node, Object, Scene, Track

from .parts import bounds, mesh_of, rotations
from .shapes import Surface, rounded_box, sheet
from .textures import checker

DURATION = 12.0
STEPS = 10
"""Double steps in a loop; with this radius the feet hardly slide."""
RADIUS = 2.3
KEYS_A_STEP = 16
THIGH, SHIN, SOLE, HEEL, TOE = 0.46, 0.46, 0.12, 0.10, 0.24
FLOOR = 4.5

# name, parent, joint relative to the parent's, centre and half size of the part about the joint, roundness, material
PARTS: tuple[
    tuple[str, str, tuple[float, float, float], tuple[float, float, float], tuple[float, float, float], float, int], ...
] = (
    ("pelvis", "walker", (0, 0, 0), (0, 0.04, 0), (0.19, 0.12, 0.13), 4, 1),
    ("torso", "pelvis", (0, 0.14, 0), (0, 0.27, 0), (0.25, 0.28, 0.16), 5, 0),
    ("head", "torso", (0, 0.60, 0), (0, 0.17, 0), (0.155, 0.165, 0.165), 3, 2),
    ("left arm", "torso", (-0.34, 0.46, 0), (0, -0.15, 0), (0.075, 0.21, 0.085), 3, 0),
    ("left forearm", "left arm", (0, -0.33, 0), (0, -0.15, 0), (0.065, 0.19, 0.07), 3, 2),
    ("left hand", "left forearm", (0, -0.33, 0), (0, -0.06, 0), (0.055, 0.085, 0.075), 3, 1),
    ("right arm", "torso", (0.34, 0.46, 0), (0, -0.15, 0), (0.075, 0.21, 0.085), 3, 0),
    ("right forearm", "right arm", (0, -0.33, 0), (0, -0.15, 0), (0.065, 0.19, 0.07), 3, 2),
    ("right hand", "right forearm", (0, -0.33, 0), (0, -0.06, 0), (0.055, 0.085, 0.075), 3, 1),
    ("left thigh", "pelvis", (-0.12, -0.02, 0), (0, -THIGH / 2, 0), (0.095, 0.27, 0.11), 3, 0),
    ("left shin", "left thigh", (0, -THIGH, 0), (0, -SHIN / 2, 0), (0.08, 0.26, 0.09), 3, 2),
    ("left foot", "left shin", (0, -SHIN, 0), (0, -SOLE + 0.055, -0.07), (0.085, 0.055, 0.17), 5, 1),
    ("right thigh", "pelvis", (0.12, -0.02, 0), (0, -THIGH / 2, 0), (0.095, 0.27, 0.11), 3, 0),
    ("right shin", "right thigh", (0, -THIGH, 0), (0, -SHIN / 2, 0), (0.08, 0.26, 0.09), 3, 2),
    ("right foot", "right shin", (0, -SHIN, 0), (0, -SOLE + 0.055, -0.07), (0.085, 0.055, 0.17), 5, 1),
)
VISOR, FLOOR_MATERIAL = 3, 4


def make_walker(triangles: int, seed: int) -> Scene:
    """About 86 % of the triangles in the fifteen parts, the rest in the floor."""
    squares = max(1, round(math.sqrt(0.86 * triangles / 12.0 / len(PARTS))))
    left = max(2, triangles - 12 * squares**2 * len(PARTS))
    columns = max(1, round(math.sqrt(left / 2.0)))
    ground = sheet(
        (-FLOOR, 0, FLOOR), (2 * FLOOR, 0, 0), (0, 0, -2 * FLOOR), columns, max(1, round(left / 2.0 / columns)), (6, 6)
    )
    shapes = {roundness: rounded_box(squares, roundness) for roundness in sorted({part[5] for part in PARTS})}
    names = ["scene", "turntable", "walker", *(part[0] for part in PARTS)]
    nodes = [Node("scene"), Node("turntable"), Node("walker", 1, translation=(RADIUS, 0.0, 0.0))]
    meshes, objects = [mesh_of("floor", ground, FLOOR_MATERIAL)], [Object(0, 0)]
    for name, parent, joint, centre, half, roundness, material in PARTS:
        objects.append(Object(len(nodes), len(meshes)))
        nodes.append(Node(name, names.index(parent), translation=joint))
        surface = shapes[roundness].placed(half, centre)
        meshes.append(_with_visor(surface) if name == "head" else mesh_of(name, surface, material))
    return Scene(
        "walker",
        nodes=tuple(nodes),
        meshes=tuple(meshes),
        objects=tuple(objects),
        materials=(
            Material("shell", (0.88, 0.47, 0.07, 1.0), roughness=0.3),
            Material("joint", (0.10, 0.11, 0.13, 1.0), roughness=0.5),
            Material("limb", (0.62, 0.64, 0.66, 1.0), metallic=0.3, roughness=0.35),
            Material("visor", (0.03, 0.20, 0.26, 1.0), roughness=0.1, emission=(0.05, 0.35, 0.45)),
            Material("tiles", roughness=0.7, base_color=(1.0, 1.0, 1.0, 1.0), base_color_texture=0),
        ),
        textures=(checker("tiles", (214, 205, 188), (96, 116, 122), seed=seed),),
        lights=(Light("directional", (3.0, 2.9, 2.7), direction=(-0.45, -0.85, -0.4)),),
        clips=(Clip("walk", DURATION, _channels(names)),),
        lower=bounds(np.array([-FLOOR, 0, -FLOOR]), np.zeros(3))[0],
        upper=bounds(np.zeros(3), np.array([FLOOR, 2.3, FLOOR]))[1],
        eye=(1.7, 1.9, 5.6),
        look_at=(0.0, 0.8, 0.0),
    )


def _with_visor(surface: Surface) -> Mesh:
    """The head: a band of its front looks out."""
    middle = surface.positions[surface.triangles].mean(axis=1) - np.array([0, 0.17, 0], np.float32)
    is_visor = (middle[:, 2] < -0.06) & (np.abs(middle[:, 1] - 0.02) < 0.06)
    return mesh_of("head", surface, np.where(is_visor, VISOR, 2).astype(np.int32))


def _channels(names: list[str]) -> tuple[Channel, ...]:
    """The gait: every joint as a function of the phase of the left leg, the right half a turn behind. The robot faces
    -Z."""
    count = STEPS * KEYS_A_STEP + 1
    times = np.linspace(0.0, DURATION, count)
    phase = 2.0 * math.pi * (np.arange(count) % KEYS_A_STEP) / KEYS_A_STEP
    x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    channels = [Channel(1, "rotation", rotations(y, times, np.linspace(0.0, 2.0 * math.pi, count)))]
    lowest = []
    for side, shift in (("left", 0.0), ("right", math.pi)):
        hip, knee, ankle = _leg(phase + shift)
        lowest.append(_lowest_sole(hip, knee, ankle))
        angles = {"thigh": hip, "shin": -knee, "foot": ankle}
        angles |= {"arm": -0.55 * np.sin(phase + shift) + 0.05, "forearm": 0.55 - 0.25 * np.sin(phase + shift)}
        channels += [
            Channel(names.index(f"{side} {part}"), "rotation", rotations(x, times, value))
            for part, value in angles.items()
        ]
    height = -np.minimum(*lowest) + 0.02
    place = np.stack([np.full(count, RADIUS), height, np.zeros(count)], axis=1)
    channels.append(
        Channel(names.index("walker"), "translation", Track(times.astype(np.float32), place.astype(np.float32)))
    )
    channels.append(Channel(names.index("pelvis"), "rotation", rotations(y, times, 0.10 * np.sin(phase))))
    channels.append(Channel(names.index("torso"), "rotation", rotations(y, times, -0.22 * np.sin(phase))))
    channels.append(Channel(names.index("head"), "rotation", rotations(y, times, 0.12 * np.sin(phase))))
    return tuple(channels)


def _leg(phase: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hip (forwards), knee (backwards, never negative) and ankle angles in radians. The leg swings while its hip moves
    forwards; on the ground the foot lies flat."""
    hip = 0.43 * np.sin(phase) + 0.06
    swing = np.clip(np.cos(phase), 0.0, 1.0)
    knee = 0.10 + 0.95 * swing**1.5
    ankle = -(hip - knee) * (1.0 - 0.75 * swing)
    return hip, knee, ankle


def _lowest_sole(hip: np.ndarray, knee: np.ndarray, ankle: np.ndarray) -> np.ndarray:
    """Height of the lowest point of a foot's sole, relative to the walker's node, at each key."""
    shin, foot = hip - knee, hip - knee + ankle
    joint = -0.02 - THIGH * np.cos(hip) - SHIN * np.cos(shin)
    soles = [joint - SOLE * np.cos(foot) + reach * np.sin(foot) for reach in (TOE, -HEEL)]
    return np.minimum(*soles)
