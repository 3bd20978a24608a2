"""What the window's thread did while it was late is kept; a thread that is in time leaves nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

from raygrove.app.ui.measuring.late_stacks import stack_of
from tests.waiting import PROCESS_S

LATE = """
import json, sys, time
from PySide6.QtCore import QCoreApplication, QTimer
from raygrove.app.ui.measuring.heartbeat import Heartbeat

application = QCoreApplication([])
beat = Heartbeat(watches=True)

def stand_still():
    beat.begin("standing still")
    time.sleep(0.2)
    beat.begin("after it")
    begin_own_work()

def begin_own_work():
    time.sleep(0.2)
    beat.pass_over()
    QTimer.singleShot(300, application.quit)

QTimer.singleShot(100, stand_still)
application.exec()
beat.rest()
print(json.dumps([beat.all_ms, [one.told() for one in beat.late]]))
"""


def test_a_late_beat_says_what_was_done_and_where_the_thread_stood() -> None:
    """In a process of its own: Python has one watchdog."""
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stderr
    all_ms, late = json.loads(done.stdout)
    ours = [one for one in late if one["name"] == "standing still"]
    assert len(ours) == 1 and ours[0]["wall_ms"] >= 199.0 and ours[0]["cpu_ms"] < 100.0
    assert any("stand_still" in line for line in ours[0]["stack"]), ours
    assert not any("begin_own_work" in line for one in late for line in one["stack"]), "what is passed over is no pause"
    assert len(all_ms) > 20 and max(all_ms) == max(one["wall_ms"] for one in late)


def test_of_all_threads_the_asked_ones_calls_are_taken() -> None:
    text = """Timeout (0:00:00.050000)!
Thread 0x00000000000000ab (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait
Thread 0x00000000000000cd (most recent call first):
  File "/srv/app/ui/window/docks.py", line 12 in _look
  File "<string>", line 3 in <module>
"""
    assert stack_of(text, 0xCD) == ["docks.py, line 12 in _look", "<string>, line 3 in <module>"]
    assert stack_of(text, 0xEF) == [] and stack_of("", threading.get_ident()) == []
