"""The cache of compiled code: what is loaded is what was made, whoever cut, changed or put it there."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from raygrove.gpu.target import cache, host_compiler, nvrtc, private_folders, remarks
from raygrove.gpu.target.base import UnitSource
from raygrove.gpu.target.translation_unit import write_unit
from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[3]
NOBODY = 65534
SEVEN = 'extern "C" int seven() { return 7; }'


@pytest.fixture
def places(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> tuple[pathlib.Path, pathlib.Path]:
    """The cache folder and the one for temporary files, both of this test."""
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(private_folders.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(remarks, "_said", {})
    return tmp_path / "cache", tmp_path / f"raygrove-{os.geteuid()}"


def write(path: pathlib.Path) -> None:
    path.write_text("made")


def never(path: pathlib.Path) -> None:
    pytest.fail("made twice")


def cut(length: int) -> Callable[[pathlib.Path], None]:
    return lambda path: os.truncate(path, length if length >= 0 else path.stat().st_size + length)


def flip(place: int) -> Callable[[pathlib.Path], None]:
    def change(path: pathlib.Path) -> None:
        data = bytearray(path.read_bytes())
        data[place] ^= 1
        path.write_bytes(data)

    return change


def replace_by(make: Callable[[pathlib.Path], None]) -> Callable[[pathlib.Path], None]:
    """Put something else at the file's place."""

    def change(path: pathlib.Path) -> None:
        kept = path.rename(path.with_suffix(".kept"))
        make(path)
        if path.is_symlink():
            assert kept.exists()

    return change


DAMAGES = {
    "empty": (cut(0), "not whole"),
    "100 bytes": (cut(100), "not whole"),
    "a page": (cut(4096), "not whole"),
    "three pages": (cut(12288), "not whole"),
    "all but the seal": (cut(-56), "not whole"),
    "all but a byte": (cut(-1), "not whole"),
    "longer": (lambda path: path.write_bytes(path.read_bytes() + b"more"), "not whole"),
    "a byte at the beginning": (flip(5), "checksum"),
    "a byte in the middle": (flip(5000), "checksum"),
    "a byte of the digest": (flip(-1), "checksum"),
    "others can write it": (lambda path: path.chmod(0o666), "others can write it (mode 0666)"),
    "a symbolic link": (replace_by(lambda path: path.symlink_to(path.with_suffix(".kept"))), "symbolic link"),
    "a pipe": (replace_by(os.mkfifo), "not a file"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_library_that_is_not_what_was_made_is_made_anew(
    damage: str, places: tuple[pathlib.Path, pathlib.Path], monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """In a process of its own, which a cut library would end; in the next one without a word."""
    change, reason = DAMAGES[damage]
    assert host_compiler.compile_library(SEVEN, "digest", False).seven() == 7
    (library,) = places[0].glob("host-*.so")
    whole = library.read_bytes()
    kept = library.with_name("other")
    shutil.copy(library, kept)
    kept.replace(library)  # another file than the one that this process has mapped
    change(library)
    code, said, warned = in_a_child(f"print(compile_library({SEVEN!r}, 'digest', False).seven())")
    assert (code, said) == (0, "7") and reason in warned and "It is made anew." in warned, warned
    assert len(library.read_bytes()) == len(whole) and library.stat().st_mode & 0o077 == 0
    assert cache.contents_of(library), "what raises nothing is sound"
    if damage == "a page":
        assert in_a_child(f"print(compile_library({SEVEN!r}, 'digest', False).seven())") == (0, "7", "")


def in_a_child(line: str) -> tuple[int, str, str]:
    """Exit code and both streams of a process that imports the cache and runs a line."""
    code = f"from raygrove.gpu.target.host_compiler import compile_library; {line}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S, check=False)
    return done.returncode, done.stdout.strip(), done.stderr


def test_a_file_of_a_version_without_seals_is_made_anew_without_a_word(
    places: tuple[pathlib.Path, pathlib.Path], caplog: pytest.LogCaptureFixture
) -> None:
    places[0].mkdir()
    (places[0] / "key.so").write_text("of an older version")
    assert cache.contents_of(cache.cached_file("key", ".so", write)) == b"made"
    assert not caplog.records


def evil_library(path: pathlib.Path, mark: pathlib.Path) -> None:
    """A sealed library whose constructor leaves a mark."""
    text = (
        f'#include <stdio.h>\n__attribute__((constructor)) static void leave() {{ fclose(fopen("{mark}", "w")); }}\n'
        + SEVEN
    )
    subprocess.run(
        [*host_compiler.find_compiler(), "-shared", "-fPIC", "-x", "c++", "-", "-o", str(path)],
        input=text,
        text=True,
        check=True,
    )
    cache._seal(path)


def test_a_power_cut_at_any_byte_is_seen(places: tuple[pathlib.Path, pathlib.Path]) -> None:
    """Cut at every length, with each byte another one, and with each byte twice: none is taken for what was made."""
    path = cache.cached_file("key", ".so", lambda path: path.write_bytes(bytes(range(256))))
    whole, refused = path.read_bytes(), 0
    changed = [whole[:length] for length in range(len(whole))]
    changed += [whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :] for at in range(len(whole))]
    changed += [whole[:at] + whole[at : at + 1] + whole[at:] for at in range(len(whole))]
    for data in changed:
        path.write_bytes(data)
        with pytest.raises(cache.DamagedError):
            cache.contents_of(path)
        refused += 1
    path.write_bytes(whole)
    assert cache.contents_of(path) == bytes(range(256)) and refused == 3 * len(whole) == 3 * 312


@pytest.mark.parametrize("foreign", ["folder", "file", "hard link", "parent", "writable folder", "writable parent"])
def test_no_code_of_another_user_is_run(
    foreign: str,
    places: tuple[pathlib.Path, pathlib.Path],
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The names of files are known to everybody, and so is how to seal them."""
    above = tmp_path / "above"
    folder, mark = above / "cache", tmp_path / "mark"
    monkeypatch.setenv("RAYGROVE_CACHE", str(folder))
    host_compiler.compile_library(SEVEN, "digest", False)
    (library,) = folder.glob("host-*.so")
    library.unlink()
    evil_library(library, mark)
    linked = tmp_path / "elsewhere.so"
    if foreign == "hard link":  # somebody's file by another name
        library.rename(linked)
        os.link(linked, library)
    place = {"file": library, "hard link": linked, "parent": above, "writable parent": above}.get(foreign, folder)
    if foreign.startswith("writable"):
        place.chmod(0o777)
    elif os.geteuid() != 0:
        pytest.skip("only root can give files to another user")
    else:
        os.chown(place, NOBODY, NOBODY)
    assert host_compiler.compile_library(SEVEN, "digest", False).seven() == 7
    assert not mark.exists(), "its constructor ran"
    reason = "others can write into" if foreign.startswith("writable") else "belongs to"
    (record,) = caplog.records
    assert reason in record.getMessage() and str(library if place == linked else place) in record.getMessage()
    if foreign not in ("file", "hard link"):
        assert str(places[1]) in record.getMessage() and "RAYGROVE_CACHE" in record.getMessage()
        assert list(places[1].glob("host-*.so")), "the kernels are kept nowhere"


def test_a_library_that_is_loaded_has_no_mark_of_the_evil_one(
    places: tuple[pathlib.Path, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    """The test above means something: the same library, as the user's own, is loaded and leaves its mark."""
    host_compiler.compile_library(SEVEN, "digest", False)
    (library,) = places[0].glob("host-*.so")
    library.unlink()
    evil_library(library, tmp_path / "mark")
    assert in_a_child(f"print(compile_library({SEVEN!r}, 'digest', False).seven())") == (0, "7", "")
    assert (tmp_path / "mark").exists()


def test_what_is_made_is_for_this_user_alone_whatever_the_umask(
    places: tuple[pathlib.Path, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAYGROVE_CACHE", str(places[0] / "deep" / "down"))
    before = os.umask(0)
    try:
        host_compiler.compile_library(SEVEN, "digest", False)
    finally:
        os.umask(before)
    made = [places[0], *places[0].rglob("*")]
    assert len(made) == 4 and not [path for path in made if path.stat().st_mode & 0o077]
    assert all(path.stat().st_mode & 0o777 == 0o700 for path in made if path.is_dir())


def test_a_cache_that_can_only_be_read_is_read_and_what_it_lacks_is_kept_elsewhere(
    places: tuple[pathlib.Path, pathlib.Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept = cache.cached_file("old", ".so", write)
    access = os.access
    monkeypatch.setattr(
        cache.os, "access", lambda path, mode: (path != places[0] or not mode & os.W_OK) and access(path, mode)
    )  # an administrator may write anywhere
    assert cache.cached_file("old", ".so", never) == kept == places[0] / "old-sealed.so"
    assert cache.cached_file("new", ".so", write) == places[1] / "new-sealed.so"
    assert cache.contents_of(cache.cached_file("new", ".so", never)) == b"made"
    (record,) = caplog.records
    assert f"{places[0]} cannot be written" in record.getMessage() and str(places[1]) in record.getMessage()
    os.truncate(kept, 3)
    assert cache.cached_file("old", ".so", write) == places[1] / "old-sealed.so"
    assert "made anew" not in caplog.records[-1].getMessage(), "it stays as it is"


def test_a_cache_that_cannot_be_made_is_replaced(
    places: tuple[pathlib.Path, pathlib.Path], caplog: pytest.LogCaptureFixture
) -> None:
    places[0].write_text("a file in its place")
    assert cache.cache_folder() == cache.cache_folder() == places[1]
    (record,) = caplog.records
    assert "is not a folder" in record.getMessage()


def test_a_full_disk_is_no_reason_to_write_elsewhere(
    places: tuple[pathlib.Path, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        cache.cached_file("new", ".so", full)
    assert not list(places[0].iterdir()), "half a file stayed"
    monkeypatch.setattr(cache.os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        cache.cached_file("new", ".so", write)
    assert not list(places[0].iterdir()), "half a file stayed"
    assert caught.value.filename == str(places[0] / "new-sealed.so")


def test_a_file_lies_on_the_disk_before_it_has_its_name(
    places: tuple[pathlib.Path, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    done, fsync, replace = list[str](), os.fsync, pathlib.Path.replace

    def noted_fsync(handle: int) -> None:
        done.append("folder" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")
        fsync(handle)

    def noted_replace(self: pathlib.Path, goal: pathlib.Path) -> pathlib.Path:
        done.append("name")
        return replace(self, goal)

    monkeypatch.setattr(cache.os, "fsync", noted_fsync)
    monkeypatch.setattr(pathlib.Path, "replace", noted_replace)
    cache.cached_file("new", ".so", write)
    assert done == ["file", "name", "folder"]


def test_a_program_that_is_killed_while_it_writes_leaves_nothing_that_is_taken(
    places: tuple[pathlib.Path, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = places[0] / "begun"
    line = f"""
from raygrove.gpu.target.cache import cached_file
import pathlib, time
def slow(path):
    path.write_text('half')
    pathlib.Path({str(begun)!r}).touch()
    time.sleep(240)
cached_file('key', '.so', slow)"""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{line}"
    with subprocess.Popen([sys.executable, "-c", code]) as child:
        until = time.monotonic() + 120
        while not begun.exists() and time.monotonic() < until:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
    (left,) = places[0].glob(".part-*")
    assert left.read_text() == "half" and not (places[0] / "key-sealed.so").exists()
    assert cache.contents_of(cache.cached_file("key", ".so", write)) == b"made"
    assert left.exists(), "it may still be written"
    os.utime(left, (time.time() - 7200, time.time() - 7200))
    cache.cached_file("second", ".so", write)
    assert left.exists(), "the folder was listed a moment ago"
    monkeypatch.setattr(cache, "_LOOKED_FOR_S", 0.0)
    cache.cached_file("third", ".so", write)
    assert not left.exists()


def _make_often(number: int) -> None:
    for key in range(20):
        path = cache.cached_file(f"key{key}", ".so", lambda path: path.write_bytes(bytes([number]) * 50_000))
        assert len(set(cache.contents_of(path) or b"")) == 1


def test_processes_that_make_the_same_files_at_once_agree(places: tuple[pathlib.Path, pathlib.Path]) -> None:
    """What one writes may differ from what another does, and either is whole."""
    context = multiprocessing.get_context("fork")
    makers = [context.Process(target=_make_often, args=(number,)) for number in (1, 2)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join(120)
    assert [maker.exitcode for maker in makers] == [0, 0]
    assert not cache.damaged_files(places[0]) and len(list(places[0].iterdir())) == 20


def test_a_library_that_is_made_anew_all_the_time_is_loaded_whole(places: tuple[pathlib.Path, pathlib.Path]) -> None:
    """Between the check of a file and its loading by name another one of the same key may take its place."""
    host_compiler.compile_library(SEVEN, "digest", False)
    (library,) = places[0].glob("host-*.so")
    contents = cache.contents_of(library) or b""
    ends, made = threading.Event(), []

    def make_anew() -> None:
        while not ends.is_set():
            made.append(cache._made(library, lambda path: path.write_bytes(contents)))

    maker = threading.Thread(target=make_anew)
    maker.start()
    try:
        line = f"print(*{{compile_library({SEVEN!r}, 'digest', False).seven() for _ in range(200)}})"
        outcomes = [in_a_child(line) for _ in range(3)]
    finally:
        ends.set()
        maker.join()
    assert outcomes == [(0, "7", "")] * 3 and len(made) > 3


def test_what_takes_the_place_of_an_open_file_is_not_what_was_checked(
    places: tuple[pathlib.Path, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cache.cached_file("key", ".so", write)
    fstat = os.fstat

    def replaced_meanwhile(handle: int) -> os.stat_result:
        path.with_suffix(".new").write_bytes(b"another")
        path.with_suffix(".new").replace(path)
        return fstat(handle)

    monkeypatch.setattr(cache.os, "fstat", replaced_meanwhile)
    assert cache.contents_of(path) == b"made" and path.read_bytes() == b"another"


@pytest.mark.parametrize(
    "damage", [name for name in DAMAGES if name not in ("a page", "three pages", "a byte in the middle")]
)
def test_a_cubin_that_is_not_what_was_made_is_made_anew(
    damage: str,
    places: tuple[pathlib.Path, pathlib.Path],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    change, reason = DAMAGES[damage]
    monkeypatch.setattr(nvrtc, "nvrtc_version", lambda: (13, 0))
    made = nvrtc.Cubin(
        b"\x7fELF machine code", "ptxas info : Compiling entry function 'k'\nUsed 40 registers, 12 bytes smem"
    )
    monkeypatch.setattr(nvrtc, "compile_text", lambda *_: made)
    text = write_unit(UnitSource("tests/gpu/target/contract.cu"), "cuda", 1)
    assert nvrtc.compile_unit(text, 90) == made
    (kept,) = places[0].glob("*.cubin")
    change(kept)
    monkeypatch.setattr(nvrtc, "compile_text", lambda *_: nvrtc.Cubin(b"\x7fELF again", made.report))
    assert nvrtc.compile_unit(text, 90).image == b"\x7fELF again"
    (record,) = caplog.records
    assert reason in record.getMessage() and str(kept) in record.getMessage()
    monkeypatch.setattr(nvrtc, "compile_text", lambda *_: pytest.fail("made twice"))
    again = nvrtc.compile_unit(text, 90)
    assert again.image == b"\x7fELF again" and again.resources["k"].registers == 40


def test_a_cache_of_many_files_is_checked_in_no_time(places: tuple[pathlib.Path, pathlib.Path]) -> None:
    """A start loads some tens of libraries of about 100 KiB."""
    for number in range(100):
        cache.cached_file(f"key{number}", ".so", lambda path: path.write_bytes(bytes(100_000)))
    begin = time.thread_time()
    for number in range(100):
        cache.cached_file(f"key{number}", ".so", never)
    assert time.thread_time() - begin < 1.0
