"""The CUDA target alone; the fixtures for each target in turn are in tests/conftest.py. Nothing here needs Qt or a
display."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from raygrove.gpu import repeated_launches
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target


@pytest.fixture(scope="session")
def cuda_target() -> Iterator[Target]:
    """The first CUDA device with the default options, or a skip that says why there is none."""
    made = make_target("cuda")
    yield made
    made.close()


@pytest.fixture(params=["captured third", "captured second"])
def capture_turn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of one shape are replayed from the third on, as the program does it, or as early as they can be."""
    if request.param == "captured second":
        monkeypatch.setattr(repeated_launches, "FRAMES_BEFORE_CAPTURE", 1)
