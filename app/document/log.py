"""What happened, in sentences: the newest few thousand, for the log pane and for reports."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable

from raygrove.app.document.document import Document
from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.settings.settings import Settings, changed_groups, edit_groups, option_groups
from raygrove.gpu.brief import filled
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import fields_of
from raygrove.printable import printable, printable_lines

LIMIT = 2000
KINDS = ("detail", "information", "warning", "error")
"""Kinds of entries, from what few want to read to what all should."""


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened: when (seconds since 1970), its kind, a sentence, and details for a report. Entries that
    follow one another with the same `key` are one: the newest."""

    when: float
    kind: str
    sentence: str
    details: str = ""
    key: str = ""

    @property
    def line(self) -> str:
        """The entry in one line."""
        mark = "" if self.kind in ("detail", "information") else f"{self.kind}: "
        return f"{time.strftime('%H:%M:%S', time.localtime(self.when))}  {mark}{self.sentence}"


class Log:
    """The entries of one run. `on_change` holds callbacks; they hear of each new entry, and whether it took the last
    one's place."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.on_change: list[Callable[[Entry, bool], None]] = []

    def add(self, kind: str, sentence: str, details: str = "", key: str = "") -> None:
        """Write an entry."""
        entry = Entry(
            time.time(), kind, printable(sentence), printable_lines(details), sys.intern(key)
        )  # few keys, each often
        is_again = bool(key) and bool(self.entries) and self.entries[-1].key == key
        if is_again:
            self.entries.pop()
        self.entries.append(entry)
        del self.entries[:-LIMIT]
        for heard in list(self.on_change):
            heard(entry, is_again)

    def clear(self) -> None:
        """Forget all entries."""
        self.entries.clear()

    def text(self, least: str = "detail") -> str:
        """The entries of a kind and those that matter more, a line each, with their details."""
        kinds = KINDS[KINDS.index(least) :]
        chosen = [entry for entry in self.entries if entry.kind in kinds]
        return "\n".join(f"{entry.line}\n{entry.details}".rstrip() for entry in chosen)


class Chronicle:
    """Writes what a document does into a log: scenes, jobs with their time, and each setting that was changed."""

    def __init__(self, document: Document, log: Log) -> None:
        self._document, self._log = document, log
        self._running: dict[Job, float] = {}
        document.on_scene.append(self._scene)
        document.on_jobs.append(self._jobs)
        document.observe(self._changed)

    def _scene(self, scene: Scene | None) -> None:
        if scene is None:
            self._log.add("information", "The scene was closed.")
            return
        count, seconds = len(scene.clips), scene.duration()
        clips = f", {count} clip{'s' * (count != 1)}" if count else ""  # one without a name is none of them
        triangles = filled("{count:,} triangles", count=scene.triangle_count)
        moves = f"{seconds:.2f} s" if seconds > 0.0 else "still"
        self._log.add("information", f"{scene.name}: {triangles}, {moves}{clips}.")
        for remark in scene.remarks:
            self._log.add("information", f"{scene.name}: {remark.counted}")

    def _jobs(self) -> None:
        now, jobs = time.monotonic(), self._document.jobs
        for job in jobs:
            if job not in self._running:
                self._running[job] = now
                self._log.add("detail", f"{job.title} ...")
        for job in [job for job in self._running if job not in jobs]:
            seconds = now - self._running.pop(job)
            ending = "failed" if job.problem is not None else "was cancelled" if job.is_cancelled else "is done"
            self._log.add("detail", f"{job.title} {ending} after {seconds:.2f} s.")

    def _changed(self, before: State, after: State) -> None:
        if before.settings is not after.settings:
            for key, value in changes(before.settings, after.settings):
                self._log.add("detail", f"{key} = {value}", key=key)


def changes(before: Settings, after: Settings) -> list[tuple[str, object]]:
    """The dotted keys whose values differ, with their new values."""
    groups = changed_groups(before, after)
    old = dict((*option_groups(before, groups), *edit_groups(before)))
    found = []
    for table, options in (*option_groups(after, groups), *edit_groups(after)):
        if options is not None and options != old.get(table):
            names, was = [field.name for field in fields_of(options)], old.get(table) or type(options)()
            found += [
                (f"{table}.{name}", getattr(options, name))
                for name in names
                if getattr(options, name) != getattr(was, name)
            ]
    return found
