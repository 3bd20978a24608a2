"""What a process in the sandbox can no longer do, tried in a process of its own; and that it can without."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from raygrove.gpu import linux_sandbox

TRIALS = """
import ctypes, errno, fcntl, json, os, pathlib, resource, signal, socket, subprocess, sys, tempfile, threading
from raygrove.gpu import linux_sandbox

kinds, own, scratch, other = sys.argv[1].split("+"), *map(pathlib.Path, sys.argv[2:5])
if "files" in kinds:
    linux_sandbox.keep_to_files([own, other / "named", *linux_sandbox.own_libraries()], [scratch])
if "calls" in kinds:
    linux_sandbox.refuse_calls()

def fork():
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)

def thread():
    heard = []
    one = threading.Thread(target=lambda: heard.append(1))
    one.start()
    one.join()
    assert heard

def notices():
    heard = ctypes.CDLL(None, use_errno=True).inotify_init()
    if heard < 0:
        raise OSError(ctypes.get_errno(), "")
    os.close(heard)

def quotas():
    # of no file, and whoever may ask hears so
    if ctypes.CDLL(None, use_errno=True).syscall(443, -1, 0, 0, 0) < 0 and ctypes.get_errno() == errno.EPERM:
        raise OSError(errno.EPERM, "")

def unless_refused(ask):
    # of what a file system may not have, and whoever may ask hears so
    try:
        ask()
    except OSError as error:
        if error.errno == errno.EPERM:
            raise

def flags():
    with open(own / "model", "rb") as file:
        fcntl.ioctl(file, 0x40086602, fcntl.ioctl(file, 0x80086601, bytes(8)))

def lease():
    with open(own / "model", "rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)

def call(number):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, -1, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "")

parent = os.getppid()
trials = {
    "read own": lambda: (own / "model").read_bytes(),
    "list own": lambda: os.listdir(own),
    "read a named file": lambda: (other / "named").read_bytes(),
    "write scratch": lambda: tempfile.TemporaryFile(dir=scratch).write(b"x"),
    "read libraries": lambda: pathlib.Path("/proc/self/statm").read_text(),
    "read memory file": lambda: open(f"/proc/self/fd/{os.memfd_create('x')}").read(),
    "thread": thread,
    "own limits": lambda: resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE)),
    "own processors": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    "terminals": lambda: (os.isatty(0), os.set_inheritable(1, True), os.get_blocking(1)),
    "locks and copies": lambda: (fcntl.fcntl(1, fcntl.F_GETFD), os.dup(1), fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 9)),
    "read another": lambda: (other / "secret").read_bytes(),
    "list another": lambda: os.listdir(other),
    "read by way of own": lambda: (own / ".." / "other" / "secret").read_bytes(),
    "read a link": lambda: (own / "link").read_bytes(),
    "write own": lambda: (own / "new").write_bytes(b""),
    "append to own": lambda: open(own / "model", "ab"),
    "make a link": lambda: os.symlink("model", own / "newer"),
    "make a folder": lambda: os.mkdir(scratch / "folder"),
    "remove another": lambda: os.unlink(other / "removed"),
    "cut another": lambda: os.truncate(other / "cut", 0),
    "rename another": lambda: os.rename(other / "renamed", scratch / "mine"),
    "environment of the parent": lambda: pathlib.Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "socket": lambda: socket.socket().close(),
    "local sockets": lambda: [one.close() for one in socket.socketpair()],
    "program": lambda: subprocess.run(["/bin/true"], check=True),
    "exec": lambda: os.execv("/bin/true", ["true"]) if "calls" in kinds else None,
    "fork": fork,
    "signal": lambda: os.kill(os.getppid(), 0),
    "modes": lambda: os.chmod(own / "model", 0o600),
    "times": lambda: os.utime(own / "model"),
    "limits": lambda: resource.prlimit(parent, resource.RLIMIT_CORE, resource.prlimit(parent, resource.RLIMIT_CORE)),
    "processors": lambda: os.sched_setaffinity(parent, os.sched_getaffinity(parent)),
    "turns": lambda: os.sched_setscheduler(parent, os.SCHED_OTHER, os.sched_param(0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent)),
    "owner of a file": lambda: fcntl.fcntl(1, fcntl.F_SETOWN, parent),
    "user": lambda: os.setuid(os.getuid()),
    "notices": notices,
    "quotas": quotas,
    "flags of a file": lambda: unless_refused(flags),
    "attributes of a file": lambda: unless_refused(lambda: call(469)),
    "a lease": lambda: unless_refused(lease),
    "notices of a folder": lambda: unless_refused(lambda: fcntl.fcntl(os.open(own, os.O_RDONLY), fcntl.F_NOTIFY, 0)),
}
done = {}
for name, trial in trials.items():
    try:
        trial()
        done[name] = "done"
    except OSError as error:
        done[name] = os.strerror(error.errno)
print(json.dumps(done))
sys.stdout.flush()
if "crash" in kinds:
    os.abort()
"""
ALLOWED = (
    *("read own", "list own", "read a named file", "write scratch", "read libraries", "read memory file"),
    *("thread", "own limits", "own processors", "terminals", "locks and copies"),
)
FILES = (
    *("read another", "list another", "read by way of own", "read a link", "write own", "append to own"),
    *("make a link", "make a folder", "remove another", "cut another", "rename another", "environment of the parent"),
)
CALLS = (
    *(
        "socket",
        "local sockets",
        "program",
        "exec",
        "fork",
        "signal",
        "modes",
        "times",
        "limits",
        "processors",
        "turns",
    ),
    *("priority", "owner of a file", "user", "notices", "quotas"),
    *("flags of a file", "attributes of a file", "a lease", "notices of a folder"),
)

has_both = pytest.mark.skipif(
    not (linux_sandbox.landlock_version() and linux_sandbox.has_seccomp()),
    reason="this kernel has no Landlock or no seccomp",
)


def tried(kinds: str, folder: Path, exit_code: int = 0) -> dict[str, str]:
    """What became of each trial in a process that gave up those kinds of things."""
    own, scratch, other = (folder / name for name in ("own", "scratch", "other"))
    for path in (own, scratch, other):
        path.mkdir()
    (own / "model").write_bytes(b"triangles")
    (own / "link").symlink_to(other / "secret")
    for name in ("named", "secret", "removed", "cut", "renamed"):
        (other / name).write_bytes(b"secret")
    command = [sys.executable, "-P", "-c", TRIALS, kinds, str(own), str(scratch), str(other)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    assert ended.returncode == exit_code, ended.stderr
    return json.loads(ended.stdout)


def test_without_a_sandbox_all_of_it_can_be_done(tmp_path: Path) -> None:
    """Else the trials would show nothing."""
    done = tried("nothing", tmp_path)
    assert {*done} == {*ALLOWED, *FILES, *CALLS} and {*done.values()} == {"done"}


@has_both
def test_files_alone(tmp_path: Path) -> None:
    done = tried("files", tmp_path)
    assert all(done[name] == "done" for name in ALLOWED), done
    assert all(done[name] in ("Permission denied", "Invalid cross-device link") for name in FILES), done
    assert (tmp_path / "other" / "cut").read_bytes() == b"secret" and (tmp_path / "other" / "removed").exists()


@has_both
def test_calls_alone(tmp_path: Path) -> None:
    done = tried("calls", tmp_path)
    assert all(done[name] == "done" for name in (*ALLOWED, *FILES)), done
    assert all(done[name] == "Operation not permitted" for name in CALLS), done


@has_both
def test_a_crash_is_still_seen_as_one(tmp_path: Path) -> None:
    done = tried("files+calls+crash", tmp_path, exit_code=-6)
    assert all(done[name] == "done" for name in ALLOWED) and all(done[name] != "done" for name in (*FILES, *CALLS))


@has_both
def test_calls_are_refused_to_threads_that_run_already(tmp_path: Path) -> None:
    program = """
import socket, threading
from raygrove.gpu import linux_sandbox
begin, ended = threading.Event(), []
def work():
    begin.wait()
    try:
        socket.socket()
    except PermissionError:
        ended.append("refused")
one = threading.Thread(target=work)
one.start()
linux_sandbox.refuse_calls()
begin.set()
one.join()
print(*ended)
"""
    ended = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["refused"]


def test_the_calls_that_are_refused_are_named_once() -> None:
    numbers = [number for kinds in linux_sandbox.REFUSED_CALLS.values() for number in kinds]
    assert len(numbers) == len({*numbers}) and len(numbers) < 250  # a jump of the filter is one byte


@has_both
@pytest.mark.parametrize("asked", [317, 444], ids=["seccomp", "Landlock"])
def test_what_a_container_keeps_away_is_not_there(asked: int) -> None:
    """Where a filter around this process says so of the call by which it is asked for."""
    program = """
import ctypes, struct, sys
from raygrove.gpu import linux_sandbox
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[1])), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000)]
linux_sandbox._filter = lambda: [struct.pack("=HBBI", *line) for line in lines]
print(linux_sandbox.has_seccomp(), linux_sandbox.landlock_version() > 0)
linux_sandbox.refuse_calls()
print(linux_sandbox.has_seccomp(), linux_sandbox.landlock_version() > 0)
"""
    command = [sys.executable, "-P", "-c", program, str(asked)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert said == ["True", "True", str(asked != 317), str(asked != 444)]


REFUSED, ABSENT, ALLOW = 0x00050001, 0x00050026, 0x7FFF0000
OTHERS = [
    (0, (), ALLOW),
    (41, (), REFUSED),
    (435, (), ABSENT),
    (469, (), REFUSED),
    (470, (), ABSENT),
    (9999, (), ABSENT),
]
IOCTLS = [(16, (0, what), ALLOW) for what in (0x5401, 0x5451)]
FLAGS = [(16, (0, what), REFUSED) for what in (0x5412, 0x8901, 0x40086602, 0x401C5820)]
FCNTLS = [
    (72, (0, what), REFUSED if what in (8, 15, 1024, 1026) else ALLOW) for what in (0, 4, 8, 15, 1024, 1026, 1030)
]


@pytest.mark.parametrize(("number", "arguments", "answer"), [*OTHERS, *IOCTLS, *FLAGS, *FCNTLS])
def test_what_the_filter_answers(number: int, arguments: tuple[int, ...], answer: int) -> None:
    """Also of calls that no kernel has yet: they are not there."""
    values = {0: number, 4: 0xC000003E, **{16 + 8 * place: value for place, value in enumerate(arguments)}}
    place = loaded = 0
    lines = [struct.unpack("=HBBI", line) for line in linux_sandbox._filter()]
    while (line := lines[place])[0] != 0x06:
        code, if_true, if_false, value = line
        place += 1
        if code == 0x20:
            loaded = values.get(value, 0)
        else:
            place += if_true if {0x15: loaded == value, 0x35: loaded >= value, 0x45: loaded & value}[code] else if_false
    assert line[3] == answer


def test_files_that_threads_share_are_not_believed_to_be_kept(tmp_path: Path) -> None:
    """Landlock binds the thread that asks for it: with others running, files would stay open to them."""
    program = """
import pathlib, sys, threading
from raygrove.gpu import linux_sandbox
end = threading.Event()
threading.Thread(target=end.wait).start()
try:
    linux_sandbox.keep_to_files([pathlib.Path("/")])
except linux_sandbox.SandboxError as error:
    print(error)
end.set()
"""
    ended = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert "2 threads" in ended.stdout or not linux_sandbox.landlock_version()
