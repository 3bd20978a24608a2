"""What a person changes of materials and lights: by name, undone, saved, and seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.edits import scene_edits
from raygrove.app.edits.scene_edits import LightOptions, MaterialOptions
from raygrove.app.frames.headless import render_frames
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.file import load_settings, save_settings
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Light, Material, Scene
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import Target

ROOM = Scene(
    "room",
    materials=(Material("Old Glass", transmission=0.5), Material("", metallic=1.0), Material("Old Glass")),
    lights=(Light("spot", (2.0, 4.0, 0.0), position=(1.0, 2.0, 3.0), name="lamp"), Light("point")),
)


def test_things_have_one_key_each() -> None:
    assert scene_edits.material_keys(ROOM) == ("Old_Glass", "material_2", "Old_Glass_3")
    assert scene_edits.light_keys(ROOM, {}) == ("lamp", "light_2")


def test_only_what_is_changed_is_changed() -> None:
    assert (
        scene_edits.edited_materials(ROOM, {}) is ROOM.materials
        and scene_edits.edited_lights(ROOM, {"other": LightOptions()}) == ROOM.lights
    )
    first, second, third = scene_edits.edited_materials(
        ROOM,
        {"Old_Glass": MaterialOptions(roughness=0.0, ior=0.5, emission=(0.0, 2.0, 0.0), thin="yes", double_sided="no")},
    )
    assert (first.transmission, first.roughness, first.ior, first.emission, first.is_thin) == (
        0.5,
        0.0,
        1.0,
        (0.0, 2.0, 0.0),
        True,
    )
    assert not first.is_double_sided and second.is_double_sided
    assert (second, third) == ROOM.materials[1:]
    edits = {
        "lamp": LightOptions(strength=8.0),
        "light_2": LightOptions("none"),
        "sun": LightOptions("directional", direction=(0.0, -1.0, 0.0)),
    }
    lamp, sun = scene_edits.edited_lights(ROOM, edits)
    assert (
        lamp.color == (4.0, 8.0, 0.0)
        and lamp.position == (1.0, 2.0, 3.0)
        and (sun.kind, sun.name, sun.color) == ("directional", "sun", (1.0, 1.0, 1.0))
    )
    assert scene_edits.light_keys(ROOM, edits) == ("lamp", "sun")


def test_changes_are_saved_undone_and_kept_by_name(tmp_path: Path) -> None:
    document = Document()
    document.change("settings.material.Old_Glass.roughness", 0.6, "drag")
    document.change("settings.material.Old_Glass.ior", 1.3, "drag")
    document.change("settings.light.sun.kind", "directional")
    save_settings(document.state.settings, tmp_path / "settings.toml")
    text = (tmp_path / "settings.toml").read_text()
    assert "[material.Old_Glass]" in text and "roughness = 0.6" in text and "metallic" not in text
    again = load_settings(tmp_path / "settings.toml")
    assert again.material == {"Old_Glass": MaterialOptions(roughness=0.6, ior=1.3)} and again.light == {
        "sun": LightOptions("directional")
    }
    document.undo()
    document.undo()
    assert document.state.settings == Settings()
    with pytest.raises(OptionError, match="NAME"):
        set_option(Settings(), "material.no name.ior", 1.0)


def test_what_is_changed_is_seen(host_target: Target) -> None:
    scene = make_demo("orbit", 1000)
    settings = Settings()
    for key, value in (("render.width", 48), ("render.height", 32)):
        settings = set_option(settings, key, value)

    def draw(chosen: Settings) -> bytes:
        state = State(
            settings=chosen, cameras=(Camera(eye=scene.eye or (0, 0, 5), look_at=scene.look_at or (0, 0, 0)),)
        )
        (frame,) = render_frames(host_target, scene, state, [(0, 0.0)])
        return frame.pixels.tobytes()

    plain = draw(settings)
    painted = draw(set_option(settings, "material.parquet.base_color", (0.0, 1.0, 0.0)))
    dark = draw(set_option(settings, "light.light_1.strength", 1.0))
    lit = draw(
        set_option(
            set_option(set_option(settings, "light.second.kind", "point"), "light.second.is_placed", True),
            "light.second.position",
            (0, 2, 0),
        )
    )
    assert (
        len({plain, painted, dark, lit}) == 4
        and draw(set_option(settings, "material.of_another_scene.ior", 2.0)) == plain
    )
