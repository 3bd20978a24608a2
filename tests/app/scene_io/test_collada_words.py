"""Words of a Collada file that libassimp knows in one spelling alone."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from raygrove.app.scene_io import SceneError, load
from raygrove.app.scene_io.collada_words import IN_ORDER, in_known_words
from raygrove.gpu.scene import Scene
from tests.app.scene_io.test_references import COLLADA

TEXT = COLLADA.format(entities="", name="one").replace("0 0 0 1 0 0 0 1 0", "0 0 0 1 0 0 0 2 0.5")
PARAMS = '<param name="X" type="float"/>\n<param name="Y" type="float"/><param name="Z" type="float"/>'
UPRIGHT, TURNED = (1.0, 2.0, 0.5), (1.0, 0.5, 0.0)


def opened(tmp_path: Path, text: str) -> Scene:
    (tmp_path / "a.dae").write_text(text)
    return load([tmp_path / "a.dae"])


def named(*names: str) -> str:
    assert PARAMS in TEXT
    return TEXT.replace(PARAMS, "".join(f'<param name="{name}" type="float"/>' for name in names))


@pytest.mark.parametrize(
    ("word", "upper", "is_told"),
    [
        ("Y_UP", UPRIGHT, False), ("y_up", UPRIGHT, False), ("Z_UP", TURNED, False), (" z_up\n", TURNED, False),
        ("X_Up", (0.0, 1.0, 0.5), False), ("Z", UPRIGHT, True), ("W_UP", UPRIGHT, True), ("", UPRIGHT, True),
    ],
)  # fmt: skip
def test_the_axis_upwards_is_known_in_any_case(
    word: str, upper: tuple[float, ...], is_told: bool, tmp_path: Path
) -> None:
    """libassimp takes Y for all but X_UP and Z_UP."""
    scene = opened(tmp_path, TEXT.replace("Y_UP", word))
    assert scene.upper == pytest.approx(upper, abs=1e-6)
    assert [one.sentence.startswith(f"Its up_axis is {word.strip()!r}, none of") for one in scene.remarks] == [
        True
    ] * is_told


def test_without_a_word_y_points_upwards_as_collada_says(tmp_path: Path) -> None:
    scene = opened(tmp_path, TEXT.replace("<up_axis>Y_UP</up_axis>", "<!-- <up_axis>z_up</up_axis> -->"))
    assert scene.upper == UPRIGHT and not scene.remarks


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (named("X", "Y", "Z"), 0), (named("R", "G", "B"), 0), (named("x", "y", "z"), 0), (named("A", "B", "C"), 1),
        (named("X", "Y", "Q"), 1), (named("", "", ""), 1), (TEXT.replace(PARAMS, ""), 1),
        (TEXT.replace(f">{PARAMS}</accessor>", "/>"), 1),
    ],
)  # fmt: skip
def test_columns_of_points_are_told_apart_whatever_their_names(text: str, count: int, tmp_path: Path) -> None:
    """libassimp takes the first number of a row for each axis that has none of its names."""
    scene = opened(tmp_path, text)
    assert scene.upper == UPRIGHT and not scene.lower[0] and scene.triangle_count == 1
    assert [(one.count, one.sentence) for one in scene.remarks] == [(1, IN_ORDER)] * count


def test_columns_keep_the_order_that_their_names_say(tmp_path: Path) -> None:
    """Also behind a column that is for others, and in small letters."""
    assert opened(tmp_path, named("Z", "Y", "X")).upper == (0.5, 2.0, 1.0)
    assert opened(tmp_path, named("z", "y", "x")).upper == (0.5, 2.0, 1.0)
    four = named("W", "x", "y", "z").replace('stride="3"', 'stride="4"').replace('count="9"', 'count="12"')
    four = four.replace("0 0 0 1 0 0 0 2 0.5", "9 0 0 0 9 1 0 0 9 0 2 0.5")
    scene = opened(tmp_path, four)
    assert scene.upper == UPRIGHT and not scene.remarks


@pytest.mark.parametrize("names", [("X", "Y"), ("X",), ("a", "b")])
def test_points_of_fewer_columns_are_damage(names: tuple[str, ...], tmp_path: Path) -> None:
    """libassimp takes the first number for the height, too."""
    text = named(*names).replace('stride="3"', f'stride="{len(names)}"')
    theirs = ", ".join(names)
    said = rf"<accessor> at line 4 is for positions, which have the columns X, Y and Z; its own: {theirs}\. Export"
    with pytest.raises(SceneError, match=f"is damaged: {said}"):
        opened(tmp_path, text)


def test_columns_of_colours_and_textures_are_told_apart() -> None:
    """A list that nothing names is left as it is, and so is one of a texture along a line."""

    def renamed(semantic: str, *names: str) -> list[bytes]:
        params = "".join(f"<param name='{name}'/>" for name in names)
        text = f"<source id='s'><accessor stride='{len(names)}'>{params}</accessor></source>"
        data, _ = in_known_words(f"<input semantic='{semantic}' source='#s'/>{text}".encode())
        return re.findall(rb"name=[\"'](\w*)[\"']", data)

    assert renamed("TEXCOORD", "s", "t") == [b"S", b"T"] and renamed("TEXCOORD", "U", "V") == [b"U", b"V"]
    assert renamed("TEXCOORD", "a", "b", "c") == [b"S", b"T", b""] and renamed("TEXCOORD", "s") == [b"s"]
    assert renamed("COLOR", "r", "g", "b", "a") == [b"R", b"G", b"B", b"A"]
    assert renamed("WEIGHT", "weight") == [b"weight"]


def test_all_that_is_changed_stands_in_its_place() -> None:
    """Whatever comes first; comments are no part of the file."""
    one = "<source id='{}'><accessor stride='3'><param name='x'/><param name='y'/><param name='z'/></accessor></source>"
    text = one.format("p") + "<!--" + one.format("p") + "-->" + one.format("n")
    text = "<input semantic='POSITION' source='#p'/><input semantic='NORMAL' source='#n'/>" + text
    data, said = in_known_words(f"{text}<up_axis>z_up</up_axis>".encode())
    assert not said and data.count(b'name="X"') == 2 and data.count(b"name='x'") == 1
    assert data.endswith(b"</source><up_axis>Z_UP</up_axis>") and in_known_words(data) == (data, [])


def test_many_lists_take_no_more_time_each() -> None:
    """Each had the whole file copied: 3,000 of 4 KiB took some ten seconds."""
    params = "<param name='x'/><param name='y'/><param name='z'/>"
    numbers = "0.25 " * 800
    text = "".join(
        f"<input semantic='POSITION' source='#s{n}'/><source id='s{n}'><float_array>{numbers}</float_array>"
        f"<accessor stride='3'>{params}</accessor></source>"
        for n in range(3_000)
    ).encode()
    begun = time.process_time()
    data, said = in_known_words(text)
    assert time.process_time() - begun < 3.0
    assert not said and data.count(b'name="X"') == 3_000 and data.count(b"0.25 ") == 800 * 3_000
