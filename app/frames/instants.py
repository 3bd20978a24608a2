"""The triangles of one instant, as files of models take them: evaluated as for a frame, without what is hidden."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence

import numpy as np

from raygrove.app.export.scene_files import Instant
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.scene import Material, Moment, Scene
from raygrove.gpu.target.base import Target


def instant_of(
    target: Target, scene: Scene, moment: Moment, hidden: Collection[int] = (), materials: Sequence[Material] = ()
) -> Instant:
    """The scene at a moment; objects whose numbers are `hidden` are left out, `materials` are the scene's unless
    others are given, and so are triangles with a vertex that is nowhere (not finite). Waits."""
    with contextlib.closing(Animator(target, scene)) as animator:
        surface = animator.at(moment)
        positions, normals, uvs, triangles, material_ids = (
            np.array(target.download(array))
            for array in (surface.positions, surface.normals, surface.uvs, surface.triangles, surface.material_ids)
        )
    shown = np.isfinite(positions).all(axis=1)[triangles].all(axis=1)
    for number, thing in enumerate(surface.objects):
        if number in hidden:
            shown[thing.first : thing.first + thing.count] = False
    has_uvs = any(mesh.uvs is not None for mesh in scene.meshes)
    return Instant(
        scene.name, positions, normals, uvs[: len(positions)] if has_uvs else None, triangles[shown],
        material_ids[: len(triangles)][shown], tuple(materials) or scene.materials or (Material(),), scene.textures,
        scene.origin,
    )  # fmt: skip
