"""Settings files: what is right is read, what is wrong is named by file, line, key and range."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.settings.file import (
    SettingsError,
    line_of,
    load_settings,
    load_user_settings,
    save_settings,
    to_table,
    user_file,
)
from raygrove.app.settings.settings import Settings, option_groups, set_option
from raygrove.gpu.settings import fields_of

EVERY_FIELD = [
    (f"{name}.{field.name}", field) for name, options in option_groups(Settings()) for field in fields_of(options)
]


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(text)
    return path


def test_what_is_not_said_stays(tmp_path: Path) -> None:
    base = set_option(Settings(), "render.width", 640)
    loaded = load_settings(written(tmp_path, '[update]\nmode = "refit"\n'), base)
    assert (loaded.render.width, loaded.update.mode) == (640, "refit")


@given(st.data())
def test_whatever_is_set_survives_the_file(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    settings = Settings()
    for key, field in data.draw(st.lists(st.sampled_from(EVERY_FIELD), min_size=1, max_size=6)):
        low = field.info.minimum if field.info.minimum is not None else -1000.0
        high = field.info.maximum if field.info.maximum is not None else 1000.0
        values = {
            bool: st.booleans(),
            int: st.integers(int(low), int(high)),
            float: st.floats(low, high, allow_nan=False),
            str: st.sampled_from(field.info.choices or (field.default,)),
        }
        if field.type in values:
            settings = set_option(settings, key, data.draw(values[field.type]))
    path = tmp_path_factory.mktemp("saved") / "settings.toml"
    save_settings(settings, path)
    assert dict(option_groups(load_settings(path))) == dict(option_groups(settings))


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    assert to_table(Settings()) == {}
    assert to_table(set_option(Settings(), "import.seconds", 5.0)) == {"import": {"seconds": 5.0}}
    everything = to_table(Settings(), everything=True)
    assert everything["render"]["width"] == 1024
    assert "lbvh" in everything["hierarchy"]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("[render]\nwidth = 0\n", 2, "from 1 to 16384"),
        ("# a comment\n\n[render]\nheight=5\nwidth = 'wide'\n", 5, "whole number"),
        ("render.width = -3\n", 1, "render.width"),
        ("[render]\nwdith = 5\n", 2, "there is no setting render.wdith; the known names in"),
        ("[rendre]\nwidth = 5\n", 2, "the known tables are render"),
        ("[hierarchy.octopus]\narms = 8\n", 2, "hierarchy.lbvh"),
        ("[update]\nmode = 'never'\n", 2, "auto, cost_ratio, every_n"),
        ("[render]\nwidth = 5\nwidth = 6\n", 3, "not TOML"),
        ("[render]\nwidth = \n", 2, "not TOML"),
        ("[render]\nwidth = { a = 1 }\n", 2, "whole number"),
        ("render = 5\n", 1, "known"),
        ("[[render]]\nwidth = 5\n", 1, "known"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, line: int, expected: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SettingsError, match=expected) as caught:
        load_settings(path)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}, line {line}: ")


def test_lines_are_found_under_their_tables() -> None:
    text = "[a]\nx = 1\n[b]\nx = 2\n[c.'d']\ny.z = 3\n"
    assert [line_of(text, key) for key in ("a.x", "b.x", "c.d.y.z", "b.w", "q")] == [2, 4, 6, 3, 0]


def test_files_that_are_none(tmp_path: Path) -> None:
    for path, expected in ((tmp_path / "absent.toml", "no such file"), (tmp_path, "not a file")):
        with pytest.raises(SettingsError, match=expected):
            load_settings(path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"[render]\nwidth = 5 # \xff\xfe\n")
    with pytest.raises(SettingsError, match="UTF-8") as caught:
        load_settings(binary)
    assert caught.value.line == 2
    huge = tmp_path / "huge.toml"
    huge.write_bytes(b"#" * (1 << 20) + b"#")
    with pytest.raises(SettingsError, match="bytes"):
        load_settings(huge)


def test_a_user_file_that_is_none_is_kept_aside_and_said(own_folders: Path) -> None:
    path = user_file()
    assert path.is_relative_to(own_folders)
    assert load_user_settings() == (Settings(), "")
    path.parent.mkdir(parents=True)
    path.write_text("[render]\nwidth = \n")
    settings, warning = load_user_settings()
    assert settings == Settings()
    assert "line 2" in warning and ".bad" in warning
    assert not path.exists()
    assert path.with_suffix(".toml.bad").read_text() == "[render]\nwidth = \n"


def test_a_wrong_entry_of_the_users_file_costs_only_itself() -> None:
    path = user_file()
    path.parent.mkdir(parents=True)
    text = "[render]\nwidth = 0\nheight = 333\ncolour = 'red'\n"
    path.write_text(text)
    settings, warning = load_user_settings()
    assert settings == set_option(Settings(), "render.height", 333) and path.read_text() == text
    first, second = warning.splitlines()
    assert "line 2: render.width = 0 is not allowed" in first and first.endswith("The entry is not used.")
    assert "line 4: there is no setting render.colour" in second


def test_saving_is_whole_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "settings.toml"
    save_settings(set_option(Settings(), "render.width", 320), path)
    before = path.read_bytes()

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="No space"):
        save_settings(Settings(), path)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["settings.toml"]


def test_a_user_without_a_home_has_settings_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(*_: object, **__: object) -> str:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr("raygrove.app.settings.file.platformdirs.user_config_dir", homeless)
    assert user_file().name == "settings.toml" and load_user_settings() == (Settings(), "")


@pytest.mark.parametrize("place", ["file.Path.exists", "kept_files.os.open"])
def test_a_file_that_may_not_be_read_is_said_and_stays(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("[render]\nwidth = 40\n")

    def refused(path: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(f"raygrove.app.settings.{place}", refused)
        settings, warning = load_user_settings()
    assert (
        settings == Settings()
        and str(user_file()) in warning
        and "Permission denied" in warning
        and "Errno" not in warning
    )
    assert user_file().exists()
