"""A child process that misbehaves as told by the file's name: stands in for `app.scene_io.child` in tests of the
importer."""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from raygrove.app.scene_io.text_blocks import text_of

PROGRESSES: tuple[object, ...] = ("x", None, [1], True, -1.0, 1e300, float("nan"), {})
"""None of them is a share."""


def main() -> None:
    """Misbehave."""
    job = json.loads(sys.stdin.readline())
    path = job["paths"][0] if "paths" in job else job.get("picture") or job.get("tree") or job["rays"]
    fault = os.path.basename(path).split(".")[0]
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif fault == "shorter":
        with text_of(path) as text:
            os.truncate(path, 0)
            text.find(b"v")
    elif fault == "abort":
        os.abort()
    elif fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif fault == "hang":
        time.sleep(600)
    elif fault == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.close(1)
        time.sleep(600)
    elif fault == "memory":
        print("terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr, flush=True)
        os.abort()
    elif fault == "exit":
        sys.exit("something odd")
    elif fault == "garbage":
        os.write(int(sys.argv[1]), b"garbage" * 100)
        print(json.dumps({"done": True}), flush=True)
    elif fault == "nested":
        os.write(int(sys.argv[1]), b"[" * 100_000)
        print(json.dumps({"done": True}), flush=True)
    elif fault == "nonsense":
        for line in ("[" * 100_000, "[1]", "3", *(json.dumps({"progress": one, "text": 5}) for one in PROGRESSES)):
            print(line, flush=True)
        sys.exit("no more to say")
    elif fault == "babble":
        while True:
            os.write(1, b"x" * 65536)


main()
