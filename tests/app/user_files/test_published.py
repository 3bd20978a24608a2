"""Presets as published: what they set, that they stay as they are, and that their trees draw the right picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raygrove.app.cli.main import main
from raygrove.app.settings.file import settings_of, settings_text
from raygrove.app.settings.settings import Settings, option_field, set_option
from raygrove.app.user_files import presets
from raygrove.app.user_files.published import PUBLISHED, in_force
from raygrove.gpu.hierarchy.registry import structures

RAYS_BY_FOUR = {"render.ray_type", "ray_type.ao.rays", "ray_type.diffuse.rays"}
SAME_AS_BUILT_IN = {
    "meister2014/lbvh_lauterbach": RAYS_BY_FOUR,
    "meister2014/sah_lauterbach": RAYS_BY_FOUR | {"hierarchy.sah_lauterbach.planes_per_axis"},
    "meister2014/hlbvh_treelets": RAYS_BY_FOUR
    | {"hierarchy.hlbvh_treelets.coarse_bits", "hierarchy.hlbvh_treelets.treelet_levels"},
    "meister2014/hlbvh_median": RAYS_BY_FOUR,
    "meister2014/hlbvh_sah": RAYS_BY_FOUR | {"hierarchy.hlbvh_sah.bins"},
    "meister2014/lbvh": RAYS_BY_FOUR | {"render.hierarchy"},
    "meister2014/task_pool": RAYS_BY_FOUR | {"hierarchy.task_pool.split"},
    "kolodzey2014/sah_events": {f"hierarchy.sah_events.{name}" for name in ("candidates", "flags", "cascading")},
    "chang2012/median_sah": {"render.traversal", "hierarchy.median_sah.implementation"},
    "zhou2008/median_sah": {"render.traversal"},
}
"""Keys that a paper has as the program has them."""


def test_each_key_differs_from_the_built_in_value_or_is_named_as_equal() -> None:
    named = {f"published/{name}": keys for name, keys in SAME_AS_BUILT_IN.items()}
    assert {name: set(form.equal_keys) for name, form in PUBLISHED.items()} == named


def test_what_suites_say_is_not_built_is_said_of_the_form_too() -> None:
    """Streams, which table 6.2 has no row for here; and sums that CUDPP gave Zhou."""
    said = {name.removeprefix("published/"): form.sentence for name, form in PUBLISHED.items()}
    assert "second stream" in said["kolodzey2014/sah_events"] and "CUDPP" in said["zhou2008/median_sah"]
    assert "within the blocks" in said["chang2012/median_sah"]
    assert "CUDPP" not in said["chang2012/median_sah"] and all(
        "Not built: " in said[name]
        for name in ("kolodzey2014/sah_events", "chang2012/median_sah", "zhou2008/median_sah", "meister2014/task_pool")
    )


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_preset_is_a_settings_file_like_any(name: str) -> None:
    form = PUBLISHED[name]
    assert form.settings.render.hierarchy == name.rpartition("/")[2] and form.settings.render.hierarchy in structures()
    assert presets.load(name) == form.settings != Settings()
    assert settings_of(settings_text(form.settings), Path("it.toml")) == form.settings


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_form_is_in_force_while_all_of_its_values_are(name: str) -> None:
    settings = PUBLISHED[name].settings
    assert in_force(settings) == name and in_force(Settings()) == ""
    assert in_force(set_option(settings, "render.width", 77)) == name, "papers say nothing of that"
    for key, value in PUBLISHED[name].options.items():
        field = option_field(key)
        others = (*field.info.choices, not value if isinstance(value, bool) else None)
        other = next((one for one in others if one not in (None, value)), None)
        if other is not None:
            assert in_force(set_option(settings, key, other)) != name, key


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_preset_cannot_be_changed(name: str) -> None:
    for change in (lambda: presets.save(name, Settings()), lambda: presets.delete(name)):
        with pytest.raises(presets.PresetError, match="is kept as it is"):
            change()
    assert not presets.folder().exists()


@pytest.mark.parametrize("name", PUBLISHED)
def test_it_draws_the_picture_of_brute_force(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = {}
    for kind, more in {"tree": [], "every": ["--hierarchy", "brute_force", "--traversal", "auto"]}.items():
        out = tmp_path / f"{kind}.png"
        scene = ["--demo", "room", "--set", "demo.triangles=600", "--size", "64x48", "--samples", "1"]
        code = main(["render", *scene, "--device", "cpu", "--preset", name, *more, "--out", str(out)])
        said = capsys.readouterr().err
        assert code == 0 and PUBLISHED[name].sentence in said, said
        drawn[kind] = np.asarray(Image.open(out).convert("RGB"))
    assert drawn["tree"].std() > 10, "there is something to see"
    np.testing.assert_array_equal(drawn["tree"], drawn["every"])


def test_the_flag_takes_users_presets_and_names_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    presets.save("mine", presets.load("published/meister2014/hlbvh_sah"))
    assert main(["view", "--preset", "mine", "--hierarchy", "ploc", "--print-settings"]) == 0
    out = capsys.readouterr().out
    assert 'hierarchy = "ploc"' in out and 'triangle_test = "unit_triangle"' in out, "flags are stronger"
    assert main(["render", "--preset", "published/meister2014/hlbvh_sha"]) == 2
    assert "published/meister2014/hlbvh_sah" in capsys.readouterr().err
    assert main(["render", "--preset", "../x"]) == 2
