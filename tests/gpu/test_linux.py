"""What Linux is asked, and what is said where there is another system."""

from __future__ import annotations

import ctypes
import errno
import os
import pathlib
import resource
import subprocess
import sys
import threading

import pytest

from raygrove.gpu import linux
from tests.waiting import PROCESS_S

ELSEWHERE = """
import ctypes, importlib, os, platform, signal, subprocess, sys, numpy, numpy.typing, logging.handlers
import asyncio, tempfile, threading, multiprocessing, argparse, selectors, socket, webbrowser
sys.platform = "win32"
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in ("sched_getaffinity", "geteuid", "getuid", "killpg", "fchmod", "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC"):
    delattr(os, name)
del signal.SIGHUP, signal.SIGKILL
import raygrove
for name in raygrove.__all__:
    getattr(raygrove, name)
try:
    raygrove.build([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
except raygrove.NoDeviceError as error:
    print(error)
from raygrove.app.cli.main import main
print(main(["render", "--demo", "orbit"]), main(["--version"]))
"""


def test_elsewhere_it_is_imported_and_says_so() -> None:
    command = [sys.executable, "-c", ELSEWHERE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stderr
    sentence = linux.system_problem("win32")
    assert sentence.startswith("Raygrove runs on Linux x86-64; on this system (win32)") and not linux.system_problem()
    lines = done.stdout.splitlines()
    assert lines[0] == sentence and lines[-1] == "4 0" and f"error: {sentence}" in done.stderr


def test_memory_and_processors() -> None:
    total, free = linux.main_memory()
    assert total >= free > 1 << 24 and 0 < linux.free_memory() <= free * 1.5
    assert linux.processors() == len(os.sched_getaffinity(0))
    assert ("processor", "0") in linux.processor_lines()
    assert linux.user_name(linux.user()) and linux.user_name(987_654_321) == "user 987654321"


def test_what_linux_does_not_say_is_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setattr(linux, "_PROC", tmp_path)
    assert linux.main_memory() == (0, 0) and linux.processor_lines() == []
    with pytest.raises(OSError):
        linux.open_queue_times()


def test_memory_that_is_left_is_that_of_this_process() -> None:
    code = "from raygrove.gpu.linux import free_memory; print(free_memory())"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S, check=True, preexec_fn=limit
    )
    assert 0 < int(done.stdout) < 1 << 30
    assert linux.free_memory() > int(done.stdout)


def test_memory_may_grow_by_no_more_within_a_block() -> None:
    """In a process of its own, as others here map what they like meanwhile."""
    code = """
import resource
from raygrove.gpu.linux import growth_within
before = resource.getrlimit(resource.RLIMIT_AS)
with growth_within(256 << 20):
    print(len(bytearray(64 << 20)))
    try:
        bytearray(512 << 20)
    except MemoryError:
        print("refused")
    with growth_within(1 << 40):
        print(resource.getrlimit(resource.RLIMIT_AS)[0] < 1 << 40)
print(resource.getrlimit(resource.RLIMIT_AS) == before, len(bytearray(512 << 20)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S, check=True)
    assert done.stdout.split() == [str(64 << 20), "refused", "True", "True", str(512 << 20)]


def test_a_file_in_memory_is_gone_afterwards() -> None:
    with linux.file_in_memory(b"particles") as path:
        assert pathlib.Path(path).read_bytes() == b"particles"
    assert not os.path.exists(path)


def test_what_lies_free_between_blocks_goes_back() -> None:
    """Nearly all of many blocks of the C library are freed, and the last one stays: a heap that ends in what is in use
    keeps all of it."""
    library, size = ctypes.CDLL(None), 40_000
    library.malloc.restype, library.free.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
    library.malloc_trim(0)
    blocks = [library.malloc(size) for _ in range(1500)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    held = [block for number, block in enumerate(blocks) if number % 50 == 49]
    for number, block in enumerate(blocks):
        if number % 50 != 49:
            library.free(block)
    before = resident()
    linux.give_memory_back()
    freed = before - resident()
    for block in held:
        library.free(block)
    assert freed > 0.5 * size * len(blocks)


THREADS_OF_A_HEAP = """
import ctypes, sys, threading
from raygrove.gpu import linux
if sys.argv[1] == "one":
    linux.use_one_heap()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
found = []
def ask():
    block = library.malloc(1000)
    found.append(ctypes.c_size_t.from_address(block - 8).value & 4)  # glibc's mark of a heap beside the first
threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(any(found))
"""


@pytest.mark.parametrize(("heaps", "beside"), [("one", "False"), ("many", "True")])
def test_threads_share_a_heap_where_that_is_asked(heaps: str, beside: str) -> None:
    command = [sys.executable, "-c", THREADS_OF_A_HEAP, heaps]
    environment = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=PROCESS_S)
    assert found.stdout.strip() == beside


def resident() -> int:
    """Bytes of this process in main memory."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_seconds_of_children_are_those_of_the_processor() -> None:
    before = linux.seconds_of_children()
    subprocess.run(
        [sys.executable, "-c", "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"],
        check=True,
    )
    assert linux.seconds_of_children() - before >= 0.2
    before = linux.seconds_of_children()
    subprocess.run(["sleep", "0.3"], check=True)
    assert linux.seconds_of_children() - before < 0.2


def test_a_library_is_there_where_the_system_can_load_it() -> None:
    assert linux.has_library("libc.so.6")
    assert not linux.has_library("libraygrove-of-nobody.so.1")


@pytest.mark.parametrize("name", ["dri/renderD128", "nvidiactl", "dxg", "null"])
def test_a_graphics_card_is_a_device(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, name: str) -> None:
    monkeypatch.setattr(linux, "_DEVICES", tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    assert linux.has_graphics_card() == (name != "null")


def test_a_thread_that_comes_later_takes_those_with_it_that_it_starts_and_no_others() -> None:
    found = list[int]()

    def note() -> None:
        found.append(os.getpriority(os.PRIO_PROCESS, 0))

    def come_later() -> None:
        linux.come_after_other_threads()
        note()
        started = threading.Thread(target=note)
        started.start()
        started.join()

    before = os.getpriority(os.PRIO_PROCESS, 0)
    later = threading.Thread(target=come_later)
    later.start()
    later.join()
    assert found == [min(before + linux._LATER, linux._LOWEST_PRIORITY)] * 2
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_a_thread_goes_on_where_the_system_keeps_all_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that refuses the call, as our own does: without the render thread no picture would ever come."""

    def refuse(*given: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "setpriority", refuse)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    linux.come_after_other_threads()
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


LOADED_BESIDE = """
import pathlib, sys
from raygrove.gpu.linux import load_beside_others
load_beside_others("av")
load_beside_others("no_such_package")
assert "av" not in sys.modules, "nothing of it runs yet"
assert "libavcodec" in pathlib.Path("/proc/self/maps").read_text()
import av
load_beside_others("av")
"""


def test_libraries_of_a_package_are_loaded_before_its_import() -> None:
    pytest.importorskip("av", reason="PyAV is not installed (the extra `video`)")
    done = subprocess.run(
        [sys.executable, "-c", LOADED_BESIDE], capture_output=True, text=True, timeout=PROCESS_S, check=False
    )
    assert done.returncode == 0, done.stderr
