"""Real models for tests, where they are: `../shared/data` beside the repository, or the folder named by
RAYGROVE_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def data_folder() -> Path:
    """Where real models would be."""
    return Path(os.environ.get("RAYGROVE_DATA") or ROOT.parent / "shared" / "data")


def data_file(relative: str) -> Path:
    """A real model's path; skips the test, with the reason, where it is absent."""
    path = data_folder() / relative
    if not path.exists():
        pytest.skip(f"the real data file {relative} is not here (looked in {data_folder()}; set RAYGROVE_DATA)")
    return path
