"""Whether the picture shows anything of the scene: by the scene's box while the camera moves, as its rays tell once a
picture of it has come.

What draws is asked between two frames, once for each picture and not more often than every half second, for some
60,000 rays where nothing is met, and 2,000 where something fills the picture. Of spheres that the window draws itself
nothing is asked.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from raygrove.app.camera.in_view import sees_box
from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame

SEEN, HIDDEN, CLIPPED, NOTHING = "seen", "hidden", "clipped", "nothing"
"""Something is seen; or all objects are hidden, or the clipping plane takes what would be seen, or nothing is there.
The words of gpu/in_sight.py, and one more."""

INTERVAL_MS = 500
AGAIN_MS = 3000
MOST_TRIES = 5
"""Where the kernel that would tell is not compiled yet: it comes with those that are prepared while nothing is done."""


class Pictures(Protocol):
    """Who has pictures drawn, and answers questions about them: the session's FrameLoop."""

    frame_arrived: SignalInstance
    last_frame: FinishedFrame | None

    @property
    def shows_scene(self) -> bool: ...
    def ask(self, key: str, question: Callable[[Any], Any], take: Callable[[Any], None]) -> None: ...


class Sight(QObject):
    """See the module. `changed` tells that `found` is another than before; `aspect` is the width over the
    height of the pictures that come."""

    changed = Signal()

    def __init__(self, document: Document, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self.aspect = 1.0
        self.found = SEEN
        self._told = SEEN  # by rays, of the newest picture that they were asked of
        self._loop: Pictures | None = None
        self._asked: Hashable = None
        self._is_asking, self._tries = False, 0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._ask)
        document.observe(self._changed)
        document.on_scene.append(lambda scene: self._begin())

    def attach(self, loop: Pictures) -> None:
        """Hear of pictures, and ask about them."""
        self._loop = loop
        loop.frame_arrived.connect(self._take_frame)

    def look(self) -> None:
        """What can be said without asking anybody."""
        state, scene = self._document.state, self._document.scene
        found = SEEN
        if scene is not None and scene.primitive_count:
            if scene.objects and len(state.hidden) >= len(scene.objects):
                found = HIDDEN
            elif not sees_box(state.camera_of(0), scene.lower, scene.upper, self.aspect):
                found = NOTHING
        if found != SEEN:
            self._told = SEEN  # what rays said was of another picture: who comes back into view sees the scene
        elif scene is not None:
            found = self._told
        if found != self.found:
            self.found = found
            self.changed.emit()

    def _begin(self) -> None:
        self._told, self._asked = SEEN, None
        self.look()

    def _changed(self, before: State, after: State) -> None:
        if (before.cameras, before.views, before.hidden) != (after.cameras, after.views, after.hidden):
            self.look()

    def _take_frame(self, frame: FinishedFrame) -> None:
        width, height = frame.request.size
        self.aspect = width / height if width and height else self.aspect
        if frame.spheres is not None:
            self._tell_nothing()
        elif _of(frame) != self._asked:
            self._tries = 0
            self._plan(INTERVAL_MS)

    def _tell_nothing(self) -> None:
        """What rays said was of pictures that they drew, and so is what they are still asked."""
        self._asked = None
        self._timer.stop()
        if self._told != SEEN:
            self._told = SEEN
            self.look()

    def _plan(self, after_ms: int) -> None:
        if not self._is_asking and not self._timer.isActive():
            self._timer.start(after_ms)

    def _ask(self) -> None:
        frame = self._loop.last_frame if self._loop is not None else None
        if self._loop is None or frame is None or not self._loop.shows_scene:
            return
        self._asked, self._is_asking = _of(frame), True
        self._loop.ask("sight", lambda maker: maker.in_sight(), functools.partial(self._take, self._asked))

    def _take(self, asked: Hashable, found: str | None) -> None:
        self._is_asking = False
        if asked != self._asked:
            return  # another scene was opened meanwhile
        self._told = found or SEEN
        self.look()
        frame = self._loop.last_frame if self._loop is not None else None
        if frame is not None and _of(frame) != asked:
            self._plan(INTERVAL_MS)
        elif found is None and self._tries < MOST_TRIES:
            self._tries += 1
            self._plan(AGAIN_MS)


def _of(frame: FinishedFrame) -> Hashable:
    """What a picture shows, and how."""
    request = frame.request
    state, moment = request.state, request.moment
    return (id(request.scene), state.settings, state.views, state.cameras, state.hidden, moment.time, moment.clip)
