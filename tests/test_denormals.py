"""A test that leaves denormal numbers flushed to zero is named, and harms no other."""

from __future__ import annotations

import pytest

from tests import denormals


def test_the_word_of_the_processor_is_found() -> None:
    assert not denormals.are_flushed()
    denormals.flush(True)
    try:
        assert denormals.are_flushed()
    finally:
        denormals.flush(False)
    assert not denormals.are_flushed()


class SaidError(Exception):
    """What a stand-in was told."""


def test_the_test_that_did_it_is_named_and_the_next_has_them() -> None:
    class Item:
        nodeid = "tests/a.py::test_fast"

        def warn(self, warning: Warning) -> None:
            raise SaidError(str(warning))

    around = denormals.pytest_runtest_protocol(Item())  # type: ignore[arg-type]
    next(around)
    denormals.flush(True)
    with pytest.raises(SaidError, match="tests/a.py::test_fast left denormal numbers flushed to zero"):
        around.send(None)
    assert not denormals.are_flushed()
