"""Presets: kept under a name, passed on as files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from raygrove.app.settings.file import SettingsError, user_file
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.user_files import presets


def test_a_preset_gives_back_what_was_saved() -> None:
    assert presets.names() == []
    settings = set_option(set_option(Settings(), "render.width", 320), "hierarchy.lbvh.max_leaf_size", 2)
    path = presets.save("Fast look", settings)
    presets.save("a second", Settings())
    assert path == user_file().parent / "presets" / "Fast look.toml" and "width = 320" in path.read_text()
    assert presets.names() == ["a second", "Fast look"]
    assert presets.load("Fast look") == settings and presets.load("a second") == Settings()
    presets.save("Fast look", Settings())
    assert presets.load("Fast look") == Settings(), "one of that name is replaced"
    presets.delete("Fast look")
    assert presets.names() == ["a second"]
    with pytest.raises(presets.PresetError, match="there are a second"):
        presets.load("Fast look")


NO_NAMES = [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    " a",
    "a ",
    "a.",
    ".hidden",
    "x" * 65,
    "a\n",
    "a\0b",
    "con",
    "NUL.x",
    "~",
    "*",
]


@pytest.mark.parametrize("name", NO_NAMES)
def test_names_that_would_be_no_files_are_refused(name: str) -> None:
    with pytest.raises(presets.PresetError, match="cannot be the name"):
        presets.save(name, Settings())
    assert not presets.folder().exists()


def is_allowed(name: str) -> bool:
    """What the sentence of a refusal says, and Windows' own names."""
    inside = all(character.isalnum() or character in " ._+-" for character in name)
    ends = bool(name) and name[0].isalnum() and name[-1] not in " ."
    device = name.partition(".")[0].lower()
    reserved = (
        device in ("con", "prn", "aux", "nul")
        or len(device) == 4
        and device[:3] in ("com", "lpt")
        and device[3].isdecimal()
    )
    return inside and ends and len(name) <= 64 and not reserved


names = (
    st.text(max_size=70)
    | st.text("aZ9ä. _+-", max_size=66)
    | st.sampled_from(["con", "Lpt1", "nul.x", "common", "a" * 64, "a" * 65, "x.con"])
)


@given(names)
@effort(max_examples=300)
def test_whatever_is_typed_stays_in_the_folder(name: str) -> None:
    """What the rule allows is a name, and nothing else is."""
    if not is_allowed(name):
        with pytest.raises(presets.PresetError, match="cannot be the name"):
            presets.path_of(name)
        return
    path = presets.path_of(name)
    assert path.parent == presets.folder() and path.resolve().parent == presets.folder().resolve() and path.stem == name


def test_a_file_from_somebody_else(tmp_path: Path) -> None:
    present = set_option(Settings(), "render.samples", 9)
    toml, env, bad = tmp_path / "a.toml", tmp_path / "a.env", tmp_path / "bad.toml"
    present = set_option(present, "import.seconds", 7.0)
    toml.write_text("[render]\nwidth = 320\n[import]\nscale = 2.0\nseconds = 80000.0\n")
    env.write_text("RenderWidget {\nwidth 320\n}\nBvh {\nmortonCodeBits 45\n}\n")
    bad.write_text("[render]\nwidth = 0\n")
    settings, remarks = presets.load_file(str(toml), present)
    assert (settings.render.width, settings.render.samples, remarks) == (320, 1, ())
    assert (settings.importer.scale, settings.importer.seconds) == (2.0, 7.0), "limits that protect this machine stay"
    settings, remarks = presets.load_file(str(env), present)
    assert (settings.render.width, settings.render.samples) == (320, 9) and "45 is kept" in remarks[0]
    with pytest.raises(SettingsError, match="line 2"):
        presets.load_file(str(bad), present)
    assert [presets.is_settings_file(name) for name in ("x/a.TOML", "default.env", ".env", "a.obj", "toml")] == [
        True,
        True,
        True,
        False,
        False,
    ]
