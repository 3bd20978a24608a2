"""What a notebook shows: a widget by anywidget where it is installed, else a picture and a sentence."""

from __future__ import annotations

import base64
import functools
import html
import importlib
import importlib.util
import math
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from raygrove import assets
from raygrove.app.export.images import encoded
from raygrove.app.export.whole_files import write_bytes
from raygrove.gpu.camera import Camera
from raygrove.gpu.errors import Error
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.shade.registry import ray_types
from raygrove.program import how_to_install

from .drawing import Drawing, turned
from .page import page_of

MOST_PICTURES = 360


class NotebookViewer:
    """A scene to look at in a notebook: the last value of a cell, or `display(viewer)`.

    `scene` is a built-in scene's name, a file, a clip, a scene of meshes (`raygrove.Scene`) or `(vertices, triangles)`;
    `tree` a configuration ("hploc/bvh4@refit") or a tree that `raygrove.build` made; `size` the picture's in pixels.
    A drag turns the scene about what is looked at, with Shift or the right button it moves it, the wheel comes nearer
    once the picture was clicked, arrows and + and - do the same, 0 goes back. Structure, ray type and the instant are
    chosen below the picture; what a picture cost stands beside it.

    The widget needs `anywidget` (extra `notebook`); without it a picture is shown. Nothing is loaded from a network.

    Raises Error for a scene, structure, ray type, size or device that there is not.

    >>> import numpy as np, raygrove as rg
    >>> corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    >>> with rg.NotebookViewer((corners, [[0, 1, 2]]), "lbvh", size=(32, 24), device="cpu") as viewer:
    ...     viewer.picture().shape, viewer.html(pictures=4).count("<figure>")
    ((24, 32, 3), 4)
    """

    def __init__(
        self,
        scene: Any,
        tree: Any = "hploc@auto",
        *,
        ray_type: str = "smooth",
        size: tuple[int, int] = (640, 480),
        camera: Camera | None = None,
        device: str = "auto",
    ) -> None:
        if importlib.util.find_spec("PIL") is None:  # before a scene is opened for pictures that nobody can encode
            raise Error("the library PIL is missing", "rg.NotebookViewer", how_to_install("app").rstrip("."))
        self._drawing = Drawing(scene, tree, size, ray_type, device, camera)
        self._widget: Any = None

    @property
    def camera(self) -> Camera:
        """Where it is looked from now."""
        return self._drawing.camera

    def picture(self, time: float | None = None) -> np.ndarray:
        """The picture as it is shown, (H, W, 3) uint8, sRGB; with `time`, in seconds, from now on at that instant."""
        if time is not None:
            if not math.isfinite(time):
                raise Error(f"time is a number of seconds; it is {time}", "NotebookViewer.picture")
            self._drawing.answer({"kind": "time", "time": float(time)})
        return self._drawing.picture()[0]

    def html(self, pictures: int = 24) -> str:
        """A page of HTML that stands alone: so many pictures from all around, turned by a drag or a slider, and what
        the first one cost. It loads nothing, and its content security policy forbids that it could."""
        if not 1 <= pictures <= MOST_PICTURES:
            raise Error(f"pictures are 1 to {MOST_PICTURES}; they are {pictures}", "NotebookViewer.html")
        _, statistics = self._drawing.picture()
        said = [("structure", self._drawing.configuration), ("ray type", self._drawing.settings.ray_type)]
        rows = [*said, *self._drawing.rows(statistics)]
        return page_of(self._drawing.scene.name, turned(self._drawing, pictures), rows)

    def save_html(self, path: str | os.PathLike[str], pictures: int = 24) -> None:
        """Write that page; the file appears whole or not at all. Raises OSError."""
        write_bytes(Path(path), self.html(pictures).encode())

    @property
    def widget(self) -> Any:
        """The widget, for layouts of ipywidgets. Error where anywidget is not installed."""
        if self._widget is None:
            try:
                library = importlib.import_module("anywidget")
            except ImportError as error:
                why = "the widget needs the package anywidget, which is not installed"
                raise Error(why, "NotebookViewer", how_to_install("notebook").rstrip(".")) from error
            self._widget = _made(library, self._drawing)
        return self._widget

    def _repr_mimebundle_(self, **words: Any) -> Any:
        try:
            return self.widget._repr_mimebundle_(**words)
        except Error as error:
            return self._still(str(error)), {}

    def _still(self, sentence: str) -> dict[str, Any]:
        """A picture in place of the widget, and why; a page shows one kind alone, so that both are in its HTML."""
        picture = encoded(self.picture(), "PNG")
        source = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
        page = f'<img src="{source}" alt="{html.escape(self._drawing.scene.name)}"><p>{html.escape(sentence)}</p>'
        return {"text/html": page, "image/png": picture, "text/plain": sentence}

    def close(self) -> None:
        """Give back the device's memory, and take the widget away; harmless the second time."""
        if self._widget is not None:
            self._widget.close()
        self._widget = None
        self._drawing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@functools.cache
def _kind(library: Any) -> type:
    """The widget's class: what the page is given once, and the messages that go both ways."""
    traitlets = importlib.import_module("traitlets")
    folder = Path(next(iter(assets.__path__))) / "notebook"
    words = {
        "_esm": (folder / "viewer.js").read_text(encoding="utf-8"),
        "_css": (folder / "viewer.css").read_text(encoding="utf-8"),
        "structures": traitlets.List().tag(sync=True),
        "ray_types": traitlets.List().tag(sync=True),
        "structure": traitlets.Unicode("").tag(sync=True),
        "ray_type": traitlets.Unicode("").tag(sync=True),
        "title": traitlets.Unicode("").tag(sync=True),
        "duration": traitlets.Float(0.0).tag(sync=True),
        "width": traitlets.Int(0).tag(sync=True),
        "height": traitlets.Int(0).tag(sync=True),
    }
    return type("ViewerWidget", (library.AnyWidget,), words)


def _made(library: Any, drawing: Drawing) -> Any:
    known = list(structures())
    if drawing.configuration not in known:
        known.insert(0, drawing.configuration)
    widget = _kind(library)(
        structures=known, ray_types=list(ray_types()), structure=drawing.configuration,
        ray_type=drawing.settings.ray_type, title=drawing.scene.name,
        duration=float(drawing.scene.duration()), width=drawing.width, height=drawing.height,
    )  # fmt: skip

    def hear(_: Any, message: Any, __: Any) -> None:
        reply, picture = drawing.answer(message)
        widget.send(reply, [picture])

    widget.on_msg(hear)
    return widget
