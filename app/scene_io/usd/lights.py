"""Lights of UsdLux and cameras.

UsdLux gives radiance (intensity x 2^exposure x colour), divided by the area where `normalize` is on; a light of ours
has its radiant intensity, a distant one its irradiance. A disk is drawn as the square of its area, a cylinder as the
sphere of its area.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from pathlib import Path

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdLux

from raygrove.app.scene_io.environments import read_environment
from raygrove.app.scene_io.errors import SceneError
from raygrove.app.scene_io.references import References
from raygrove.gpu.scene import Environment, Light, SceneCamera

from .materials import asset_name
from .times import Times

LIGHTS = ("DistantLight", "SphereLight", "RectLight", "DiskLight", "CylinderLight")
DOMES = ("DomeLight", "DomeLight_1")
SKY = 16
"""Rows of the picture of a dome without one."""


def light_of(prim: Usd.Prim, node: int, times: Times) -> Light | None:
    """The light of a prim; None where it gives none."""
    color, is_normalized = _emitted(prim, times)
    if not np.isfinite(color).all() or not (color > 0.0).any():
        return None
    kind = str(prim.GetTypeName())
    spot = _cone(prim, times)
    light = Light("point", node=node, direction=(0.0, 0.0, -1.0), up=(0.0, 1.0, 0.0), name=prim.GetName())
    if kind == "DistantLight":
        angle = _value(prim, "inputs:angle", times, 0.53)
        solid = math.pi * math.sin(math.radians(min(max(angle, 0.0), 180.0)) / 2.0) ** 2
        return dataclasses.replace(
            light, kind="directional", color=_triple(color * (solid if not is_normalized and solid > 0.0 else 1.0))
        )
    if kind in ("RectLight", "DiskLight"):
        radius = _value(prim, "inputs:radius", times, 0.5)
        side = math.sqrt(math.pi) * radius
        width, height = (
            (side, side)
            if kind == "DiskLight"
            else (_value(prim, "inputs:width", times, 1.0), _value(prim, "inputs:height", times, 1.0))
        )
        power = color if is_normalized else color * (width * height)
        return dataclasses.replace(light, kind="rectangle", color=_triple(power), size=(width, height))
    radius = _value(prim, "inputs:radius", times, 0.5)
    if kind == "CylinderLight":
        radius = math.sqrt(radius * _value(prim, "inputs:length", times, 1.0) / 2.0)
    is_point = kind == "SphereLight" and bool(prim.GetAttribute("treatAsPoint").Get(times.rest)) or radius <= 0.0
    area = math.pi * radius * radius
    power = color * (0.25 if is_normalized else area if radius > 0.0 else 1.0)
    if spot is not None:
        return dataclasses.replace(light, kind="spot", color=_triple(power), inner_angle=spot[0], outer_angle=spot[1])
    return dataclasses.replace(
        light, kind="point" if is_point else "sphere", color=_triple(power), radius=max(radius, 1e-6)
    )


def dome_of(prim: Usd.Prim, references: References, times: Times, counts: Counter[str]) -> Environment | None:
    """The light from far away that a dome gives: its picture, or its one colour."""
    color = _emitted(prim, times)[0].astype(np.float32)
    if not np.isfinite(color).all():
        return None
    name = asset_name(prim.GetAttribute("inputs:texture:file"), times.rest)
    if not name:
        return Environment(prim.GetName(), np.broadcast_to(color, (SKY, 2 * SKY, 3)).copy())
    try:
        if references.refusal(name):
            return None
        found = read_environment(name)
    except (OSError, ValueError, SceneError):
        counts["dome"] += 1
        return None
    return Environment(Path(name).name, found.pixels * color)


def camera_of(prim: Usd.Prim, node: int, times: Times) -> SceneCamera:
    """A camera by its vertical aperture and focal length, at rest."""
    camera = UsdGeom.Camera(prim)
    focal = camera.GetFocalLengthAttr().Get(times.rest) or 50.0
    aperture = camera.GetVerticalApertureAttr().Get(times.rest) or 15.2908
    angle = math.degrees(2.0 * math.atan2(abs(aperture), 2.0 * abs(focal))) if focal and aperture else 45.0
    return SceneCamera(prim.GetName(), node, min(max(angle, 0.1), 179.0) if math.isfinite(angle) else 45.0)


def _emitted(prim: Usd.Prim, times: Times) -> tuple[np.ndarray, bool]:
    """Intensity x 2^exposure x colour, and whether it is divided by the light's area."""
    light = UsdLux.LightAPI(prim)
    color = np.array(light.GetColorAttr().Get(times.rest) or (1.0, 1.0, 1.0), np.float64)
    if light.GetEnableColorTemperatureAttr().Get(times.rest):
        warmth = light.GetColorTemperatureAttr().Get(times.rest) or 6500.0
        color *= np.array(UsdLux.BlackbodyTemperatureAsRgb(warmth), np.float64)
    intensity = light.GetIntensityAttr().Get(times.rest)
    exposure = min(light.GetExposureAttr().Get(times.rest) or 0.0, 100.0)
    scale = (1.0 if intensity is None else float(intensity)) * 2.0**exposure
    return color * scale, bool(light.GetNormalizeAttr().Get(times.rest))


def _cone(prim: Usd.Prim, times: Times) -> tuple[float, float] | None:
    """The inner and outer angle of a light that is shaped to a cone."""
    if not prim.HasAPI(UsdLux.ShapingAPI):
        return None
    angle = _value(prim, "inputs:shaping:cone:angle", times, 90.0)
    if angle >= 90.0:
        return None
    softness = min(max(_value(prim, "inputs:shaping:cone:softness", times, 0.0), 0.0), 1.0)
    return max(angle, 0.0) * (1.0 - softness), max(angle, 0.0)


def _value(prim: Usd.Prim, name: str, times: Times, default: float) -> float:
    value = prim.GetAttribute(name).Get(times.rest) if prim.HasAttribute(name) else None
    return abs(float(value)) if value is not None and math.isfinite(value) else default


def _triple(values: np.ndarray) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def up_axis(stage: Usd.Stage) -> np.ndarray:
    """The matrix that turns the stage's up axis into +Y."""
    if UsdGeom.GetStageUpAxis(stage) != UsdGeom.Tokens.z:
        return np.eye(4)
    return np.array(Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(1, 0, 0), -90.0)), np.float64).T
