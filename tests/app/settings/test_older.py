"""What files, pictures and command lines of older versions say of hploc's `top` opens as the structure that it is
today, and a sentence tells."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.cli.main import main
from raygrove.app.document.document import Document
from raygrove.app.document.saved_state import PREFIX, state_of, texts_of
from raygrove.app.document.state import SceneReference, State, ViewState
from raygrove.app.export.images import save_png
from raygrove.app.frames.views import view_settings
from raygrove.app.settings.file import (
    SettingsError,
    load_settings,
    load_user_settings,
    save_settings,
    settings_text,
    user_file,
)
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.user_files import presets

SWEPT = (
    '[render]\nhierarchy = "hploc"\nsamples = 2\n[hierarchy.hploc]\nradius = 5 # wide\ntop = "sah"\nmax_leaf_size = 2\n'
)
CLIMBED = SWEPT.replace('"sah"', '"climb"')


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def shown(settings: Settings) -> dict[str, Any]:
    return tomllib.loads(settings_text(settings))


def printed(capsys: Any, *arguments: str) -> tuple[dict[str, Any], str]:
    assert main([*arguments, "--print-settings"]) == 0
    caught = capsys.readouterr()
    return tomllib.loads(caught.out), caught.err


AS_SWEPT = {
    "render": {"hierarchy": "hploc_sah", "samples": 2},
    "hierarchy": {"hploc_sah": {"radius": 5, "max_leaf_size": 2}},
}


@pytest.mark.parametrize("turned", [False, True])
def test_the_users_file_opens_as_hploc_sah_and_is_saved_in_todays_words(turned: bool) -> None:
    tables = SWEPT.partition("[hierarchy.hploc]\n")
    path = written(user_file(), tables[1] + tables[2] + tables[0] if turned else SWEPT)
    settings, warning = load_user_settings()
    assert shown(settings) == AS_SWEPT
    line = 3 if turned else 6
    assert (
        warning.startswith(f"{path}, line {line}: hierarchy.hploc.top is no option any more") and "hploc_sah" in warning
    )
    assert "not used" not in warning
    save_settings(settings)
    assert "top" not in path.read_text() and load_user_settings() == (settings, "")
    # What is chosen afterwards is not taken for the old words.
    save_settings(set_option(settings, "render.hierarchy", "hploc"))
    assert load_user_settings()[0].render.hierarchy == "hploc"


def test_climb_is_what_hploc_does(capsys: Any) -> None:
    path = written(user_file(), CLIMBED)
    settings, warning = load_user_settings()
    assert shown(settings) == {
        "render": {"hierarchy": "hploc", "samples": 2},
        "hierarchy": {"hploc": {"radius": 5, "max_leaf_size": 2}},
    }
    assert warning.startswith(f"{path}, line 6: hierarchy.hploc.top is no option any more") and "climb" in warning
    path.unlink()
    found, said = printed(capsys, "render", "--set", "hierarchy.hploc.top=climb", "--hierarchy", "hploc")
    assert found == {"render": {"hierarchy": "hploc"}} and "--set hierarchy.hploc.top=climb: " in said


def test_what_it_never_took_is_refused(tmp_path: Path, capsys: Any) -> None:
    path = written(tmp_path / "wrong.toml", SWEPT.replace('"sah"', '"median"'))
    with pytest.raises(SettingsError, match=r"wrong.toml, line 6: there is no setting hierarchy.hploc.top"):
        load_settings(path)
    assert main(["render", "--set", "hierarchy.hploc.top=5", "--print-settings"]) == 2
    assert "there is no setting hierarchy.hploc.top" in capsys.readouterr().err


@pytest.mark.parametrize("others", [["--hierarchy", "hploc"], ["--set", "render.hierarchy=hploc"]])
@pytest.mark.parametrize("first", [False, True])
def test_the_command_line_in_any_order(others: list[str], first: bool, capsys: Any) -> None:
    top = ["--set", "hierarchy.hploc.top=sah"]
    found, said = printed(
        capsys, "render", *(top + others if first else others + top), "--set", "hierarchy.hploc.radius=7"
    )
    assert found == {"render": {"hierarchy": "hploc_sah"}, "hierarchy": {"hploc_sah": {"radius": 7}}}
    assert said.count("hierarchy.hploc.top is no option any more") == 1


def test_on_top_of_settings_that_have_hploc(tmp_path: Path, capsys: Any) -> None:
    """What an earlier source says of hploc holds for what takes its place; another structure stays what it is."""
    written(user_file(), '[render]\nhierarchy = "hploc"\n[hierarchy.hploc]\nradius = 5\n')
    given = written(tmp_path / "given.toml", 'hierarchy.hploc.top = "sah"\n')
    for arguments in (["--settings", str(given)], ["--set", "hierarchy.hploc.top=sah"]):
        found, said = printed(capsys, "render", *arguments)
        assert found["render"]["hierarchy"] == "hploc_sah" and found["hierarchy"]["hploc_sah"] == {"radius": 5}
        assert "is no option any more" in said
    found, _ = printed(capsys, "render", "--hierarchy", "ploc", "--settings", str(given))
    assert found["render"]["hierarchy"] == "ploc"


def test_presets_and_given_files_say_so(tmp_path: Path) -> None:
    settings, remarks = presets.load_file(str(written(tmp_path / "given.toml", SWEPT)), Settings())
    assert shown(settings) == AS_SWEPT and len(remarks) == 1 and "line 6" in remarks[0]


@pytest.mark.parametrize("views", [(ViewState(),), (ViewState("left", hierarchy="hploc"),)])
def test_pictures_open_as_hploc_sah(tmp_path: Path, capsys: Any, views: tuple[ViewState, ...]) -> None:
    texts = texts_of(State(scene=SceneReference("demo", ("blob",)), views=views))
    texts[PREFIX + "settings"] += SWEPT + "[demo]\ntriangles = 500\n"
    path = tmp_path / "old.png"
    save_png(path, np.zeros((4, 4, 4), np.uint8), texts)
    document = Document()
    job = document.open_files([str(path)])
    assert job.wait(60)
    while document.jobs:
        document.mailroom.poll()
    settings = view_settings(document.state)
    assert (settings.hierarchy, settings.hierarchy_options.radius) == ("hploc_sah", 5)
    assert (
        document.scene is not None
        and "of its settings, line 6: hierarchy.hploc.top is no option any more" in document.scene.remarks[0].sentence
    )
    assert main(["render", str(path), "--device", "cpu", "--json"]) == 0
    caught = capsys.readouterr()
    assert "of its settings, line 6: hierarchy.hploc.top" in caught.err and '"hploc_sah"' in caught.out


def test_a_picture_that_says_nothing_of_it_has_the_default() -> None:
    """Defaults were never written, so a picture of hploc opens as hploc is today."""
    settings, remarks = set_option(Settings(), "render.hierarchy", "hploc"), list[str]()
    state = state_of(
        texts_of(State(scene=SceneReference("demo", ("blob",)), settings=settings)), "/nowhere/one.png", None, remarks
    )
    assert (view_settings(state).hierarchy, remarks) == ("hploc", [])


RENAMED = (
    '[render]\ntarget = "host"\n[target]\nthreads = 2\n'
    '[ray_type.ao]\norganisation = "wavefront"\nqueue = "as_they_come"\n'
)
AS_RENAMED = {
    "render": {"device": "cpu"},
    "device": {"threads": 2},
    "ray_type": {"ao": {"strategy": "wavefront", "queue": "unsorted"}},
}


def test_a_file_in_older_words_opens_with_a_remark_and_is_saved_in_todays() -> None:
    path = written(user_file(), RENAMED + '[hierarchy.sah_events]\nboxes = "apart"\n')
    settings, warning = load_user_settings()
    assert shown(settings) == AS_RENAMED | {"hierarchy": {"sah_events": {"boxes": "soa"}}}
    assert "line 2: render.target = host is called render.device = cpu today" in warning
    assert "ray_type.ao.organisation = wavefront is called ray_type.ao.strategy today" in warning
    assert "not used" not in warning
    save_settings(settings)
    text = path.read_text()
    assert not any(word in text for word in ("target = ", "host", "organisation", "as_they_come", "apart"))
    assert load_user_settings() == (settings, "")


def test_an_option_that_is_gone_is_left_out_with_a_remark(capsys: Any) -> None:
    path = written(user_file(), "[tiles]\nwarp_each = true\ntiles = 64\n")
    settings, warning = load_user_settings()
    assert shown(settings) == {"tiles": {"tiles": 64}}
    assert "line 2: tiles.warp_each is no option any more: splat shares the pixels" in warning
    assert "not used" not in warning
    save_settings(settings)
    assert "warp_each" not in path.read_text() and load_user_settings() == (settings, "")
    table, err = printed(capsys, "info", "--demo", "blob", "--set", "tiles.warp_each=true", "--set", "tiles.tiles=16")
    assert table["tiles"] == {"tiles": 16} and "tiles.warp_each is no option any more" in err


def test_older_words_on_the_command_line_are_read_with_a_remark(capsys: Any) -> None:
    sets = ("--set", "target.threads=2", "--set", "ray_type.ao.organisation=wavefront")
    table, err = printed(capsys, "info", "--demo", "blob", "--target", "host", *sets)
    assert table["render"]["device"] == "cpu" and table["device"]["threads"] == 2
    assert table["ray_type"]["ao"]["strategy"] == "wavefront"
    assert "--target host: render.target = host is called render.device = cpu today" in err
    newer, silent = printed(capsys, "info", "--demo", "blob", "--target", "host", "--device", "cuda")
    assert newer["render"]["device"] == "cuda" and silent, "what is said in today's words counts"


def test_ids_of_triangles_are_ids_of_primitives() -> None:
    written(user_file(), '[ray_type.ids]\nshow = "triangle"\n')
    settings, warning = load_user_settings()
    assert settings.ray_type_options("ids").show == "primitive"
    assert "ray_type.ids.show = triangle is called ray_type.ids.show = primitive today" in warning
