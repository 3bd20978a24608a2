"""Tests in forks of a process that has made once what they all begin with.

A `Nursery` is forked from the process of the tests, prepares, and forks a child for each test that it is asked for. The
child runs the test as pytest does, with all that hooks do around it, and hands its reports over; it ends with what the
test has left behind, so that no test finds anything of another. One that crashes is reported by name.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, Pipe
from typing import Any, cast

import pytest
from _pytest.runner import runtestprotocol

from tests import costs
from tests.waiting import EVENT_S

AfterEach = Callable[[], None]
"""What a nursery does once a test has ended."""

LONGER_S = 60.0
"""A test that hangs ends itself by its time limit, and shows where it stood; only later it is ended from outside."""


class Nursery:
    """See the module. `prepare` is called in the process that forks, before the first test."""

    def __init__(self, items: Sequence[pytest.Item], prepare: Callable[[], AfterEach]) -> None:
        self._places = {item: place for place, item in enumerate(items)}
        self._asked, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self._pid = _fork()
        if self._pid == 0:
            self._asked.close()
            _run_nursery(theirs, items, prepare, parent)
        theirs.close()

    def run(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Run a test, in place of pytest's own pytest_runtest_protocol."""
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self._reports(item):
            item.ihook.pytest_runtest_logreport(report=report)
        item.session._setupstate.teardown_exact(nextitem)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _reports(self, item: pytest.Item) -> list[pytest.TestReport]:
        """Of a test; what warned in it warns here, too. Processor seconds that no report counts, as those
        of preparing, go to the first."""
        child, before = 0, _let_longer()
        try:
            self._asked.send(self._places[item])
            child = self._asked.recv()
            status, spent, answer = self._asked.recv()
        except (EOFError, OSError):
            return [_failed(item, "the process that forks tests has ended; what it said is above")]
        except BaseException as error:
            if child:
                os.kill(child, signal.SIGABRT)  # which shows where its threads stand
                self._asked.recv()
            if isinstance(error, pytest.fail.Exception):
                return [_failed(item, f"the test did not end: {error}")]
            raise
        finally:
            if before:
                signal.setitimer(signal.ITIMER_REAL, before)
        if status or not answer:
            return [_failed(item, f"the test's process ended by {_words_of(status)}")]
        return _read(item, answer, spent)

    def end(self) -> None:
        """End the process; nothing is asked of it any more."""
        self._asked.close()
        os.waitpid(self._pid, 0)


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the threads of pytest-xdist wait for messages
        return os.fork()


def _let_longer() -> float:
    """The seconds that this test has left, 0 without a limit; they are more from now on."""
    left = signal.getitimer(signal.ITIMER_REAL)[0]
    if left:
        signal.setitimer(signal.ITIMER_REAL, left + LONGER_S)
    return left


def _words_of(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _failed(item: pytest.Item, words: str) -> pytest.TestReport:
    return pytest.TestReport(item.nodeid, item.location, {item.name: 1}, "failed", words, "call")


def _read(item: pytest.Item, answer: bytes, spent: float) -> list[pytest.TestReport]:
    rows, warned = pickle.loads(answer)
    if not rows:
        return [_failed(item, "the test's process has not reported on it")]
    read = item.config.hook.pytest_report_from_serializable
    reports = [cast(pytest.TestReport, read(config=item.config, data=row)) for row in rows]
    counted: list[dict[str, float]] = [report.costs for report in reports if hasattr(report, "costs")]
    if counted:
        counted[0]["own"] += spent - sum(row[part] for row in counted for part in costs.PARTS if part != "wall")
    for text, file, line in warned:
        warnings.warn_explicit(text, UserWarning, file, line)
    return reports


# -- the process that forks -------------------------------------------------------------------------------------------
def _run_nursery(
    asked: Connection, items: Sequence[pytest.Item], prepare: Callable[[], AfterEach], parent: int
) -> None:
    """Fork for each test that is asked for, until nobody can ask any more."""
    from raygrove.gpu.linux import end_with_parent

    ended = 1
    try:
        end_with_parent()
        if os.getppid() != parent:
            return
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started the tests ends them
        _tell_nobody(items[0].config.pluginmanager)
        after_each = prepare()
        _wait_for_threads()
        gc.freeze()
        before = 0.0
        while True:
            item = items[asked.recv()]
            answer = os.memfd_create("reports")
            child = _fork()
            if child == 0:
                asked.close()
                _run_child(item, answer)
            asked.send(child)
            _, status, used = os.wait4(child, 0)
            with os.fdopen(answer, "rb") as file:
                file.seek(0)
                text = file.read()
            after_each()
            now = _seconds_here()
            asked.send((status, used.ru_utime + used.ru_stime + now - before, text))
            before = now
    except EOFError:
        ended = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(ended)


def _wait_for_threads() -> None:
    """Until this process has no thread but this one: others do not live on in a fork, and what they hold stays held.
    Numpy's end with the first fork, and do not come back by themselves."""
    if (nobody := _fork()) == 0:
        os._exit(0)
    os.waitpid(nobody, 0)
    until = time.monotonic() + EVENT_S
    while len(threads := os.listdir("/proc/self/task")) > 1:
        if time.monotonic() > until:
            raise RuntimeError(f"threads that do not end: {threads} and {threading.enumerate()}")
        time.sleep(0.01)


def _tell_nobody(plugins: pytest.PytestPluginManager) -> None:
    """Take away what talks to the process that tests were handed out by."""
    for plugin in plugins.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            plugins.unregister(plugin)


def _seconds_here() -> float:
    used = os.times()
    return used.user + used.system


class Alone:
    """Runs a test in its child without telling anybody but who asked for it. `nextitem` of pytest, too: a test beside
    this one, so that what is made for more than one test stays as it is."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self.reports: list[pytest.TestReport] = []
        self.warned: list[tuple[str, str, int]] = []

    def listchain(self) -> list[Any]:
        """The test's module, and what that is in."""
        return self._item.listchain()[:-1]

    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        self.reports = runtestprotocol(item, log=False, nextitem=cast(pytest.Item, self))
        return True

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        text = f"{warning_message.category.__name__}: {warning_message.message}"
        self.warned.append((text, warning_message.filename, warning_message.lineno))


def _run_child(item: pytest.Item, answer: int) -> None:
    from raygrove.gpu.linux import end_with_parent

    ended = 1
    try:
        end_with_parent()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        alone = Alone(item)
        config = item.config
        config.pluginmanager.register(alone)
        item.ihook.pytest_runtest_protocol(item=item, nextitem=alone)
        rows = [config.hook.pytest_report_to_serializable(config=config, report=report) for report in alone.reports]
        with os.fdopen(answer, "wb") as file:
            file.write(pickle.dumps((rows, alone.warned)))
        ended = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(ended)
