"""The Cornell box (Goral et al. 1984, made simple): five walls, two blocks, a square of light. As triangles for the
oracle, and as a scene."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.scene import Material, Mesh, Object, Scene

EYE, LOOK_AT, FOV = (0.0, 0.0, 3.9), (0.0, 0.0, 0.0), 40.0
GREY, RED, GREEN, LAMP, MIRROR = range(5)
ALBEDOS = np.array([[0.73, 0.73, 0.73], [0.63, 0.065, 0.05], [0.14, 0.45, 0.091], [0.0, 0.0, 0.0], [0.9, 0.85, 0.7]])
EMISSION = np.array([11.0, 9.0, 5.0])


@dataclasses.dataclass(frozen=True, eq=False)
class Room:
    """Triangles (T, 3, 3) float64, and the material of each (T,). A one-sided lamp shines from where its corners go
    round counterclockwise."""

    triangles: np.ndarray
    materials: np.ndarray
    is_lamp_one_sided: bool = False


def cornell(with_mirror: bool = False, one_sided: bool = False) -> Room:
    """The box from -1 to 1, open towards +z; the tall block is a mirror if asked for. The lamp hangs below the ceiling,
    its front down."""
    quads: list[tuple[np.ndarray, int]] = []

    def quad(
        corner: tuple[float, float, float],
        across: tuple[float, float, float],
        down: tuple[float, float, float],
        material: int,
    ) -> None:
        a, u, v = (np.array(x, np.float64) for x in (corner, across, down))
        quads.append((np.array([[a, a + u, a + u + v], [a, a + u + v, a + v]]), material))

    quad((-1, -1, -1), (2, 0, 0), (0, 0, 2), GREY)
    quad((-1, 1, -1), (2, 0, 0), (0, 0, 2), GREY)
    quad((-1, -1, -1), (2, 0, 0), (0, 2, 0), GREY)
    quad((-1, -1, -1), (0, 2, 0), (0, 0, 2), RED)
    quad((1, -1, -1), (0, 2, 0), (0, 0, 2), GREEN)
    quad((-0.35, 0.75, -0.35), (0.7, 0, 0), (0, 0, 0.7), LAMP)
    for centre, half, height, turn, material in (
        ((-0.35, -0.35), 0.3, 1.2, 0.3, MIRROR if with_mirror else GREY),
        ((0.4, 0.3), 0.3, 0.6, -0.3, GREY),
    ):
        c, s = np.cos(turn), np.sin(turn)
        corners = [
            np.array([centre[0] + half * (x * c - z * s), -1.0, centre[1] + half * (x * s + z * c)])
            for x, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        up = (0.0, height, 0.0)
        for i in range(4):
            quad(tuple(corners[i]), tuple(corners[(i + 1) % 4] - corners[i]), up, material)
        top = [corner + np.array(up) for corner in corners]
        quad(tuple(top[0]), tuple(top[1] - top[0]), tuple(top[3] - top[0]), material)
    return Room(np.concatenate([q for q, _ in quads]), np.repeat([m for _, m in quads], 2), one_sided)


def scene_of(room: Room) -> Scene:
    """The room as a scene: surfaces without a gloss, but for the mirror."""
    count = len(room.triangles)
    mesh = Mesh(
        "box",
        room.triangles.reshape(-1, 3).astype(np.float32),
        np.arange(3 * count, dtype=np.int32).reshape(-1, 3),
        room.materials.astype(np.int32),
    )
    kinds = []
    for index, albedo in enumerate(ALBEDOS.tolist()):
        is_lamp, is_mirror = index == LAMP, index == MIRROR
        emission = tuple(EMISSION.tolist()) if is_lamp else (0.0, 0.0, 0.0)
        metallic, roughness = (1.0, 0.0) if is_mirror else (0.0, 1.0)
        has_back = not (is_lamp and room.is_lamp_one_sided)
        kinds.append(
            Material(f"kind {index}", (*albedo, 1.0), metallic, roughness, emission, ior=1.0, is_double_sided=has_back)
        )
    return Scene("cornell", meshes=(mesh,), objects=(Object(0, 0),), materials=tuple(kinds), eye=EYE, look_at=LOOK_AT)
