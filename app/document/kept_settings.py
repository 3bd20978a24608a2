"""A document's settings kept in the user's file, beside what other programs keep there meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raygrove.app.document import scene_trees
from raygrove.app.settings import file as settings_file
from raygrove.app.settings.settings import Settings


class KeptSettings:
    """What of a document's settings is its own: changed since it `began`, or since it was saved last. `overrides` are
    the keys that only this start's command line has said, with their values."""

    def __init__(self, began: Settings, overrides: Mapping[str, Any]) -> None:
        self._before, self._overrides = began, dict(overrides)  # values are asked of registries, late: not at the start

    def save(self, settings: Settings) -> str:
        """Write what is the document's own, atomically; the rest stays as the file has it. Returns what to say. Raises
        OSError."""
        left: list[str] = []

        def kept() -> Settings:
            found, _ = settings_file.find_user_settings()
            own = Settings() if found is None else found
            wanted = scene_trees.without(settings, own.render)
            # Of a file that is gone or damaged all is written.
            unchanged = {} if found is None else _values(self._before)
            result, unsaved = settings_file.to_keep(wanted, own, unchanged | self._overrides)
            left.extend(unsaved)
            return result

        lost = settings_file.save_settings(kept)
        self._before = settings
        ours = [key for key in left if key in self._overrides]
        theirs = [key for key in left if key not in self._overrides]
        said = f" Not saved, because only this start's command line says so: {', '.join(ours)}." if ours else ""
        if theirs:
            said += f" Left as it stands in the file by now, as it was not changed here: {', '.join(theirs)}."
        return f"Saved.{said}{' ' + lost if lost else ''}"


def _values(settings: Settings) -> dict[str, Any]:
    return dict(settings_file.leaves(settings_file.to_table(settings, everything=True)))
