"""The folder of results: whole files or none, whatever happens to the disk or to who writes."""

from __future__ import annotations

import errno
import json
import os
import pathlib
import threading
import time
import types

import pytest

from raygrove.bench.store.folder import MARK, Store, StoreError
from raygrove.bench.store.jobs import sha_of
from raygrove.bench.store.reading import read_results
from raygrove.gpu.errors import UnreadableError


def record(number: int, **more: object) -> dict[str, object]:
    return {"job": {"number": number}, "status": "done", **more}


def parts(folder: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in folder.rglob("*") if path.name.endswith(".part")]


def test_what_is_put_is_got_by_its_hash(tmp_path: pathlib.Path) -> None:
    store = Store.made(tmp_path / "new" / "store")
    sha = store.put(record(1, rows=[{"trace_ms": 1.5}]))
    assert sha == sha_of({"number": 1}) and store.has(sha) and not store.has(sha_of({"number": 2}))
    assert store.path_of(sha) == tmp_path / "new" / "store" / sha[:2] / f"{sha}.json"
    assert store.get(sha) == {**record(1, rows=[{"trace_ms": 1.5}]), "sha": sha}
    others = {store.put(record(number)) for number in range(2, 40)}
    again = Store(tmp_path / "new" / "store")
    assert set(again.hashes()) == {sha, *others} and list(again.hashes()) == sorted({sha, *others})
    assert {one["sha"] for one in again.records()} == {sha, *others} and not parts(tmp_path)


def test_a_folder_with_other_things_is_no_store(tmp_path: pathlib.Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StoreError, match="holds other things"):
        Store.made(tmp_path)
    with pytest.raises(StoreError, match="is no store of results"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="no such folder"):
        Store(tmp_path / "none")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [('{"format": 9}', "format 9"), ("{", "cannot be read"), ("[]", "read"), ("[" * 200_000, "cannot be read")],
    ids=["version", "cut", "list", "deep"],
)
def test_a_store_of_another_format_is_refused(tmp_path: pathlib.Path, text: str, sentence: str) -> None:
    (tmp_path / MARK).write_text(text)
    with pytest.raises(StoreError, match=sentence):
        Store.made(tmp_path)


def test_a_store_that_went_away_is_not_made_again(tmp_path: pathlib.Path) -> None:
    store = Store.made(tmp_path / "disk")
    (tmp_path / "disk").rename(tmp_path / "unplugged")
    with pytest.raises(StoreError, match="not there any more"):
        store.put(record(1))
    assert not (tmp_path / "disk").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said_before_any_work(tmp_path: pathlib.Path) -> None:
    Store.made(tmp_path / "store")
    (tmp_path / "store").chmod(0o555)
    with pytest.raises(PermissionError):
        Store.made(tmp_path / "store")


@pytest.mark.parametrize(("flag", "words"), [(os.ST_RDONLY, "Read-only file system"), (0, "Permission denied")])
def test_a_disk_that_is_only_read_is_told_from_one_that_is_not_ours(
    flag: int, words: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.made(tmp_path / "store")
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: types.SimpleNamespace(f_flag=flag))
    with pytest.raises(OSError, match=words):
        Store.made(tmp_path / "store")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_is_full_leaves_nothing_half(
    tmp_path: pathlib.Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.made(tmp_path)
    sha = store.put(record(1, note="old"))

    def refuse(file: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    for one in (record(1, note="new"), record(2)):
        with pytest.raises(OSError, match=os.strerror(number)):
            store.put(one)
    assert store.get(sha)["note"] == "old" and list(store.hashes()) == [sha] and not parts(tmp_path)


def test_two_that_write_the_same_result_do_no_harm(tmp_path: pathlib.Path) -> None:
    stores = [Store.made(tmp_path), Store(tmp_path)]

    def write(store: Store, who: int) -> None:
        for turn in range(40):
            store.put(record(turn % 4, who=who, text="x" * 5000))

    threads = [threading.Thread(target=write, args=(store, who)) for who, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for one in stores[0].records():
            assert one["text"] == "x" * 5000  # whole, whoever wrote it
    assert len(list(stores[0].records())) == 4 and not parts(tmp_path)


def test_a_damaged_result_is_named_and_the_others_are_read(tmp_path: pathlib.Path) -> None:
    store = Store.made(tmp_path)
    good, cut, strange, empty = (store.put(record(number)) for number in range(4))
    store.path_of(cut).write_bytes(store.path_of(cut).read_bytes()[:-9])
    store.path_of(strange).write_text(json.dumps({"job": {"number": 0}, "status": "done"}))
    store.path_of(empty).write_bytes(b"")
    damaged: list[str] = []
    assert [one["sha"] for one in store.records(damaged)] == [good]
    assert len(damaged) == 3 and all("is damaged" in sentence and "delete" in sentence for sentence in damaged)
    with pytest.raises(StoreError, match="is damaged"):
        list(store.records())


@pytest.mark.parametrize(
    "changed",
    [{"rows": "none"}, {"rows": [3]}, {"rows": [{"rounds": [1.0]}]}, {"rows": [{"rounds": {"ms": ["1"]}}]},
     {"samples": 3}, {"context": [1]}, {"noise": [1]}],
    ids=str,
)  # fmt: skip
def test_a_result_of_another_shape_is_damaged(changed: dict[str, object], tmp_path: pathlib.Path) -> None:
    """As a store of somebody's may hold: tables and comparisons read none of it."""
    store = Store.made(tmp_path)
    sha = store.put(record(1))
    store.path_of(sha).write_text(json.dumps({**record(1), **changed}))
    with pytest.raises(StoreError, match="its rows or samples are no lists"):
        store.get(sha)


def test_a_result_lies_where_its_job_says_whatever_it_says_itself(tmp_path: pathlib.Path) -> None:
    """Pictures are found by the hash: another one would lead out of the store."""
    store = Store.made(tmp_path)
    sha = store.put(record(1))
    store.path_of(sha).write_text(json.dumps({**record(1), "sha": "../../elsewhere"}))
    assert store.get(sha)["sha"] == sha


def test_clocks_that_are_wrong_change_nothing(tmp_path: pathlib.Path) -> None:
    store = Store.made(tmp_path)
    sha = store.put(record(1))
    for shift in (-3e8, 3e8):
        there = time.time() + shift
        os.utime(store.path_of(sha), (there, there))
        os.utime(tmp_path / MARK, (there, there))
        assert Store.made(tmp_path).get(sha)["job"] == {"number": 1} and store.put(record(1)) == sha


def test_files_that_are_no_results_are_nobodys(tmp_path: pathlib.Path) -> None:
    """Notes of a person, a picture's folder and what a file manager leaves are passed over."""
    store = Store.made(tmp_path / "store")
    sha = store.put(record(1))
    for name in ("notes.json", f"{sha}.json~", f".{sha}.json.x.part", f"{sha[:-1]}.json"):
        (store.folder / sha[:2] / name).write_text("mine")
    store.pictures_of(sha).mkdir()
    (store.folder / "mine").mkdir()
    assert list(store.hashes()) == [sha] and [one["sha"] for one in store.records()] == [sha]


def test_a_picture_is_a_file_of_the_store(tmp_path: pathlib.Path) -> None:
    """A store may be somebody else's, and its results and links may name what is private here."""
    store = Store.made(tmp_path / "store")
    sha = store.put(record(1))
    store.pictures_of(sha).mkdir()
    own = store.pictures_of(sha) / "own.png"
    own.write_bytes(b"drawn")
    (tmp_path / "secret").write_bytes(b"secret")
    (own.parent / "link.png").symlink_to(tmp_path / "secret")
    os.mkfifo(own.parent / "pipe.png")
    assert store.picture(sha, "own.png") == own and store.picture(sha, "../../../own.png") == own
    for name, why in {
        "link.png": "leads out of the store",
        "pipe.png": "is not there",
        "/etc/hostname": "is not",
    }.items():
        with pytest.raises(StoreError, match=why):
            store.picture(sha, name)


@pytest.mark.parametrize("name", ["a\0b.png", "\ud800.png", f"{'a' * 300}.png"], ids=["NUL", "half a letter", "long"])
def test_a_name_that_no_file_can_have_is_not_there(name: str, tmp_path: pathlib.Path) -> None:
    store = Store.made(tmp_path / "store")
    sha = store.put(record(1))
    store.pictures_of(sha).mkdir()
    with pytest.raises(StoreError, match=r"(?s)the picture .*\.png of \w{12} is not there"):
        store.picture(sha, name)


def test_nobody_waits_for_a_pipe(tmp_path: pathlib.Path) -> None:
    store = Store.made(tmp_path / "store")
    store.put(record(1))
    piped = store.path_of(sha_of({"number": 2}))
    piped.parent.mkdir(exist_ok=True)
    os.mkfifo(piped)
    damaged: list[str] = []
    assert len(list(store.records(damaged))) == 1 and "no regular file" in damaged[0]
    for name in ("results.jsonl", "figures.json"):
        os.mkfifo(tmp_path / "store" / name)
        with pytest.raises(UnreadableError, match="no regular file"):
            list(read_results(str(tmp_path / "store" / name)))
    (tmp_path / "store" / MARK).unlink()
    os.mkfifo(tmp_path / "store" / MARK)
    with pytest.raises(StoreError, match="no regular file"):
        Store(tmp_path / "store")
