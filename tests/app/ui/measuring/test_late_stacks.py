"""What the window's thread did while it was late is kept; a thread that is in time leaves nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import time

from raygrove.app.ui.measuring.late_stacks import LateStacks
from tests.waiting import EVENT_S, PROCESS_S

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
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stderr
    all_ms, late = json.loads(done.stdout)
    ours = [one for one in late if one["name"] == "standing still"]
    assert len(ours) == 1 and ours[0]["wall_ms"] >= 199.0 and ours[0]["cpu_ms"] < 100.0
    assert any("stand_still" in line for line in ours[0]["stack"]), ours
    assert not any("begin_own_work" in line for one in late for line in one["stack"]), "what is passed over is no pause"
    assert len(all_ms) > 20 and max(all_ms) == max(one["wall_ms"] for one in late)


def test_the_stack_is_that_of_the_thread_that_armed_it() -> None:
    stacks = LateStacks(0.05)
    stacks.arm()
    end = time.monotonic() + EVENT_S
    while not stacks._found and time.monotonic() < end:
        time.sleep(0.005)
    found = stacks.take()
    stacks.close()
    assert any("test_the_stack_is_that_of_the_thread_that_armed_it" in line for line in found), found
    assert all("/" not in line for line in found)


def test_who_is_in_time_leaves_no_stack() -> None:
    stacks = LateStacks(10.0)
    for _ in range(20):
        stacks.arm()
        time.sleep(0.005)
    assert stacks.take() == []
    stacks.close()
