"""A page of HTML that stands alone: pictures of a scene from all around, and what the first one cost."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

import numpy as np

from raygrove.app.export.images import encoded
from raygrove.gpu.analysis.pages import document_of, table_of

SCRIPT = """
const pictures = [...document.querySelectorAll("#all img")];
const slider = document.querySelector("#turn");
const shown = document.querySelector("#shown");
const show = () => { shown.src = pictures[slider.value].src; };
slider.addEventListener("input", show);
let from = null;
shown.addEventListener("pointerdown", (event) => {
  from = { x: event.clientX, at: Number(slider.value) };
  shown.setPointerCapture(event.pointerId);
});
shown.addEventListener("pointermove", (event) => {
  if (from === null) return;
  const turns = (event.clientX - from.x) / shown.clientWidth;
  const count = pictures.length;
  slider.value = (((from.at + Math.round(turns * count)) % count) + count) % count;
  show();
});
shown.addEventListener("pointerup", () => { from = null; });
document.querySelector("#all").style.display = "none";
document.querySelector("#control").hidden = false;
"""


def page_of(title: str, pictures: Sequence[np.ndarray], rows: Sequence[tuple[str, str]]) -> str:
    """The page. Without a script running it shows all pictures; with one, a slider and a drag turn the scene."""
    sources = [f"data:image/jpeg;base64,{base64.b64encode(encoded(one, 'JPEG')).decode()}" for one in pictures]
    images = [f'<img src="{source}" alt="from {360 * k // len(sources)} degrees">' for k, source in enumerate(sources)]
    control = (
        f'<div id="control" hidden><img id="shown" src="{sources[0]}" alt="{html.escape(title)}" draggable="false" '
        'style="width: 100%; touch-action: pan-y; cursor: grab">'
        f'<input id="turn" type="range" min="0" max="{len(sources) - 1}" value="0" aria-label="Turn" '
        'style="width: 100%"></div>'
    )
    all_of = f'<div id="all" class="pictures">{"".join(f"<figure>{image}</figure>" for image in images)}</div>'
    return document_of(title, [control, all_of, table_of(("", ""), [*rows], 1)], SCRIPT)
