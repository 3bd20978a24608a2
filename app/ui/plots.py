"""pyqtgraph, loaded beside the window: importing it takes longer than the window may stand still."""

from __future__ import annotations

import threading
from typing import Any


class PlotLibrary:
    """`library` is pyqtgraph once it is there; `is_missing` says that it is not installed."""

    def __init__(self) -> None:
        self.library: Any = None
        self.is_missing = False
        self._loader: threading.Thread | None = None

    def start(self) -> None:
        """Begin to load; once."""
        if self._loader is None:
            self._loader = threading.Thread(target=self._load, name="load the charts", daemon=True)
            self._loader.start()

    def _load(self) -> None:
        try:
            import pyqtgraph
        except ImportError:
            self.is_missing = True
        else:
            self.library = pyqtgraph


PLOTS = PlotLibrary()
"""The one of this program."""
