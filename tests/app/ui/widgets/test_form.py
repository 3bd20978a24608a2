"""Forms made from dataclasses: the right editor, range, sentence, and errors at the field."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox

from raygrove.app.camera.moves import LENS
from raygrove.app.edits.scene_edits import LightOptions, MaterialOptions
from raygrove.app.settings.settings import DisplayOptions
from raygrove.app.ui.widgets.form import Editor, OptionForm, title_of, tooltip_of
from raygrove.app.ui.widgets.number_boxes import ExactBox, FloatBox, IntBox
from raygrove.gpu.settings import OptionError, fields_of, option


@dataclasses.dataclass(frozen=True)
class Everything:
    """One option of each kind."""

    is_on: bool = option(True, "Whether it is on.")
    leaf_size: int = option(4, "Triangles in a leaf.", minimum=1, maximum=64, unit="triangles")
    cost_ratio: float = option(1.5, "When to rebuild.", minimum=1.0, maximum=100.0)
    mode: str = option("rebuild", "What to do.", choices=("rebuild", "refit"))
    words: str = option("", "A free text.")
    key: int = option(0, "A number that no spin box holds.", minimum=0, maximum=2**40)
    place: tuple[float, float, float] = option((0.1, 0.2, 0.3), "A place.", minimum=0.0, maximum=1.0)


@pytest.fixture
def form(qtbot: Any) -> OptionForm:
    made = OptionForm(fields_of(Everything))
    qtbot.addWidget(made)
    made.set_values(Everything())
    made.show()
    return made


def test_each_option_gets_the_editor_of_its_type(form: OptionForm) -> None:
    kinds = {name: type(editor.input) for name, editor in form.editors.items()}
    assert kinds["is_on"] is QCheckBox and kinds["leaf_size"] is IntBox and kinds["cost_ratio"] is FloatBox
    assert kinds["mode"] is QComboBox and kinds["words"] is QLineEdit and kinds["key"] is QLineEdit
    assert len(form.editors["place"].input.findChildren(QDoubleSpinBox)) == 3


def test_ranges_units_and_sentences_come_from_the_option(form: OptionForm) -> None:
    box = form.editors["leaf_size"].input
    assert isinstance(box, QSpinBox)
    assert (box.minimum(), box.maximum(), box.suffix()) == (1, 64, " triangles")
    assert "Triangles in a leaf." in box.toolTip() and "from 1 to 64" in box.toolTip() and "Default: 4" in box.toolTip()
    assert title_of("cost_ratio") == "Cost ratio"
    assert "Default: true" in tooltip_of(fields_of(Everything)[0])


def test_a_unit_agrees_with_its_number(form: OptionForm) -> None:
    """However the number came: shown, stepped or typed."""
    editor = form.editors["leaf_size"]
    box = editor.input
    assert isinstance(box, QSpinBox)
    editor.set_value(1)
    assert box.text() == "1 triangle"
    box.stepUp()
    assert box.text() == "2 triangles"
    box.lineEdit().setText("1 triangles")
    box.interpretText()
    assert box.text() == "1 triangle" and editor.value() == 1


def test_values_are_shown_without_being_announced(form: OptionForm, qtbot: Any) -> None:
    wanted = Everything(False, 9, 2.25, "refit", "hello", 2**39, (0.5, 0.25, 1.0))
    with qtbot.assertNotEmitted(form.changed):
        form.set_values(wanted)
    assert {name: editor.value() for name, editor in form.editors.items()} == dataclasses.asdict(wanted)


@pytest.mark.parametrize(
    ("name", "act", "expected"),
    [
        ("is_on", lambda box: box.click(), False),
        ("leaf_size", lambda box: box.setValue(7), 7),
        ("cost_ratio", lambda box: box.setValue(3.5), 3.5),
        ("mode", lambda box: box.setCurrentIndex(1), "refit"),
    ],
)
def test_an_edit_is_announced_with_its_value(form: OptionForm, qtbot: Any, name: str, act: Any, expected: Any) -> None:
    with qtbot.waitSignal(form.changed) as caught:
        act(form.editors[name].input)
    assert caught.args == [name, expected]


def test_a_text_that_is_no_value_is_answered_at_its_field(form: OptionForm, qtbot: Any) -> None:
    editor = form.editors["key"]
    assert isinstance(editor.input, QLineEdit)
    editor.input.setText("many")
    with qtbot.assertNotEmitted(form.changed):
        qtbot.keyClick(editor.input, Qt.Key.Key_Return)
    assert "many" in editor.error and "whole number" in editor.error
    editor.input.setText(str(2**41))
    qtbot.keyClick(editor.input, Qt.Key.Key_Return)
    assert "from 0 to" in editor.error
    editor.input.setText("12")
    with qtbot.waitSignal(form.changed) as caught:
        qtbot.keyClick(editor.input, Qt.Key.Key_Return)
    assert caught.args == ["key", 12] and editor.error == ""
    with pytest.raises(OptionError):
        editor.input.setText("x")
        editor.value()


def test_search_hides_rows_that_do_not_hold_every_word(form: OptionForm) -> None:
    assert form.filter("rebuild") == 2
    assert (
        form.editors["mode"].isVisible()
        and form.editors["cost_ratio"].isVisible()
        and not form.editors["is_on"].isVisible()
    )
    assert form.filter("when rebuild") == 1
    assert form.filter("nothing like this") == 0
    assert form.filter("") == 7


def test_choices_may_come_from_elsewhere(qtbot: Any) -> None:
    fields = tuple(field for field in fields_of(Everything) if field.name == "words")
    form = OptionForm(fields, {"words": ("lbvh", "sah")})
    qtbot.addWidget(form)
    box = form.editors["words"].input
    assert isinstance(box, QComboBox) and [box.itemText(i) for i in range(box.count())] == ["lbvh", "sah"]


@pytest.mark.parametrize(
    ("name", "typed", "sentence"),
    [
        ("leaf_size", "900", "900: it takes a whole number from 1 to 64 (triangles). 4 stays."),
        ("leaf_size", "", "nothing: it takes a whole number from 1 to 64 (triangles). 4 stays."),
        ("leaf_size", "four", "four: it takes a whole number"),
        ("cost_ratio", "0.5", "0.5: it takes a number from 1 to 100. 1.5 stays."),
    ],
)
def test_a_number_that_is_not_taken_is_said_at_its_field(
    form: OptionForm, qtbot: Any, name: str, typed: str, sentence: str
) -> None:
    editor = form.editors[name]
    before = editor.value()
    editor.input.setFocus()
    editor.input.selectAll()  # type: ignore[attr-defined]
    with qtbot.assertNotEmitted(form.changed):
        qtbot.keyClick(editor.input, Qt.Key.Key_Delete)
        qtbot.keyClicks(editor.input, typed)
        qtbot.keyClick(editor.input, Qt.Key.Key_Return)
    assert editor.error.startswith(sentence) and editor.value() == before
    editor.input.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(editor.input, "2")
    qtbot.keyClick(editor.input, Qt.Key.Key_Return)
    assert editor.error == "" and editor.value() == 2


def test_boxes_of_vast_ranges_stay_narrow(qtbot: Any) -> None:
    box = FloatBox()
    qtbot.addWidget(box)
    box.setRange(-1e18, 1e18)
    assert box.minimumSizeHint().width() <= 110 and box.sizeHint().width() <= 110


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5.0, "5"),
        (-14.557130302953492, "-14.55713"),
        (1000001.5, "1000002"),
        (0.00123456789, "0.001235"),
        (-1e-9, "-0.000000001"),
        (0.0, "0"),
        (1e18, "1000000000000000000"),
    ],
)
def test_an_exact_box_writes_numbers_as_people_do_and_keeps_them(qtbot: Any, value: float, text: str) -> None:
    box = ExactBox()
    qtbot.addWidget(box)
    box.setRange(-1e18, 1e18)
    box.setKeyboardTracking(False)
    box.setSuffix(" scene units")
    box.setValue(value)
    assert box.text() == f"{text} scene units" and box.value() == pytest.approx(value, abs=1e-12)
    before = box.value()
    with qtbot.assertNotEmitted(box.valueChanged):
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == before, "what was not edited is what it was"
    box.selectAll()
    qtbot.keyClicks(box, "2.25")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == 2.25 and box.text() == "2.25 scene units"


def test_an_exact_box_writes_as_the_language_has_it(qtbot: Any) -> None:
    box = ExactBox()
    qtbot.addWidget(box)
    box.setLocale(QLocale("de_DE"))
    box.setRange(-1e6, 1e6)
    box.setValue(-12345.678)
    assert box.text() == "-12345,68"
    box.selectAll()
    qtbot.keyClicks(box, "2,5")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == 2.5


LENGTHS = {
    LightOptions: ("position", "radius", "width", "height"),
    MaterialOptions: ("attenuation_distance",),
}


def test_lengths_have_their_unit_in_the_field_or_three_of_them_in_the_tip(qtbot: Any) -> None:
    fields = [field for kind, names in LENGTHS.items() for field in fields_of(kind) if field.name in names]
    fields += [field for field in LENS if field.name in ("eye", "look_at", "height", "near", "far")]
    assert len(fields) == 10
    for field in fields:
        editor = Editor(field)
        qtbot.addWidget(editor)
        assert "(scene units)" in editor.input.toolTip(), field.name
        boxes = editor.findChildren(ExactBox)
        wanted = " scene units" if len(boxes) == 1 else ""
        assert [box.suffix() for box in boxes] == [wanted] * len(boxes), f"{field.name}: three have no room for it"


def test_frame_rates_and_first_hits_are_called_as_in_the_menus(qtbot: Any) -> None:
    assert [title_of(name) for name in ("primary", "minimum_fps", "fps", "hierarchy", "fov", "still_samples")] == [
        *("First hits", "Minimum frame rate", "Frame rate", "Structure", "Field of view", "Still samples")
    ]
    editor = Editor(next(field for field in fields_of(DisplayOptions) if field.name == "minimum_fps"))
    qtbot.addWidget(editor)
    editor.set_value(20.0)
    assert isinstance(editor.input, ExactBox) and editor.input.text() == "20 frames/s"


def test_a_minimum_that_is_no_number_has_its_word(qtbot: Any) -> None:
    @dataclasses.dataclass(frozen=True)
    class Planes:
        """A bound, or none."""

        near: float = option(0.0, "Bound.", minimum=0.0, maximum=1e12, unit="scene units", least="automatic")

    form = OptionForm(fields_of(Planes))
    qtbot.addWidget(form)
    form.set_values(Planes())
    box = form.editors["near"].input
    assert isinstance(box, ExactBox) and box.text() == "automatic"
    box.selectAll()
    with qtbot.waitSignal(form.changed) as caught:
        qtbot.keyClicks(box, "0.5")
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert caught.args == ["near", 0.5] and box.text() == "0.5 scene units"
    box.selectAll()
    qtbot.keyClicks(box, "0")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.text() == "automatic"
    box.selectAll()
    qtbot.keyClicks(box, "-1")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.text() == "automatic" and form.editors["near"].error.startswith("-1: it takes a number from 0")
