"""Scenes drawn by Mitsuba 3 (`scalar_rgb`), an independent renderer: what this program's paths of light are compared
with.

Mitsuba gets the same triangles, lights and camera, and for each material the one of its own that is the same model:
`diffuse`, `plastic` (smooth gloss over a base, without its shift of colours), `principled` for metals (Schlick's term
on GGX), `dielectric` and `roughdielectric`. It has no rough gloss over a base that loses no light: `roughplastic` loses
what microfacets hide, and `principled` has Disney's base, which is brighter at grazing angles. So `Coat` below is
written for it, in float64, from Kelemen and Szirmay-Kalos (2001), with integrals of its own.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import mitsuba as mi
import numpy as np

from raygrove.gpu.scene import Light, Material, Mesh, Scene

mi.set_variant("scalar_rgb")
mi.set_log_level(mi.LogLevel.Error)


def lobe(root: Any, alpha: float, index: float, out_z: Any, in_z: Any, half_z: Any, seen: Any) -> tuple[Any, Any]:
    """GGX with Fresnel's term, times the cosine of the light, and the density of the normals. `root` is math.sqrt or
    numpy's."""
    inside = root(1.0 - (1.0 - seen * seen) / index**2)
    across, along = (seen - index * inside) / (seen + index * inside), (index * seen - inside) / (index * seen + inside)
    fresnel = (across * across + along * along) / 2.0
    normals = alpha**2 / math.pi / ((alpha**2 - 1.0) * half_z**2 + 1.0) ** 2
    hidden = (root(1.0 + alpha**2 * (1.0 / out_z**2 - 1.0)) + root(1.0 + alpha**2 * (1.0 / in_z**2 - 1.0))) / 2.0 - 1.0
    return fresnel * normals / (4.0 * out_z * (1.0 + hidden)), normals


COSINES = 200


@functools.cache
def coat_reflects(alpha: float, index: float) -> tuple[list[float], float]:
    """What a coat of GGX reflects of light from COSINES directions, and the mean over the half sphere: integrals over
    directions."""
    points, weights = np.polynomial.legendre.leggauss(300)
    z, turn = np.meshgrid((points + 1.0) / 2.0, (points + 1.0) / 2.0 * math.pi, indexing="ij")
    side = np.sqrt(1.0 - z * z)
    found = []
    for cosine in (np.arange(COSINES) + 0.5) / COSINES:
        half = np.stack([side * np.cos(turn) + math.sqrt(1.0 - cosine**2), side * np.sin(turn), z + cosine])
        half /= np.linalg.norm(half, axis=0)
        seen = half[0] * math.sqrt(1.0 - cosine**2) + half[2] * cosine
        found.append(
            float(
                (lobe(np.sqrt, alpha, index, cosine, z, half[2], seen)[0] * np.outer(weights, weights)).sum()
                * math.pi
                / 2.0
            )
        )
    return found, sum(value * (i + 0.5) for i, value in enumerate(found)) * 2.0 / COSINES**2


class Coat(mi.BSDF):  # type: ignore[misc]
    """Rough gloss over a base."""

    def __init__(self, props: Any) -> None:
        super().__init__(props)
        self.alpha, self.index, self.base = float(props["alpha"]), float(props["index"]), mi.Color3f(props["base"])
        self.reflects, self.mean = coat_reflects(self.alpha, self.index)
        self.m_flags = mi.BSDFFlags.GlossyReflection | mi.BSDFFlags.FrontSide
        self.m_components = [self.m_flags]

    def _left(self, cosine: float) -> float:
        place = min(max(cosine * COSINES - 0.5, 0.0), COSINES - 1.0001)
        first = int(place)
        return 1.0 - self.reflects[first] - (self.reflects[first + 1] - self.reflects[first]) * (place - first)

    def eval_pdf(self, ctx: Any, si: Any, wo: Any, active: bool = True) -> tuple[Any, float]:
        (x, y, z), (u, v, w) = si.wi, wo
        if z <= 1e-4 or w <= 1e-4:
            return mi.Color3f(0.0), 0.0
        length = math.sqrt((x + u) ** 2 + (y + v) ** 2 + (z + w) ** 2)
        half_z, seen = (z + w) / length, min((1.0 + x * u + y * v + z * w) / length, 1.0)
        lambert = w / math.pi
        shine, normals = lobe(math.sqrt, self.alpha, self.index, z, w, half_z, seen)
        base = self._left(z) * self._left(w) / (1.0 - self.mean) * lambert
        return self.base * base + shine, 0.5 * (lambert + normals * half_z / (4.0 * seen))

    def eval(self, ctx: Any, si: Any, wo: Any, active: bool = True) -> Any:
        return self.eval_pdf(ctx, si, wo, active)[0]

    def pdf(self, ctx: Any, si: Any, wo: Any, active: bool = True) -> float:
        return self.eval_pdf(ctx, si, wo, active)[1]

    def sample(self, ctx: Any, si: Any, choice: float, place: Any, active: bool = True) -> tuple[Any, Any]:
        found = mi.BSDFSample3f()
        if choice < 0.5:
            found.wo = mi.warp.square_to_cosine_hemisphere(place)
        else:
            tangent2 = self.alpha**2 * place.x / max(1.0 - place.x, 1e-9)
            z = 1.0 / math.sqrt(1.0 + tangent2)
            side, turn = math.sqrt(max(1.0 - z * z, 0.0)), 2.0 * math.pi * place.y
            normal = mi.Vector3f(side * math.cos(turn), side * math.sin(turn), z)
            found.wo = mi.reflect(si.wi, normal)
        value, found.pdf = self.eval_pdf(ctx, si, found.wo)
        found.eta, found.sampled_type, found.sampled_component = 1.0, +mi.BSDFFlags.GlossyReflection, 0
        return found, mi.Color3f(value / found.pdf) if found.pdf > 0.0 else mi.Color3f(0.0)

    def to_string(self) -> str:
        return "Coat"


mi.register_bsdf("coat", Coat)


def color(values: Any) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(value) for value in values]}


def bsdf_of(material: Material) -> dict[str, Any]:
    """Mitsuba's material of the same model."""
    base, alpha = color(material.base_color[:3]), material.roughness**2
    if material.transmission > 0.0:
        glass = {"int_ior": material.ior, "ext_ior": 1.0}
        return (
            {"type": "roughdielectric", "distribution": "ggx", "alpha": alpha, **glass}
            if alpha > 0.0
            else {"type": "dielectric", **glass}
        )
    if material.metallic == 1.0:
        found = {"type": "principled", "base_color": base, "metallic": 1.0, "roughness": material.roughness}
    elif material.ior == 1.0:
        found = {"type": "diffuse", "reflectance": base}
    elif alpha == 0.0:
        found = {
            "type": "plastic",
            "diffuse_reflectance": base,
            "int_ior": material.ior,
            "ext_ior": 1.0,
            "nonlinear": False,
        }
    else:
        found = {"type": "coat", "alpha": alpha, "index": material.ior, "base": mi.Color3f(material.base_color[:3])}
    return {"type": "twosided", "inside": found}


def shape_of(name: str, mesh: Mesh, material: Material) -> Any:
    """Triangles of one material, without normals of their own; they shine from their fronts alone."""
    properties = mi.Properties()
    properties["bsdf"] = mi.load_dict(bsdf_of(material))
    if max(material.emission) > 0.0:
        assert not material.is_double_sided, "Mitsuba's lights shine from their fronts alone"
        properties["emitter"] = mi.load_dict({"type": "area", "radiance": color(material.emission)})
    shape = mi.Mesh(name, vertex_count=len(mesh.positions), face_count=len(mesh.triangles), props=properties)
    parameters = mi.traverse(shape)
    parameters["vertex_positions"] = mesh.positions.reshape(-1)
    parameters["faces"] = mesh.triangles.reshape(-1)
    parameters.update()
    return shape


def emitter_of(light: Light) -> dict[str, Any]:
    """A light; those with a body get one that takes the light which meets it."""
    black = {"type": "diffuse", "reflectance": color((0.0, 0.0, 0.0))}
    turned = mi.ScalarTransform4f().look_at(light.position, np.add(light.position, light.direction).tolist(), light.up)
    if light.kind == "point":
        return {"type": "point", "position": light.position, "intensity": color(light.color)}
    if light.kind == "directional":
        return {"type": "directional", "direction": light.direction, "irradiance": color(light.color)}
    if light.kind == "spot":
        angles = {"cutoff_angle": light.outer_angle, "beam_width": light.inner_angle}
        return {"type": "spot", "to_world": turned, "intensity": color(light.color), **angles}
    if light.kind == "sphere":
        radiance = {"type": "area", "radiance": color(np.array(light.color) / (math.pi * light.radius**2))}
        return {"type": "sphere", "center": light.position, "radius": light.radius, "bsdf": black, "emitter": radiance}
    radiance = {"type": "area", "radiance": color(np.array(light.color) / math.prod(light.size))}
    sized = turned @ mi.ScalarTransform4f().scale([light.size[0] / 2.0, light.size[1] / 2.0, 1.0])
    return {"type": "rectangle", "to_world": sized, "bsdf": black, "emitter": radiance}


def render(scene: Scene, eye: Any, look_at: Any, fov: float, side: int, bounces: int, samples: int) -> np.ndarray:
    """(side, side, 3) float64: a scene of still meshes, each of one material, without textures."""
    film = {"type": "hdrfilm", "width": side, "height": side, "rfilter": {"type": "box"}, "component_format": "float32"}
    sensor = {
        "type": "perspective",
        "fov": fov,
        "to_world": mi.ScalarTransform4f().look_at(list(eye), list(look_at), [0, 1, 0]),
        "film": film,
    }
    path = {
        "type": "path",
        "max_depth": bounces + 1,
        "rr_depth": 1000,
        "hide_emitters": bool(scene.lights),
    }  # ours have no bodies that are seen
    parts: dict[str, Any] = {"type": "scene", "integrator": path, "sensor": sensor}
    parts["sensor"]["sampler"] = {"type": "multijitter", "sample_count": samples}
    for index, thing in enumerate(scene.objects):
        mesh = scene.meshes[thing.mesh]
        parts[f"mesh_{index}"] = shape_of(f"mesh_{index}", mesh, scene.materials[int(mesh.material_ids[0])])
    for index, light in enumerate(scene.lights):
        parts[f"light_{index}"] = emitter_of(light)
    if scene.environment is not None:
        turned = mi.ScalarTransform4f().rotate([0, 1, 0], 180.0)
        parts["sky"] = {"type": "envmap", "bitmap": mi.Bitmap(scene.environment.pixels), "to_world": turned}
    return np.array(mi.render(mi.load_dict(parts), seed=1), np.float64)[..., :3]
