"""Settings by their dotted keys: every option of the program can be reached, checked and changed."""

from __future__ import annotations

import pytest

from raygrove.app.settings import option_tables
from raygrove.app.settings.settings import (
    GROUPS,
    Settings,
    option_field,
    option_groups,
    set_option,
    set_text,
)
from raygrove.gpu.settings import OptionError, fields_of, parse_value

EVERY_KEY = [f"{name}.{field.name}" for name, options in option_groups(Settings()) for field in fields_of(options)]


def test_every_group_is_there_and_every_option_says_a_sentence() -> None:
    known = {
        "render",
        "update",
        "device",
        "display",
        "window",
        "timeline",
        "camera",
        "start",
        "trees",
        "demo",
        "import",
        "motion",
        "boxes",
        "collisions",
        "hot_spots",
        "periodic_box",
        "clip",
        "tiles",
        "tile_marks",
        "spheres",
        "gravity",
        "contours",
        "path",
        "race",
        "rays",
        "statistics",
    }
    assert known == set(GROUPS)
    assert {"hierarchy.lbvh", "ray_type.smooth"} <= {name for name, _ in option_groups(Settings())}
    for _, options in option_groups(Settings()):
        for field in fields_of(options):
            assert field.info.sentence.endswith("."), field.name


@pytest.mark.parametrize("key", EVERY_KEY)
def test_every_option_takes_its_default_and_refuses_nonsense(key: str) -> None:
    default = option_field(key).default
    if default is not None:
        settings = set_option(Settings(), key, default)
        table = dict(option_groups(settings))[key.rpartition(".")[0]]
        assert getattr(table, key.rpartition(".")[2]) == default
    with pytest.raises(OptionError, match=key.rpartition(".")[2]):
        set_option(Settings(), key, {"no": "option takes a table"})


def test_a_change_touches_nothing_else() -> None:
    changed = set_option(Settings(), "render.width", 320)
    assert changed.render.width == 320
    assert changed.update is Settings().update or changed.update == Settings().update
    assert set_option(changed, "render.width", 1024) == Settings()


def test_options_of_a_structure_are_kept_by_its_name() -> None:
    key = next(key for key in EVERY_KEY if key.startswith("hierarchy.lbvh."))
    field = option_field(key)
    other = next(
        v for v in (field.info.minimum, field.info.maximum, *field.info.choices) if v is not None and v != field.default
    )
    settings = set_option(Settings(), key, field.type(other))
    assert getattr(settings.hierarchy["lbvh"], field.name) == other
    assert getattr(settings.hierarchy_options("lbvh"), field.name) == other
    assert Settings().hierarchy == {}


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("render.width", 0, "from 1 to 16384"),
        ("render.hierarchy", "octopus", "lbvh"),
        ("render.ray_type", "xray", "smooth"),
        ("render.layout", "bvh99", "bvh2"),
        ("render.device", "cuda:x", "cuda:N"),
        ("render.device", "tpu", "auto, cpu, cuda"),
        ("update.mode", "sometimes", "auto, cost_ratio, every_n"),
        ("update.cost_ratio", 0.5, "from 1 to 100"),
        ("display.minimum_fps", True, "number"),
        ("nothing.at_all", 1, "the known tables are render, update"),
        ("render.nothing", 1, "the known names in .render. are device, hierarchy"),
        ("hierarchy.octopus.arms", 8, "hierarchy.lbvh"),
        ("ray_type.xray.power", 8, "ray_type.smooth"),
        ("render", 1, "known"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed(key: str, value: object, allowed: str) -> None:
    with pytest.raises(OptionError, match=allowed):
        set_option(Settings(), key, value)


@pytest.mark.parametrize("name", ["auto", "cpu", "cuda", "cuda:0", "cuda:12"])
def test_devices_are_named_as_on_the_command_line(name: str) -> None:
    assert set_option(Settings(), "render.device", name).render.device == name


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("render.width", "640", 640),
        ("update.always", "true", True),
        ("update.always", "off", False),
        ("update.cost_ratio", "2", 2.0),
        ("render.hierarchy", "brute_force", "brute_force"),
        ("demo.triangles", "1000000", 1_000_000),
    ],
)
def test_text_is_read_by_the_options_type(key: str, text: str, value: object) -> None:
    settings = set_text(Settings(), key, text)
    group, _, name = key.partition(".")
    assert getattr(getattr(settings, group), name) == value


@pytest.mark.parametrize(
    ("key", "text"), [("render.width", "wide"), ("update.always", "perhaps"), ("render.width", "6.5")]
)
def test_text_that_does_not_read_is_refused(key: str, text: str) -> None:
    with pytest.raises(OptionError, match=key):
        set_text(Settings(), key, text)


def test_vectors_are_read_from_commas() -> None:
    assert parse_value(tuple[float, float, float], "1,2,-3") == [1.0, 2.0, -3.0]
    assert parse_value(tuple[float, float, float], " [1, 2, -3]") == [1.0, 2.0, -3.0]
    assert parse_value(tuple[float, float, float], "[1, 2, -3") == "[1, 2, -3"


def test_the_registries_say_what_can_be_combined() -> None:
    assert {"lbvh", "brute_force"} <= set(option_tables.builders())
    assert {"flat", "smooth", "steps"} <= set(option_tables.ray_types())
    assert set(option_tables.layouts("lbvh")) <= set(option_tables.layouts())
    for layout in option_tables.layouts("lbvh"):
        assert option_tables.traversals("lbvh", layout)


def test_the_options_of_a_type_are_read_once() -> None:
    """A window asks for them thousands of times, and to read types from text takes long."""
    for _, options in option_groups(Settings()):
        assert fields_of(options) is fields_of(type(options)) is fields_of(options)
