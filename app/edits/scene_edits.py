"""What a person has changed of a scene's materials and lights: tables of the settings by their names, and the scene's
with these changes.

A table says only what it changes, so that a file of settings fits a scene whose other values are changed in its file.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from raygrove.gpu.scene import ALPHA_MODES, LIGHT_KINDS, Light, Material, Scene
from raygrove.gpu.settings import option

Color = tuple[float, float, float]
AS_IT_IS = "as_it_is"
GONE = "none"
KEPT = (-1.0, -1.0, -1.0)
KEY = re.compile(r"[A-Za-z0-9_\-]+")
MANY = 1e18


@dataclasses.dataclass(frozen=True)
class MaterialOptions:
    """What is changed of one material of the scene: -1 (0 for `ior`) leaves what its file says."""

    base_color: Color = option(
        KEPT, "Linear colour of the surface, multiplied by its texture.", minimum=-1.0, maximum=1.0, is_color=True
    )
    alpha: float = option(
        -1.0, "Share that is covered, where the alpha mode is blend; what a mask cuts.", minimum=-1.0, maximum=1.0
    )
    alpha_mode: str = option(AS_IT_IS, "What becomes of alpha.", choices=(AS_IT_IS, *ALPHA_MODES))
    metallic: float = option(-1.0, "0 for paint, stone and glass, 1 for metal.", minimum=-1.0, maximum=1.0)
    roughness: float = option(-1.0, "0 for a mirror, 1 for chalk.", minimum=-1.0, maximum=1.0)
    transmission: float = option(
        -1.0, "Share of light that goes into the body: 1 for glass.", minimum=-1.0, maximum=1.0
    )
    ior: float = option(
        0.0, "Index of refraction: 1.33 for water, 1.5 for glass; less than 1 counts as 1.", minimum=0.0, maximum=10.0
    )
    thin: str = option(AS_IT_IS, "A pane without an inside, which bends nothing.", choices=(AS_IT_IS, "yes", "no"))
    attenuation_color: Color = option(
        KEPT, "What is left of white light after the attenuation distance.", minimum=-1.0, maximum=1.0, is_color=True
    )
    attenuation_distance: float = option(
        -1.0,
        "The way after which that colour is left; 0 takes nothing away.",
        minimum=-1.0,
        maximum=MANY,
        unit="scene units",
    )
    emission: Color = option(
        KEPT, "Linear light that the surface sends out by itself.", minimum=-1.0, maximum=1e6, is_color=True
    )
    double_sided: str = option(
        AS_IT_IS, "Whether it sends that light from its back as well.", choices=(AS_IT_IS, "yes", "no")
    )


@dataclasses.dataclass(frozen=True)
class LightOptions:
    """What is changed of one light, or a light that is added: -1 leaves what the file says."""

    kind: str = option(
        AS_IT_IS, "What kind of light it is; none takes it away.", choices=(AS_IT_IS, GONE, *LIGHT_KINDS)
    )
    color: Color = option(KEPT, "Linear colour, without the strength.", minimum=-1.0, maximum=1.0, is_color=True)
    strength: float = option(
        -1.0, "Radiant intensity in watts a steradian; irradiance of a directional light.", minimum=-1.0, maximum=MANY
    )
    is_placed: bool = option(False, "Whether the position counts, instead of the one of the file.")
    position: Color = option(
        (0.0, 0.0, 0.0), "Where it is, in the frame of its node.", minimum=-MANY, maximum=MANY, unit="scene units"
    )
    direction: Color = option(
        (0.0, 0.0, 0.0), "Where it shines to; zero leaves what the file says.", minimum=-MANY, maximum=MANY
    )
    radius: float = option(
        -1.0,
        "Radius of a sphere: larger ones have softer shadows.",
        minimum=-1.0,
        maximum=MANY,
        unit="scene units",
    )
    width: float = option(-1.0, "Width of a rectangle.", minimum=-1.0, maximum=MANY, unit="scene units")
    height: float = option(-1.0, "Height of a rectangle.", minimum=-1.0, maximum=MANY, unit="scene units")
    inner_angle: float = option(
        -1.0, "Angle from its axis up to which a spot has its whole light.", minimum=-1.0, maximum=180.0, unit="degrees"
    )
    outer_angle: float = option(
        -1.0, "Angle from its axis from which a spot has none.", minimum=-1.0, maximum=180.0, unit="degrees"
    )


EDITED = {"material": MaterialOptions, "light": LightOptions}
"""The groups of tables that name things of the scene, and what stands in each."""


def keys_of(names: Iterable[str], kind: str) -> tuple[str, ...]:
    """Names as keys of settings, each once: letters, digits and _; a thing without a name gets its kind and number."""
    found: list[str] = []
    for number, name in enumerate(names, 1):
        key = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or f"{kind}_{number}"
        found.append(key if key not in found else f"{key}_{number}")
    return tuple(found)


def material_keys(scene: Scene) -> tuple[str, ...]:
    """A key a material, in the scene's order."""
    return keys_of((material.name for material in scene.materials), "material")


def light_keys(scene: Scene, edits: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys of the scene's lights, then of those that were added; lights that were taken away are none."""
    own = keys_of((light.name for light in scene.lights), "light")
    added = tuple(key for key, options in edits.items() if key not in own and options.kind in LIGHT_KINDS)
    return tuple(key for key in own if key not in edits or edits[key].kind != GONE) + added


def edited_materials(scene: Scene, edits: Mapping[str, Any]) -> tuple[Material, ...]:
    """The scene's materials with the changes."""
    if not edits:
        return scene.materials
    return tuple(
        changed_material(material, edits.get(key))
        for key, material in zip(material_keys(scene), scene.materials, strict=True)
    )


def edited_lights(scene: Scene, edits: Mapping[str, Any]) -> tuple[Light, ...]:
    """The scene's lights with the changes, without those that were taken away, and those that were added."""
    if not edits:
        return scene.lights
    own = dict(zip(keys_of((light.name for light in scene.lights), "light"), scene.lights, strict=True))
    return tuple(
        changed_light(own.get(key, Light("point", name=key)), edits.get(key)) for key in light_keys(scene, edits)
    )


class EditedScene:
    """Hands what was changed to an engine, once for each change."""

    def __init__(self) -> None:
        self._given: tuple[Any, ...] = ()

    def give(self, engine: Any, scene: Scene, materials: Mapping[str, Any], lights: Mapping[str, Any]) -> None:
        """Before a frame: an engine of `scene` takes the materials and lights as these tables have them."""
        given = (engine, scene, materials, lights)
        if len(self._given) == len(given) and all(old is new for old, new in zip(self._given, given, strict=True)):
            return
        engine.take_materials(edited_materials(scene, materials))
        engine.take_lights(edited_lights(scene, lights))
        self._given = given

    def forget(self) -> None:
        """Let go of the engine, which is given back: all it has on the target lives as long as anybody holds it."""
        self._given = ()


def changed_material(material: Material, options: MaterialOptions | None) -> Material:
    """One material as its table has it."""
    if options is None:
        return material
    color = options.base_color if min(options.base_color) >= 0.0 else material.base_color[:3]
    alpha = options.alpha if options.alpha >= 0.0 else material.base_color[3]
    numbers = {
        name: getattr(options, name)
        for name in ("metallic", "roughness", "transmission", "attenuation_distance")
        if getattr(options, name) >= 0.0
    }
    colors = {
        name: getattr(options, name) for name in ("emission", "attenuation_color") if min(getattr(options, name)) >= 0.0
    }
    return dataclasses.replace(
        material,
        base_color=(color[0], color[1], color[2], alpha),
        alpha_mode=material.alpha_mode if options.alpha_mode == AS_IT_IS else options.alpha_mode,
        is_thin=material.is_thin if options.thin == AS_IT_IS else options.thin == "yes",
        is_double_sided=material.is_double_sided if options.double_sided == AS_IT_IS else options.double_sided == "yes",
        ior=max(options.ior, 1.0) if options.ior > 0.0 else material.ior,
        **numbers,
        **colors,
    )


def changed_light(light: Light, options: LightOptions | None) -> Light:
    """One light as its table has it."""
    if options is None:
        return light
    own = max(*light.color, 1e-30)
    tint = options.color if min(options.color) >= 0.0 else tuple(part / own for part in light.color)
    strength = options.strength if options.strength >= 0.0 else max(light.color)
    numbers = {
        name: getattr(options, name)
        for name in ("radius", "inner_angle", "outer_angle")
        if getattr(options, name) >= 0.0
    }
    width, height = (
        options.width if options.width >= 0.0 else light.size[0],
        options.height if options.height >= 0.0 else light.size[1],
    )
    return dataclasses.replace(
        light,
        kind=options.kind if options.kind in LIGHT_KINDS else light.kind,
        color=(tint[0] * strength, tint[1] * strength, tint[2] * strength),
        position=options.position if options.is_placed else light.position,
        direction=options.direction if any(options.direction) else light.direction,
        size=(width, height),
        **numbers,
    )
