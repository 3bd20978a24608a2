"""Commands of the program itself that a job of the window waits for: they end where the job is cancelled."""

from __future__ import annotations

import collections
import math
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence

from raygrove.app.document.jobs import Job
from raygrove.app.problems.problems import ProgramError
from raygrove.program import COMMAND

CANCEL_INTERVAL_S = 0.1
KEPT_LINES = 20
"""Of what a command says, for the sentence about its failure."""


def output_of(
    job: Job, words: Sequence[str], timeout_s: float = math.inf, hear: Callable[[str], None] = lambda line: None
) -> str:
    """What `raygrove WORDS` prints; `hear` gets what it says on stderr, line by line, on a thread of its own. Raises
    Cancelled, and ProgramError where it fails or takes longer."""
    until, said = time.monotonic() + timeout_s, collections.deque[str](maxlen=KEPT_LINES)
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as printed,
        subprocess.Popen([*COMMAND, *words], stdout=printed, stderr=subprocess.PIPE, text=True) as program,
    ):
        listener = threading.Thread(target=_listen, args=(program, said, hear), daemon=True)
        listener.start()
        while True:
            try:
                program.wait(CANCEL_INTERVAL_S)
                break
            except subprocess.TimeoutExpired:
                is_late = time.monotonic() > until
                if job.is_cancelled or is_late:
                    program.kill()
                    job.check()
                    raise ProgramError(f"It took longer than {timeout_s:.0f} s and was stopped.") from None
        listener.join()
        if program.returncode != 0:
            last = said[-1] if said else f"It ended with {program.returncode} and said nothing."
            raise ProgramError(last.removeprefix("error: "))
        printed.seek(0)
        return printed.read()


def _listen(program: subprocess.Popen[str], said: collections.deque[str], hear: Callable[[str], None]) -> None:
    for line in program.stderr or ():
        if line.strip():
            said.append(line.strip())
            hear(line.strip())
