"""A child process that misbehaves as told by the file's name: stands in for `app.scene_io.child` in tests of the
importer."""

from __future__ import annotations

import json
import os
import signal
import sys
import time


def main() -> None:
    """Misbehave."""
    job = json.loads(sys.stdin.readline())
    fault = os.path.basename(job["paths"][0]).split(".")[0]
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
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
    elif fault == "babble":
        while True:
            os.write(1, b"x" * 65536)


main()
