"""Which folders are taken for this user's alone."""

from __future__ import annotations

import os
import pathlib

import pytest

from raygrove.gpu.target import private_folders, remarks
from raygrove.gpu.target.private_folders import NotPrivateError, open_private, temporary_folder

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders to another user")


@pytest.fixture(autouse=True)
def said_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remarks, "_said", {})


def test_what_is_missing_is_made_for_this_user_alone(tmp_path: pathlib.Path) -> None:
    before = os.umask(0)
    try:
        folder = open_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert folder == tmp_path / "a" / "b" and all(
        place.stat().st_mode & 0o777 == 0o700 for place in (folder, folder.parent)
    )
    assert open_private(folder) == folder


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o500])
def test_a_folder_that_others_may_only_read_is_taken(mode: int, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(mode)
    assert open_private(tmp_path / "a") == tmp_path / "a"


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702, 0o1777])
def test_a_folder_that_others_can_write_is_not_taken(mode: int, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(mode)
    with pytest.raises(NotPrivateError, match=f"others can write into it .mode {mode:04o}"):
        open_private(tmp_path / "a")


@pytest.mark.parametrize(
    ("mode", "is_taken"), [(0o1777, True), (0o1775, True), (0o755, True), (0o777, False), (0o775, False)]
)
def test_above_it_others_may_write_only_with_the_sticky_bit(mode: int, is_taken: bool, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "above" / "a"
    folder.mkdir(parents=True)
    folder.parent.chmod(mode)
    if is_taken:
        assert open_private(folder) == folder
        return
    with pytest.raises(NotPrivateError, match=f"others can write into {folder.parent}"):
        open_private(folder)
    with pytest.raises(NotPrivateError):
        open_private(folder.parent / "new")
    assert not (folder.parent / "new").exists(), "made where it cannot be safe"


@needs_root
def test_a_folder_of_another_user_is_not_taken(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "above" / "a"
    folder.mkdir(parents=True)
    os.chown(folder, NOBODY, NOBODY)
    with pytest.raises(NotPrivateError, match="it belongs to"):
        open_private(folder)
    os.chown(folder, 0, 0)
    os.chown(folder.parent, NOBODY, NOBODY)
    with pytest.raises(NotPrivateError, match=f"{folder.parent} belongs to"):
        open_private(folder)


def test_a_symbolic_link_is_followed_and_where_it_leads_is_asked(tmp_path: pathlib.Path) -> None:
    (tmp_path / "safe").mkdir()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to("safe")
    (tmp_path / "bad").symlink_to("open")
    (tmp_path / "round").symlink_to("round")
    assert open_private(tmp_path / "link") == tmp_path / "safe"
    with pytest.raises(NotPrivateError, match="others can write"):
        open_private(tmp_path / "bad")
    with pytest.raises(NotPrivateError, match="is not a folder"):
        open_private(tmp_path / "round")
    with pytest.raises(NotPrivateError, match="others can write"):
        open_private(tmp_path / "bad" / "below")


@pytest.mark.parametrize("place", ["a", "above"])
def test_a_link_that_takes_a_folders_place_amid_the_look_is_not_followed(
    place: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "above" / "a"
    folder.mkdir(parents=True)
    (tmp_path / "bad" / "a").mkdir(parents=True)
    real, changed = os.path.realpath, folder if place == "a" else folder.parent

    def then_changed(path: pathlib.Path) -> str:
        found = real(path)
        changed.rename(tmp_path / "was")
        changed.symlink_to(tmp_path / "bad")
        return found

    monkeypatch.setattr(private_folders.os.path, "realpath", then_changed)
    with pytest.raises(NotPrivateError, match="is not a folder"):
        open_private(folder)


def test_a_temporary_folder_whose_name_is_taken_is_replaced_by_a_new_one(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(private_folders.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(private_folders, "_made_for_this_process", [])
    usual = tmp_path / f"raygrove-{os.geteuid()}"
    assert temporary_folder() == usual and usual.stat().st_mode & 0o777 == 0o700
    usual.chmod(0o777)
    other = temporary_folder()
    assert other != usual and other.parent == tmp_path and other.stat().st_mode & 0o777 == 0o700
    assert temporary_folder() == other, "a new one at each call"
    (record,) = caplog.records
    assert str(usual) in record.getMessage() and "others can write into it" in record.getMessage()
    tmp_path.chmod(0o777)
    with pytest.raises(NotPrivateError, match="TMPDIR"):
        temporary_folder()
