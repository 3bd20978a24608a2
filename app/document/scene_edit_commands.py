"""What the panels of materials and lights do: each command is one step of undo. No widget here."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from raygrove.app.document.document import Document
from raygrove.app.edits import scene_edits
from raygrove.app.edits.scene_edits import AS_IT_IS, GONE, LightOptions
from raygrove.gpu.scene import Light, Material, Scene
from raygrove.gpu.settings import OptionField, fields_of

RESTING_LIGHT = 1.0
"""Irradiance that a new light gives at the middle of the scene, over pi."""


class SceneEditCommands:
    """Commands on the open scene's materials and lights, by the keys that their tables have in the settings."""

    def __init__(self, document: Document) -> None:
        self._document = document

    # -- what there is --------------------------------------------------------------------------------------------
    @property
    def materials(self) -> dict[str, Material]:
        """The materials as they are shown, by key."""
        scene, edits = self._document.scene, self._document.state.settings.material
        return (
            {}
            if scene is None
            else dict(zip(scene_edits.material_keys(scene), scene_edits.edited_materials(scene, edits), strict=True))
        )

    @property
    def lights(self) -> dict[str, Light]:
        """The lights as they shine, by key."""
        scene, edits = self._document.scene, self._document.state.settings.light
        return (
            {}
            if scene is None
            else dict(zip(scene_edits.light_keys(scene, edits), scene_edits.edited_lights(scene, edits), strict=True))
        )

    def titles(self, group: str) -> dict[str, str]:
        """Materials or lights (`group`) by key, as a list names them."""
        if group == "material":
            return {key: material.name or key for key, material in self.materials.items()}
        return {key: (light.name or key).replace("_", " ") for key, light in self.lights.items()}

    def values(self, group: str, key: str) -> dict[str, Any]:
        """What editors show of a material or a light, by the names of its options."""
        return shown_material(self.materials[key]) if group == "material" else shown_light(self.lights[key])

    def is_changed(self, group: str, key: str) -> bool:
        """Whether a material or a light (`group`) is another than its file has it."""
        kind = scene_edits.EDITED[group]
        return bool(getattr(self._document.state.settings, group).get(key, kind()) != kind())

    def material_of_selection(self) -> str:
        """The key of the first material of the object that is selected; "" for none."""
        scene, chosen = self._document.scene, self._document.state.selection.object
        if scene is None or not 0 <= chosen < len(scene.objects):
            return ""
        thing = scene.objects[chosen]
        ids = scene.meshes[thing.mesh].material_ids if thing.mesh >= 0 else [scene.group_of(thing).material_id]
        return scene_edits.material_keys(scene)[int(ids[0])] if len(ids) else ""

    # -- what is done ---------------------------------------------------------------------------------------------
    def set_value(self, group: str, key: str, field: str, value: Any) -> None:
        """Change one value; while an editor is dragged, one step of undo in all."""
        merge = f"{group} {key} {field}"
        self._document.change(f"settings.{group}.{key}.{field}", value, merge)
        if group == "light" and field == "position":
            self._document.change(f"settings.{group}.{key}.is_placed", True, merge)

    def reset(self, group: str, key: str) -> None:
        """Back to what the file says; a light that was added goes."""
        for field in fields_of(scene_edits.EDITED[group]()):
            self._document.change(f"settings.{group}.{key}.{field.name}", field.default, f"reset {group} {key}")
        self._document.end_merge()

    def add_light(self, kind: str = "point") -> str:
        """A new light above the scene's middle, on the side of the camera, as bright as suits the scene's size. Returns
        its key."""
        scene = self._document.scene
        if scene is None:
            return ""
        key = self._free_key(scene)
        for name, value in dataclasses.asdict(self._new_light(scene, kind)).items():
            self._document.change(f"settings.light.{key}.{name}", value, f"add {key}")
        self._document.end_merge()
        return key

    def remove_light(self, key: str) -> None:
        """Take a light away."""
        if self._document.scene is not None:
            self._document.change(f"settings.light.{key}.kind", GONE)

    def _free_key(self, scene: Scene) -> str:
        taken = {*scene_edits.light_keys(scene, {}), *self.lights}
        return next(key for number in range(1, len(taken) + 2) if (key := f"added_{number}") not in taken)

    def _new_light(self, scene: Scene, kind: str) -> LightOptions:
        middle = [(low + high) / 2.0 for low, high in zip(scene.lower, scene.upper, strict=True)]
        size = math.dist(scene.lower, scene.upper) or 1.0
        eye = self._document.state.camera_of(0).eye
        away = [(e - m) / (math.dist(eye, middle) or 1.0) for e, m in zip(eye, middle, strict=True)]
        place = [
            m + 0.15 * size * a + (0.15 * size if axis == 1 else 0.0)
            for axis, (m, a) in enumerate(zip(middle, away, strict=True))
        ]
        distance = math.dist(place, middle) or 1.0
        strength = math.pi * RESTING_LIGHT * (1.0 if kind == "directional" else distance**2)
        aim = tuple((m - p) / distance for m, p in zip(middle, place, strict=True))
        return LightOptions(
            kind=kind,
            color=(1.0, 1.0, 1.0),
            strength=strength,
            is_placed=True,
            position=(place[0], place[1], place[2]),
            direction=(aim[0], aim[1], aim[2]),
            radius=0.02 * size,
            width=0.05 * size,
            height=0.05 * size,
            inner_angle=20.0,
            outer_angle=35.0,
        )


def shown_fields(group: str) -> tuple[OptionField, ...]:
    """The options of a group as editors show them: values that are, none that stands for "as it is"."""
    found = []
    for field in fields_of(scene_edits.EDITED[group]()):
        info = field.info
        choices = tuple(choice for choice in info.choices if choice not in (AS_IT_IS, GONE))
        low = {-1.0: 0.0}.get(info.minimum, info.minimum) if info.minimum is not None else None
        low = 1.0 if field.name == "ior" else low
        if field.name != "is_placed":
            found.append(dataclasses.replace(field, info=dataclasses.replace(info, minimum=low, choices=choices)))
    return tuple(found)


def shown_material(material: Material) -> dict[str, Any]:
    """A material's values by the names of MaterialOptions."""
    names = (
        "alpha_mode",
        "metallic",
        "roughness",
        "transmission",
        "ior",
        "attenuation_color",
        "attenuation_distance",
        "emission",
    )
    rest = {
        "base_color": material.base_color[:3],
        "alpha": material.base_color[3],
        "thin": "yes" if material.is_thin else "no",
    }
    rest["double_sided"] = "yes" if material.is_double_sided else "no"
    return {name: getattr(material, name) for name in names} | rest


def shown_light(light: Light) -> dict[str, Any]:
    """A light's values by the names of LightOptions."""
    strength = max(light.color)
    color = tuple(part / strength for part in light.color) if strength > 0.0 else (1.0, 1.0, 1.0)
    names = ("kind", "position", "direction", "radius", "inner_angle", "outer_angle")
    return {name: getattr(light, name) for name in names} | {
        "color": color,
        "strength": strength,
        "width": light.size[0],
        "height": light.size[1],
    }


USED = {
    "point": ("position",),
    "directional": ("direction",),
    "spot": ("position", "direction", "inner_angle", "outer_angle"),
    "sphere": ("position", "radius"),
    "rectangle": ("position", "direction", "width", "height"),
}
"""What of a light's options its kind makes use of, beside kind, colour and strength."""
