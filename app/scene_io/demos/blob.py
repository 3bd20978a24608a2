"""`blob`: a displaced icosphere of triangles of even size, still; the scene on which speed is measured."""

from __future__ import annotations

from raygrove.gpu.scene import Light, Material, Object, Scene

from .parts import bounds, mesh_of
from .sphere import displaced, icosphere, icosphere_frequency


def make_blob(triangles: int, seed: int) -> Scene:
    """512,000 triangles are a frequency of 160, 12,800,000 are 800. About 64 % of the pixels of a 4:3 picture see
    it."""
    blob = displaced(icosphere(icosphere_frequency(triangles)), seed)
    lower, upper = bounds(blob.positions.min(axis=0), blob.positions.max(axis=0))
    return Scene(
        "blob",
        meshes=(mesh_of("blob", blob),),
        objects=(Object(0, 0),),
        materials=(Material("clay", (0.56, 0.28, 0.17, 1.0), roughness=0.45),),
        lights=(Light("directional", (3.0, 2.9, 2.7), direction=(-0.5, -0.7, -0.6)),),
        lower=lower,
        upper=upper,
        eye=(1.04, 0.815, 2.09),
        look_at=(0.0, 0.0, 0.0),
    )
