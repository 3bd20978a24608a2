"""Files in Meister's form: every key of his table has its place, and what has none is kept and said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from raygrove.app.cli import main as cli
from raygrove.app.settings.file import SettingsError, load_settings, save_settings
from raygrove.app.settings.meister_env import KEYS, MISSING, Environment, load_environment, parse
from raygrove.app.settings.settings import KEPT_NAMES, Settings, option_field
from raygrove.gpu.settings import OptionError

ROOT = Path(__file__).resolve().parents[3]
LISTING = """RenderWidget {
    width 512
    height 512
}

Scene {
    filefilter ../data/scenes/fairy_forest/f*.obj
}

Renderer {
    rayType aoRays
}

Bvh {
    mortonCodeBits 60
    splitMethod median
}
"""
ALL = """# everything of table C.1
Scene
{
    filename "models/a b.obj"   // a still one
    filefilter f*.obj
    scale 0.5
}
Renderer {
    numberOfSamples 16
    aoRadius 0.25
    rayType primaryRaysFlat
}
RenderWidget {
    width 640
    height 480
}
Bvh {
    maxLeafSize 8
    mortonCodeBits 60
    mortonCodeSAHBits 15
    splitMethod sah
}
Camera {
    position (1, -2.5, 3e1)
    elevAngle -10
    viewAngle 45
    nearPlane 0.1
    farPlane 1000
    fieldOfView 60
    step 0.05
}
Animation {
    frameRate 24
    loop false
}
"""


def loaded(folder: Path, text: str, base: Settings | None = None) -> Environment:
    path = folder / "default.env"
    path.write_text(text)
    return load_environment(path, base)


def value(settings: Settings, key: str) -> object:
    table, _, name = key.rpartition(".")
    if table.startswith("hierarchy."):
        return getattr(settings.hierarchy_options(table.partition(".")[2]), name)
    if table.startswith("ray_type."):
        return getattr(settings.ray_type_options(table.partition(".")[2]), name)
    return getattr(getattr(settings, "importer" if table == "import" else table), name)


def test_the_table_has_twenty_one_keys_and_each_is_documented() -> None:
    keys = [key for block in KEYS.values() for key in block]
    assert len(keys) == len(set(keys)) == 21
    text = (ROOT / "docs" / "meister-env.md").read_text()
    assert all(f"`{key}`" in text for key in keys)
    assert set(MISSING) < set(KEPT_NAMES), "earlier settings kept more"


def test_his_own_listing_opens(tmp_path: Path) -> None:
    found = loaded(tmp_path, LISTING)
    assert (found.settings.render.width, found.settings.render.height) == (512, 512)
    assert (
        value(found.settings, "hierarchy.hlbvh_median.code_bits") == "60"
        and found.settings.render.hierarchy == "hlbvh_median"
    )
    assert found.settings.start.scene == str(tmp_path.parent / "data/scenes/fairy_forest/f*.obj"), (
        "from the file's own folder"
    )


def test_every_key_arrives(tmp_path: Path) -> None:
    found = loaded(tmp_path, ALL)
    wanted = {
        "import.scale": 0.5, "ray_type.ao.rays": 16, "ray_type.diffuse.rays": 16, "ray_type.ao.radius": 0.25,
        "ray_type.ao.radius_unit": "scene", "ray_type.ao.directions": "uniform", "ray_type.ao.falloff": "none",
        "ray_type.ao.albedo": 1.0,
        "ray_type.diffuse.directions": "uniform",
        "ray_type.smooth.shadows": False, "ray_type.smooth.model": "phong",
        "render.samples": 1, "render.ray_type": "flat", "render.width": 640,
        "render.height": 480,
        "hierarchy.lbvh.max_leaf_size": 8, "hierarchy.lbvh.code_bits": "60", "hierarchy.hlbvh_sah.max_leaf_size": 8,
        "hierarchy.hlbvh_sah.code_bits": "60", "hierarchy.hlbvh_sah.cluster_bits": "15",
        "render.hierarchy": "hlbvh_sah",
        "start.camera": "position", "start.position": (1.0, -2.5, 30.0),
        "start.elevation": -10.0, "start.azimuth": 45.0, "camera.near": 0.1, "camera.far": 1000.0,
        "camera.field_of_view": 60.0,
        "timeline.fps": 24.0, "timeline.repeat": "once", "start.scene": str(tmp_path / "f*.obj"),
    }  # fmt: skip
    assert {key: value(found.settings, key) for key in wanted} == wanted
    assert found.keys == {key for block in KEYS.values() for key in block}
    assert not found.settings.meister, "each of his keys has its place by now"
    assert "filename and a filefilter" in found.remarks[-1]


def test_his_radius_and_samples_draw_his_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A radius is a length in the scene, samples are secondary rays of a primary hit, and they leave uniformly: by the
    picture and its rays."""
    (tmp_path / "ao.env").write_text("Renderer {\n rayType aoRays\n aoRadius 0.25\n numberOfSamples 9\n}\n")
    names = {
        "rays": "9",
        "radius": "0.25",
        "radius_unit": "scene",
        "directions": "uniform",
        "falloff": "none",
        "albedo": "1",
    }
    by_hand = [word for name, text in names.items() for word in ("--set", f"ray_type.ao.{name}={text}")]
    pictures, rays = [], []
    for number, flags in enumerate((["--settings", str(tmp_path / "ao.env")], ["--ray-type", "ao", *by_hand])):
        out = tmp_path / f"{number}.png"
        common = [
            "--demo",
            "room",
            "--device",
            "cpu",
            "--size",
            "32x24",
            "--samples",
            "1",
            "--json",
            "--out",
            str(out),
        ]
        assert cli.main(["render", *common, *flags]) == 0
        counted = json.loads(capsys.readouterr().out)["frames"][0]["rays_by_kind"]
        rays.append((counted["primary"], counted["ao"]))
        with Image.open(out) as picture:
            pictures.append(picture.tobytes())
    assert pictures[0] == pictures[1] and rays[0] == rays[1]
    assert rays[0][1] == 9 * rays[0][0], "in a closed room each primary ray hits, and nine go on"


def is_known(key: str) -> bool:
    try:
        return bool(option_field(key))
    except OptionError:
        return False


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (
            "Bvh {\n mortonCodeBits 45\n}\n",
            "line 2: Bvh.mortonCodeBits 45 is kept and not used: Morton codes have 30 or 60 bits here.",
        ),
        (
            "Bvh {\n mortonCodeSAHBits 16\n}\n",
            "SAHBits 16 is kept and not used: clusters share their first 6, 9, 12, 15 or 18 bits here.",
        ),
        ("Scene {\n filename a.obj\n}\n", ""),
    ],
)
def test_what_cannot_be_used_is_kept_and_said(tmp_path: Path, text: str, remark: str) -> None:
    found = loaded(tmp_path, text)
    assert " ".join(found.remarks).endswith(remark) and bool(found.remarks) == bool(remark)
    assert list(found.settings.meister.values()) == ([text.split()[3]] if remark else [])


def test_it_is_saved_as_toml_and_read_back(tmp_path: Path) -> None:
    settings = loaded(tmp_path, ALL.replace("mortonCodeBits 60", "mortonCodeBits 45")).settings
    path = tmp_path / "elsewhere" / "saved.toml"
    save_settings(settings, path)
    again = load_settings(path)
    assert again == settings and again.meister["mortonCodeBits"] == "45"
    found = loaded(tmp_path, "Bvh {\nmortonCodeBits 30\n}\n", again)
    assert "mortonCodeBits" not in found.settings.meister, "what is used now is no longer kept"
    assert found.settings.render.width == 640, "what a file does not say stays"


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("Scne {\n}\n", 1, "there is no block Scne; the known blocks are Scene"),
        ("Bvh {\n  leafSize 4\n}\n", 2, "there is no key leafSize in Bvh; the known ones are maxLeafSize"),
        ("Scene {\n maxLeafSize 4\n}\n", 2, "there is no key maxLeafSize in Scene"),
        ("Bvh {\n\n maxLeafSize 400\n}\n", 3, "from 0 to"),
        ("Bvh {\n maxLeafSize many\n}\n", 2, "whole number"),
        ("Bvh {\n maxLeafSize\n}\n", 2, "has no value"),
        ("Bvh {\n maxLeafSize 4\n maxLeafSize 5\n}\n", 3, "said twice, first on line 2"),
        ("Bvh {\n splitMethod middle\n}\n", 2, "one of median, sah"),
        ("Renderer {\n rayType photons\n}\n", 2, "primaryRaysFlat, primaryRaysSmooth, aoRays, diffuseRays"),
        ("Bvh {\n mortonCodeBits 0\n}\n", 2, "from 1 to 64"),
        ("Camera {\n position 1 2\n}\n", 2, "3 numbers"),
        ("Camera {\n position here\n}\n", 2, "3 numbers"),
        ("Animation {\n loop perhaps\n}\n", 2, "true or false"),
        ("Bvh {\n", 1, "the block Bvh has no }"),
        ("Bvh\n\n", 3, "the block Bvh has no }"),
        ("}\n", 1, "is not expected here"),
        ("width 4\n", 1, "is not expected here"),
        ("Bvh { maxLeafSize 4 }\n", 1, "is not expected here"),
        ("Bvh {\nScene {\n}\n}\n", 2, "is not expected here"),
        ("Scene {\n filefilter (a|b)+.obj\n}\n", 2, "a glob such as"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, line: int, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, text)
    assert expected in str(caught.value) and caught.value.line == line
    assert str(caught.value).startswith(f"{tmp_path / 'default.env'}, line {line}: ")


FILTERS = [(r"frame_\d+\.obj", "frame_*.obj"), (".*[.]obj", ""), (r"^f[0-9]\.ply$", "f[0-9].ply"), ("f*.obj", "f*.obj")]


@pytest.mark.parametrize(("wanted", "pattern"), FILTERS)
def test_a_filter_may_be_a_regular_expression(tmp_path: Path, wanted: str, pattern: str) -> None:
    text = f"Scene {{\n filefilter {wanted}\n}}\n"
    if pattern:
        assert loaded(tmp_path, text).settings.start.scene == str(tmp_path / pattern)
    else:
        with pytest.raises(SettingsError, match="a glob"):
            loaded(tmp_path, text)


@given(
    st.lists(
        st.sampled_from([*ALL.splitlines(), "}", "{", "Scene {", "\t", "loop 1", "\x00", "#", "é 5", "width -1"]),
        max_size=12,
    )
)
def test_any_text_is_read_or_refused_with_a_line(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.env"
    path.write_text("\n".join(lines))
    try:
        entries = parse(path.read_text(), path)
        settings = load_environment(path).settings
    except SettingsError as error:
        assert 0 < error.line <= len(lines) + 1
    else:
        assert entries or settings == Settings(), "what says nothing changes nothing"


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        load_environment(tmp_path / "absent.env")
    (tmp_path / "binary.env").write_bytes(b"Scene {\n\xff\n}\n")
    with pytest.raises(SettingsError, match="line 2: the text is not UTF-8"):
        load_environment(tmp_path / "binary.env")
