"""The library's own kernels, for the sanitizers: scenes that move, rays of arrays and of sensors, groups and masks,
pictures."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.face.building import build
from raygrove.gpu.face.hits import OUTPUTS
from raygrove.gpu.face.pictures import render
from raygrove.gpu.face.rays import RaySet
from raygrove.gpu.face.scenes import ALL, Scene
from raygrove.gpu.face.sensors import lidar
from raygrove.gpu.target.base import Target

FORMS = (
    (True, -1, "two_level/bvh2@refit"),
    (True, 3, "two_level/bvh2@refit"),
    (True, -1, "lbvh@rebuild"),
    (False, -1, "lbvh@refit"),
)
"""Groups of instances, masks of meshes, and the tree."""


def run_face(target: Target, few: bool = False) -> None:
    """Each unit of arrays.cu that there is: by groups' own trees, by the test at primitives, by both, by neither. A
    `few`: by both, and by neither."""
    random = np.random.default_rng(4)
    vertices, triangles = random.random((60, 3)), np.arange(60).reshape(-1, 3)
    poses = np.tile(np.eye(3, 4, dtype=np.float32), (5, 1, 1))
    poses[:, :, 3] = random.random((5, 3))
    groups = np.array([0, 1, 3, 1, 0], np.int32)
    origins, directions = random.random((70, 3)), random.normal(size=(70, 3))
    own = np.resize(np.array([0, 1, 3, 7, ALL], np.int32), 70)
    for has_groups, masks, configuration in FORMS[1::2] if few else FORMS:
        scene = Scene(target=target)
        mesh = scene.add_mesh(vertices, triangles, transforms=poses, groups=groups if has_groups else ALL, masks=masks)
        scene.add_mesh(vertices * 2.0, triangles)
        with build(scene, configuration) as tree:
            mesh.transforms = poses + np.float32(0.1)
            tree.update()
            rays = RaySet(origins, directions, groups=own, masks=1)
            tree.trace(rays, outputs=tuple(OUTPUTS))
            tree.occluded(rays)
            seen = lidar(3, 5).rays(poses, groups=groups)
            tree.trace(seen, outputs=("instance",))
            tree.occluded(seen)
            if not has_groups:
                tree.step(RaySet(origins[0], directions[0]))
    render(scene, [Camera(), Camera(fov=70.0), Camera(orthographic=True)], size=(7, 5), outputs=("color", "depth"))
    scene.close()
