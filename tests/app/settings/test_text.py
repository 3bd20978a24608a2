"""A person's settings file keeps its comments, its order and what we do not know, whatever the program saves into
it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.settings.file import is_known, load_settings, save_settings
from raygrove.app.settings.settings import Settings, option_field, option_groups, set_option
from raygrove.app.settings.text import flat, fresh_text, merged_text
from raygrove.gpu.settings import fields_of

OWN = """# my settings
[render]            # what is drawn
samples = 4         # smooth edges
  width=640
colour = "red"      # for another version

[hierarchy.lbvh]
max_leaf_size = 2

[other]
list = [
  1,  # one
  2,
]
"""


def is_ours(key: str) -> bool:
    return is_known(key)


def test_comments_order_and_unknown_keys_stay() -> None:
    wanted = {"render.samples": 9, "render.ray_type": "flat", "hierarchy.lbvh.max_leaf_size": 2, "update.mode": "refit"}
    text, lost = merged_text(OWN, wanted, is_ours)
    assert lost == ""
    assert text == OWN.replace("samples = 4         #", "samples = 9  #").replace("  width=640\n", "").replace(
        'for another version\n', 'for another version\nray_type = "flat"\n'
    ) + '\n[update]\nmode = "refit"\n'  # fmt: skip


def test_what_does_not_change_is_not_touched() -> None:
    text, lost = merged_text(
        OWN, {"render.samples": 4, "render.width": 640, "hierarchy.lbvh.max_leaf_size": 2}, is_ours
    )
    assert (text, lost) == (OWN, "")


def test_dotted_keys_and_crlf_are_edited_too() -> None:
    text, lost = merged_text("# mine\r\nrender.width = 5\r\n", {"render.width": 6, "render.height": 7}, is_ours)
    assert lost == "" and text.startswith("# mine\r\n")
    assert tomllib.loads(text) == {"render": {"width": 6, "height": 7}}


@pytest.mark.parametrize(
    "old", ["# a\nrender = { width = 5, colour = 3 }\n", "# a\n[[list]]\nx = 1\n[render]\nwidth=5\n"]
)
def test_a_form_that_is_not_edited_is_written_anew_and_said(old: str) -> None:
    text, lost = merged_text(old, {"render.width": 6}, is_ours)
    foreign = {key: value for key, value in flat(tomllib.loads(old)) if not is_ours(key)}
    assert dict(flat(tomllib.loads(text))) == {**foreign, "render.width": 6}
    assert "comments were dropped" in lost


def test_a_file_that_is_not_toml_is_written_anew_and_said() -> None:
    text, lost = merged_text("[render\n", {"render.width": 6}, is_ours)
    assert tomllib.loads(text) == {"render": {"width": 6}} and "not TOML" in lost


VALUES = st.one_of(st.integers(-99, 99), st.booleans(), st.text(max_size=6), st.lists(st.floats(-9, 9), max_size=3))
NAMES = st.sampled_from(["alpha", "beta", "gamma"])
TABLES = st.dictionaries(
    st.sampled_from(["one", "two", "one.inner"]), st.dictionaries(NAMES, VALUES, max_size=3), max_size=3
)
COMMENTS = st.lists(st.sampled_from(["# a note", "", "   # x = 5 [one]"]), max_size=4)


def dotted(tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {f"{table}.{name}": value for table, values in tables.items() for name, value in values.items()}


@given(old=TABLES, new=TABLES, comments=COMMENTS, ours=st.sampled_from(["one", "two", ""]))
def test_any_file_says_afterwards_what_was_wanted(
    old: dict[str, Any], new: dict[str, Any], comments: list[str], ours: str
) -> None:
    def is_mine(key: str) -> bool:
        return key.startswith(ours)

    wanted = {key: value for key, value in dotted(new).items() if is_mine(key)}
    lines = fresh_text(dotted(old)).splitlines()
    for index, comment in enumerate(comments):
        lines.insert(index * 2, comment)
    text, lost = merged_text("\n".join(lines), wanted, is_mine)
    assert lost == ""
    assert (
        dict(flat(tomllib.loads(text)))
        == {key: value for key, value in dotted(old).items() if not is_mine(key)} | wanted
    )
    assert sum("# a note" in line or "# x = 5" in line for line in text.splitlines()) == sum(
        bool(comment) for comment in comments
    )


KEYS = [f"{name}.{field.name}" for name, options in option_groups(Settings()) for field in fields_of(options)]
EVERY = [(key, option_field(key)) for key in KEYS]


@given(st.data())
def test_saving_over_a_file_and_reading_it_gives_the_settings(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("saved") / "settings.toml"
    path.write_text(OWN)
    settings = Settings()
    for key, field in data.draw(st.lists(st.sampled_from(EVERY), max_size=6)):
        low = -1000.0 if field.info.minimum is None else max(field.info.minimum, -1e9)
        high = 1000.0 if field.info.maximum is None else min(field.info.maximum, 1e9)
        numbers = st.floats(low, high, allow_nan=False)
        words = st.sampled_from(field.info.choices or (field.default,))
        kinds = {bool: st.booleans(), int: st.integers(int(low), int(high)), float: numbers, str: words}
        settings = set_option(settings, key, data.draw(kinds.get(field.type, st.tuples(numbers, numbers, numbers))))
    if settings.start.scene:
        settings = set_option(settings, "start.scene", str(path.parent / settings.start.scene))
    assert save_settings(settings, path) == ""
    skipped: list[str] = []
    assert dict(option_groups(load_settings(path, None, skipped))) == dict(option_groups(settings))
    assert len(skipped) == 2 and "render.colour" in skipped[0] and "other" in skipped[1], "only what is not ours"
    assert path.read_text().count("#") >= 4


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "settings.toml"
    real.write_text(OWN)
    real.chmod(0o640)
    link.symlink_to(real)
    save_settings(set_option(Settings(), "render.width", 320), link)
    assert (
        link.is_symlink() and load_settings(real, None, []).render.width == 320 and real.stat().st_mode & 0o777 == 0o640
    )
