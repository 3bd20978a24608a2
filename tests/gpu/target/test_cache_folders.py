"""A folder in the place of a file of the cache of compiled code."""

from __future__ import annotations

import pathlib

import pytest

from raygrove.gpu.target import cache


def write(path: pathlib.Path) -> None:
    path.write_text("made")


@pytest.fixture
def path(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The place of a file, where a folder stands."""
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    place = cache.cached_file("key", ".so", write)
    place.unlink()
    place.mkdir()
    return place


def test_a_file_is_made_in_the_place_of_an_empty_folder(path: pathlib.Path) -> None:
    with pytest.raises(cache.DamagedError, match="it is not a file"):
        cache.contents_of(path)
    assert cache.find_file("key", ".so") is None
    assert cache.cached_file("key", ".so", write) == path and cache.contents_of(path) == b"made"


def test_a_folder_that_holds_something_stays(path: pathlib.Path) -> None:
    (path / "mine").write_text("mine")
    with pytest.raises(OSError, match=path.name):
        cache.cached_file("key", ".so", write)
    assert (path / "mine").read_text() == "mine" and not list(path.parent.glob(f"{cache._PART}*"))
