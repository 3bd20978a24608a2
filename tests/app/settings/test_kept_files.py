"""Files of the user: nothing of them is lost, whoever writes beside, whatever cannot be read."""

from __future__ import annotations

import errno
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.document.state import Bookmark, SceneReference
from raygrove.app.export import whole_files
from raygrove.app.export.outputs import write_table
from raygrove.app.settings import file as settings_file
from raygrove.app.settings import kept_files
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.user_files import bookmarks, key_bindings, running_state
from raygrove.gpu.camera import Camera
from tests.waiting import PROCESS_S

SAVES = 25


def _save_bookmarks(path: Path, name: str) -> None:
    scene = SceneReference("demo", (name,))
    for number in range(SAVES):
        bookmarks.save(SceneReference("demo", (f"{name}{number}",)), (Bookmark("one", Camera()),), path)
    assert bookmarks.load(scene, path) == ()


def test_programs_that_save_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cameras.toml"
    writers = [multiprocessing.get_context("spawn").Process(target=_save_bookmarks, args=(path, x)) for x in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(PROCESS_S)
        assert writer.exitcode == 0
    kept = [bookmarks.load(SceneReference("demo", (f"{x}{number}",)), path) for x in "abc" for number in range(SAVES)]
    assert all(len(one) == 1 for one in kept), f"{sum(map(len, kept))} of {len(kept)}"
    assert os.listdir(tmp_path) == ["cameras.toml"]


def _save_everything(folder: Path, number: int) -> None:
    for turn in range(SAVES // 3):
        size = 100 + 10 * number + turn % 10
        settings_file.save_settings(set_option(Settings(), "render.width", size), folder / "settings.toml")
        key_bindings.save({"view.home": (f"F{number}",)}, folder / "keys.toml")
        whole_files.write_bytes(folder / "picture.png", bytes([number]) * 50_000)
        write_table(folder / "table.csv", [{"number": number}] * 200)
        running_state.save({"number": str(number)})


def test_programs_that_write_the_same_files_at_once_leave_whole_ones(own_folders: Path, tmp_path: Path) -> None:
    """Settings, keys, a picture and a table of the same names, and what each sets aside: the last one's, never a
    mixture, and nothing half-written."""
    forked = multiprocessing.get_context("fork")
    writers = [forked.Process(target=_save_everything, args=(tmp_path, number)) for number in (1, 2, 3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(PROCESS_S)
        assert writer.exitcode == 0
    picture, table = (tmp_path / "picture.png").read_bytes(), (tmp_path / "table.csv").read_text().splitlines()
    assert len(picture) == 50_000 and len(set(picture)) == 1 and len(table) == 201 and len(set(table[1:])) == 1
    assert settings_file.load_settings(tmp_path / "settings.toml").render.width in range(110, 140)
    assert key_bindings.load(tmp_path / "keys.toml")["view.home"][0] in ("F1", "F2", "F3")
    assert sorted(os.listdir(tmp_path)) == ["keys.toml", "picture.png", "settings.toml", "table.csv"]
    numbers = set()
    while found := running_state.left():
        numbers.add(found.texts["number"])
        running_state.forget(found)
    assert numbers == {"1", "2", "3"}, "of several programs that end at once each comes back, one after the other"


def test_a_lock_that_is_kept_is_waited_for_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "WAIT_S", 0.05)
    path = tmp_path / "cameras.toml"
    with kept_files.locked(path), pytest.raises(TimeoutError, match="another program"), kept_files.locked(path):
        pytest.fail("it was not kept")
    with kept_files.locked(path):
        pass


def test_a_file_system_without_locks_keeps_files_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> bool:
        raise OSError("no locks here")

    monkeypatch.setattr(kept_files, "try_lock", refuse)
    bookmarks.save(SceneReference("demo", ("orbit",)), (Bookmark("one", Camera()),), tmp_path / "cameras.toml")
    assert bookmarks.load(SceneReference("demo", ("orbit",)), tmp_path / "cameras.toml")


READERS: dict[str, Any] = {
    "cameras.toml": lambda path: bookmarks.load(SceneReference("demo", ("orbit",)), path),
    "keys.toml": key_bindings.load,
    "settings.toml": settings_file.load_settings,
}


@pytest.mark.parametrize("name", READERS)
def test_what_cannot_be_read_now_is_left_alone(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / name
    path.write_text("# kept")

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(kept_files.os, "open", refuse)
        with pytest.raises(ValueError, match="Permission denied"):
            READERS[name](path)
        if name == "settings.toml":
            assert "Permission denied" in settings_file.load_user_settings(path)[1]
    assert os.listdir(tmp_path) == [name] and path.read_text() == "# kept"


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_makes_nobody_wait_and_stays(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    began = time.monotonic()
    with pytest.raises(ValueError, match="not a file"):
        READERS[name](tmp_path / name)
    assert time.monotonic() - began < PROCESS_S and os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", READERS)
def test_what_never_ends_is_not_read_to_its_end(name: str, tmp_path: Path) -> None:
    """A device says that it has no byte, and gives as many as are asked for."""
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(ValueError, match="not a file"):
        READERS[name](tmp_path / name)


def test_links_of_the_user_stay_links(tmp_path: Path) -> None:
    """Who keeps these files elsewhere, beside others in a repository say, goes on finding them there."""
    (tmp_path / "own").mkdir()
    for name in ("cameras.toml", "keys.toml"):
        (tmp_path / "own" / name).touch()
        (tmp_path / name).symlink_to(f"own/{name}")
    bookmarks.save(SceneReference("demo", ("walker",)), (Bookmark("one", Camera()),), tmp_path / "cameras.toml")
    key_bindings.save({"file.open": ("Ctrl+K",)}, tmp_path / "keys.toml")
    assert (tmp_path / "cameras.toml").is_symlink() and (tmp_path / "keys.toml").is_symlink()
    assert [one.name for one in bookmarks.read(tmp_path / "own" / "cameras.toml")] == ["one"]
    assert key_bindings.load(tmp_path / "own" / "keys.toml") == {"file.open": ("Ctrl+K",)}


def test_a_file_that_is_too_large_is_named_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_bytes(b"#" * (key_bindings.SIZE_LIMIT_BYTES + 1))
    with pytest.raises(key_bindings.KeysError, match="left as it is"):
        key_bindings.load(path)
    assert path.stat().st_size == key_bindings.SIZE_LIMIT_BYTES + 1


def test_damaged_files_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    for number in range(3):
        path.write_text(f"damaged {number}")
        with pytest.raises(key_bindings.KeysError):
            key_bindings.load(path)
    kept = {one.name: one.read_text() for one in tmp_path.iterdir()}
    assert kept == {"keys.toml.bad": "damaged 0", "keys.toml.bad2": "damaged 1", "keys.toml.bad3": "damaged 2"}


def test_damaged_files_are_numbered_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(kept_files.os, "link", refuse)
    for number in range(2):
        (tmp_path / "a").write_text(str(number))
        kept_files.put_aside(tmp_path / "a")
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {"a.bad": "0", "a.bad2": "1"}


def test_settings_that_cannot_be_merged_are_kept_when_they_are_saved(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"width = \xff")
    said = settings_file.save_settings(set_option(Settings(), "render.width", 640), path)
    assert "settings.toml.bad" in said and (tmp_path / "settings.toml.bad").read_bytes() == b"width = \xff"
    assert settings_file.load_settings(path).render.width == 640


def test_settings_that_cannot_be_read_now_are_left_alone_when_they_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[render]\nwidth = 320\n")

    def refused(*_: Any) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(settings_file, "read_bytes", refused)
        with pytest.raises(PermissionError, match="it cannot be read: Permission denied"):
            settings_file.save_settings(set_option(Settings(), "render.width", 640), path)
    assert [one.name for one in tmp_path.iterdir()] == ["settings.toml"]
    assert settings_file.load_settings(path).render.width == 320


def test_a_pipe_in_the_place_of_settings_stays_when_they_are_saved(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings.toml")
    with pytest.raises(OSError, match="left as it is: it is not a file"):
        settings_file.save_settings(Settings(), tmp_path / "settings.toml")
    assert [(one.name, one.is_fifo()) for one in tmp_path.iterdir()] == [("settings.toml", True)]


def test_what_is_written_reaches_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut after the rename would leave an empty file."""
    happened: list[str] = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(file: int) -> None:
        happened.append("folder" if os.path.isdir(f"/proc/self/fd/{file}") else "file")
        fsync(file)

    def watched_replace(old: str, new: Path) -> None:
        happened.append("name")
        replace(old, new)

    monkeypatch.setattr(kept_files.os, "fsync", watched_fsync)
    monkeypatch.setattr(kept_files.os, "replace", watched_replace)
    kept_files.write_bytes(tmp_path / "a", b"whole")
    assert happened == ["file", "name", "folder"]


def test_what_a_killed_program_left_is_swept(tmp_path: Path) -> None:
    old, new = tmp_path / "a.x1.tmp", tmp_path / "a.x2.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1.0, 1.0))
    kept_files.write_bytes(tmp_path / "a", b"whole")
    assert sorted(os.listdir(tmp_path)) == ["a", "a.x2.tmp"]


def test_who_may_read_a_file_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"old")
    path.chmod(0o640)
    kept_files.write_bytes(path, b"new")
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o640
