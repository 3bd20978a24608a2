"""The spelling of configurations: what is printed is read back as it was, and what is no spelling says where."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.gpu.configuration import Configuration, ConfigurationError, Part, is_plain, parse

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,9}", fullmatch=True)
VALUES = st.one_of(
    st.text(max_size=12), st.floats(allow_subnormal=False).map(repr), st.integers().map(str), st.booleans().map(str)
)
PARTS = st.builds(
    lambda name, options: Part(name, tuple(options.items())), NAMES, st.dictionaries(NAMES, VALUES, max_size=3)
)
SAID = st.one_of(st.none(), PARTS.filter(lambda part: part != Part("auto")))
CONFIGURATIONS = st.builds(Configuration, PARTS, st.one_of(st.none(), PARTS), SAID, SAID, st.one_of(st.none(), PARTS))


@given(CONFIGURATIONS)
def test_what_is_printed_is_read_back(configuration: Configuration) -> None:
    assert parse(str(configuration)) == configuration


@given(st.text(alphabet='abz1._-:=+/@"\\ ', max_size=20))
def test_any_text_is_a_configuration_or_a_sentence(text: str) -> None:
    try:
        found = parse(text)
    except ConfigurationError as error:
        assert error.what and error.remedy and repr(text) in error.where
    else:
        assert parse(str(found)) == found and str(parse(str(found))) == str(found)


@pytest.mark.parametrize(
    ("text", "shortest"),
    [
        ("hploc", "hploc"),
        ("hploc/auto", "hploc"),
        ("hploc/auto/auto@refit", "hploc@refit"),
        ("hploc/auto/bvh4_stack", "hploc/auto/bvh4_stack"),
        ('lbvh:name="32"', "lbvh:name=32"),
        ("mine:scale=1e+5+rotations", "mine:scale=1e+5+rotations"),
        ("mine:at=1,-2,0.5/bvh2@every_n:n=7", "mine:at=1,-2,0.5/bvh2@every_n:n=7"),
    ],
)
def test_the_shortest_spelling_is_printed(text: str, shortest: str) -> None:
    assert str(parse(text)) == shortest


def test_the_parts_are_what_is_said() -> None:
    found = parse("binned_sah:bins=32:cost=0.5+reinsertion/bvh4/bvh4_stack@every_n:n=7")
    assert found.builder == Part("binned_sah", (("bins", "32"), ("cost", "0.5")))
    assert [kind for kind, _ in found.parts()] == ["builder", "optimiser", "layout", "traversal", "policy"]
    assert found.policy == Part("every_n", (("n", "7"),)) and parse("a").parts() == (("builder", Part("a")),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "a builder is missing"),
        ("hploc+", "after 'hploc\\+' an optimiser is missing"),
        ("hploc//bvh4", "after 'hploc/' a layout is missing"),
        ("hploc@auto/bvh4", "after 'hploc@auto' '/bvh4' is too much"),
        ("hploc:bins", "after 'hploc' an option is missing: options are :NAME=VALUE"),
        ("hploc:bins=1:bins=2", "given an option twice: bins, bins: say each option once"),
        ("7up", "a builder is missing: the spelling is builder"),
    ],
)
def test_what_is_no_spelling_says_where(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        parse(text)


def test_parts_that_cannot_be_spelt_are_refused() -> None:
    with pytest.raises(ValueError, match="'a b' is no name"):
        Part("a b")
    assert is_plain("hploc") and not is_plain("hploc@auto") and not is_plain("")


def test_it_needs_no_numpy() -> None:
    code = "import sys, raygrove.gpu.configuration; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
