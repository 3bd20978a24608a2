"""Folders that somebody puts in the place of a file of the cache within the very rename, and another user's cache."""

from __future__ import annotations

import pathlib

import pytest

from raygrove.gpu.target import cache, private_folders, remarks


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The cache folder of this test."""
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(private_folders.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(remarks, "_said", {})
    return tmp_path / "cache"


def put_folders(monkeypatch: pytest.MonkeyPatch, times: int, is_empty: bool = True) -> list[pathlib.Path]:
    """Before so many renames a folder is put in the target's place; returns the targets."""
    rename, done = pathlib.Path.replace, list[pathlib.Path]()

    def replace(path: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
        if len(done) < times:
            done.append(target)
            target.mkdir()
            if not is_empty:
                (target / "somebody's").touch()
        return rename(path, target)

    monkeypatch.setattr(cache.pathlib.Path, "replace", replace)
    return done


@pytest.mark.parametrize("times", [1, 5])
def test_an_empty_one_goes(times: int, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = put_folders(monkeypatch, times)
    assert cache.cached_bytes("key", ".cubin", lambda: b"made") == b"made"
    assert len(done) == times and cache.find_bytes("key", ".cubin") == b"made"
    assert not remarks.sentences()


@pytest.mark.parametrize("is_empty", [True, False])
def test_one_that_comes_back_keeps_nobody_from_what_was_made(
    is_empty: bool, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_folders(monkeypatch, 1000, is_empty)
    assert cache.cached_bytes("key", ".cubin", lambda: b"made") == b"made"
    (said,) = remarks.sentences()
    assert said.startswith(f"A compiled kernel cannot be kept and is made again at the next start: {folder}/key-sealed")
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["key-sealed.cubin"], "the folder, and nothing half-written"


def test_a_library_says_which_place_is_taken(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_folders(monkeypatch, 1000, is_empty=False)
    with pytest.raises(OSError, match="Directory not empty") as caught:
        cache.cached_file("key", ".so", lambda path: path.touch())
    assert caught.value.filename == str(folder / "key-sealed.so")
    assert (folder / "key-sealed.so" / "somebody's").exists()


def test_a_cache_that_cannot_be_entered_is_left_alone_at_once(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said of each file in it that it is not used."""
    folder.mkdir(mode=0o700)
    (folder / "key-sealed.cubin").write_bytes(b"root's own")
    access = cache.os.access
    monkeypatch.setattr(cache.os, "access", lambda path, mode: path != folder and access(path, mode))
    assert cache.cached_bytes("key", ".cubin", lambda: b"made") == b"made"
    (said,) = remarks.sentences()
    assert said.startswith(f"The cache folder {folder} cannot be written")
    assert cache.find_bytes("key", ".cubin") == b"made" and (folder / "key-sealed.cubin").read_bytes() == b"root's own"
