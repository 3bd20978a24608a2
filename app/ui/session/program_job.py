"""Commands of the program itself that a job of the window waits for: they end where the job is cancelled."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Sequence

from raygrove.app.document.jobs import Job
from raygrove.program import COMMAND

CANCEL_INTERVAL_S = 0.1


class ProgramError(ValueError):
    """The command failed: what it said last, a sentence."""


def output_of(job: Job, words: Sequence[str], timeout_s: float) -> str:
    """What `raygrove WORDS` prints. Raises Cancelled, and ProgramError where it fails or takes longer."""
    until = time.monotonic() + timeout_s
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as said,
        subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=said, text=True) as program,
    ):
        while True:
            try:
                printed = program.communicate(timeout=CANCEL_INTERVAL_S)[0]
                break
            except subprocess.TimeoutExpired:
                is_late = time.monotonic() > until
                if job.is_cancelled or is_late:
                    program.kill()
                    job.check()
                    raise ProgramError(f"It took longer than {timeout_s:.0f} s and was stopped.") from None
        if program.returncode != 0:
            said.seek(0)
            lines = said.read().strip().splitlines() or [f"It ended with {program.returncode} and said nothing."]
            raise ProgramError(lines[-1].removeprefix("error: "))
    return printed
