"""The sanitiser's part for materials: every value finite and in range, and a remark that names each material with what
was wrong in it."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any

from raygrove.gpu.scene import ALPHA_MODES, Material, Remark, Scene

from .errors import display_path

NAMED = 12
"""Materials that a remark names."""
MOST_IOR = 10.0
RANGES: tuple[tuple[str, str, float, float], ...] = (
    ("base_color", "base colour", 0.0, 1.0),
    ("metallic", "metalness", 0.0, 1.0),
    ("roughness", "roughness", 0.0, 1.0),
    ("emission", "emission", 0.0, 1e6),
    ("transmission", "transmission", 0.0, 1.0),
    ("attenuation_color", "attenuation colour", 0.0, 1.0),
    ("attenuation_distance", "attenuation distance", 0.0, 1e18),
    ("alpha_cutoff", "alpha cut-off", 0.0, 1.0),
    ("normal_scale", "normal scale", -100.0, 100.0),
)
"""Field, its word, and between what it lies. Index of refraction, alpha mode and textures have rules of their own."""
TEXTURES = ("base_color_texture", "metallic_roughness_texture", "normal_texture", "emission_texture")


def clean_materials(scene: Scene, counts: Counter[str]) -> Scene:
    """The scene with usable materials and a remark on those that were corrected; one plain material where there is
    none."""
    faults: list[str] = []
    materials = []
    for index, material in enumerate(scene.materials):
        cleaned, wrong = clean_material(material, len(scene.textures), counts)
        materials.append(cleaned)
        if wrong:
            faults.append(f"{display_path(material.name) or f'number {index}'} ({', '.join(wrong)})")
    listed = ", ".join(faults[:NAMED]) + (f" and {len(faults) - NAMED} more" if len(faults) > NAMED else "")
    sentence = f"Materials with values that are not finite or out of range, which were replaced: {listed}."
    remarks = (Remark(len(faults), sentence),) if faults else ()
    return dataclasses.replace(scene, materials=tuple(materials) or (Material(),), remarks=scene.remarks + remarks)


def clean_material(material: Material, texture_count: int, counts: Counter[str]) -> tuple[Material, list[str]]:
    """The material in range, and in words what of it was not: what is no number gets the default, what is beyond its
    range the nearest bound."""
    changed: dict[str, Any] = {}
    wrong: list[str] = []
    for name, word, low, high in RANGES:
        value, default = getattr(material, name), getattr(Material(), name)
        inside = _inside(value, default, low, high)
        if inside != value:
            changed[name] = inside
            wrong.append(f"{word} {_written(value)}")
    ior = _inside(material.ior, Material.ior, 1.0, MOST_IOR) if material.ior != 0.0 else Material.ior
    if ior != material.ior:
        changed["ior"] = ior
        wrong.append(f"index of refraction {_written(material.ior)}, now {ior:g}")
    if material.alpha_mode not in ALPHA_MODES:
        changed["alpha_mode"] = ALPHA_MODES[0]
        wrong.append(f"alpha mode {display_path(material.alpha_mode)}")
    lost: dict[str, Any] = {name: -1 for name in TEXTURES if not -1 <= getattr(material, name) < texture_count}
    counts["texture"] += bool(lost)
    return dataclasses.replace(material, **changed, **lost), wrong


def _inside(value: Any, default: Any, low: float, high: float) -> Any:
    if isinstance(value, tuple):
        return tuple(_inside(part, own, low, high) for part, own in zip(value, default, strict=True))
    return min(max(float(value), low), high) if math.isfinite(value) else default


def _written(value: Any) -> str:
    return " ".join(f"{part:g}" for part in value) if isinstance(value, tuple) else f"{value:g}"
