"""A problem as a person reads it."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Problem:
    """What went wrong: a short `title`, a `sentence` that says what, where, why and what to do, `details` for a bug
    report, and the command line's exit code; the panel that it concerns, empty for the picture; the table of settings
    that can mend it, where one is known, or the one setting and the value that does; or the setting of `import` that
    opens these files, for who trusts them."""

    title: str
    sentence: str
    details: str = ""
    exit_code: int = 1
    panel: str = ""
    table: str = ""
    instead: tuple[str, str | bool] | None = None
    trust: tuple[str, tuple[str, ...]] | None = None
