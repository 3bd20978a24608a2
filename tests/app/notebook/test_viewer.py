"""The viewer of notebooks as its user has it: the widget's messages, the picture without a widget, pages that stand
alone, and whether its JavaScript is one."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.errors import Error

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
FOLDER = Path(__file__).resolve().parents[3] / "assets" / "notebook"
PAGE = """
import viewer from "./viewer.mjs";

const made = [];
globalThis.document = {
  createElement: (tag) => {
    const heard = {};
    made.push({ tag, heard, style: {}, clientHeight: 100, append: () => {}, setAttribute: () => {},
      replaceChildren: () => {}, addEventListener: (name, act) => { heard[name] = act; } });
    return made.at(-1);
  },
};
let answer = null;
const asked = [];
const known = { structures: ["lbvh"], ray_types: ["flat"], structure: "lbvh", ray_type: "flat" };
const model = { get: (key) => known[key] ?? 0, off: () => {},
  send: (message) => asked.push(message), on: (name, act) => { answer = act; } };
const close = viewer.render({ model, el: { classList: { add: () => {} }, append: () => {} } });
const [picture] = made.filter((one) => one.tag === "img");
const [structure, rays] = made.filter((one) => one.tag === "select");
const said = made.find((one) => one.className === "said");
const states = [];
const look = () => states.push([picture.style.visibility, structure.value, rays.value, said.textContent ?? ""]);
look();
await new Promise((done) => setTimeout(done, 50));
look();
const drag = () => picture.heard.pointermove({ buttons: 1, movementX: 10, movementY: 0 });
for (const act of [drag, () => structure.onchange({ target: { value: "hploc" } }),
                   () => rays.onchange({ target: { value: "ao" } }), drag, drag]) act();
for (let n = 0; n < 9; n++) answer({ kind: "picture", statistics: [], said: "", ...known }, [new ArrayBuffer(1)]);
look();
close();
console.log(JSON.stringify({ asked, states }));
"""
"""A page that has no browser: its widget is dragged, and told to draw otherwise, while the first picture is drawn."""


@pytest.fixture
def viewer() -> Iterator[rg.NotebookViewer]:
    with rg.NotebookViewer((CORNERS, [[0, 1, 2]]), "lbvh@refit", size=(40, 30), device="cpu") as made:
        yield made


def test_the_widget_answers_messages_with_pictures(viewer: rg.NotebookViewer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anywidget", reason="the widget needs anywidget, which is not installed here")
    widget = viewer.widget
    assert widget is viewer.widget and "lbvh" in widget.structures and widget.structures[0] == "lbvh@refit"
    assert (widget.structure, widget.ray_type) == ("lbvh@refit", "smooth")
    assert "smooth" in widget.ray_types and (widget.width, widget.height, widget.duration) == (40, 30, 0.0)
    assert "export default" in widget._esm
    sent: list[tuple[Any, Any]] = []
    monkeypatch.setattr(widget, "send", lambda content, buffers: sent.append((content, buffers)))
    eye = viewer.camera.eye
    widget._handle_custom_msg({"kind": "orbit", "across": 0.2, "down": 0.0, "moving": True}, [])
    (content, buffers), *others = sent
    assert not others and content["kind"] == "picture" and content["moving"] and buffers[0].startswith(b"\xff\xd8")
    assert viewer.camera.eye != eye


def test_without_anywidget_a_picture_is_shown(viewer: rg.NotebookViewer, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == "anywidget":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    shown, _ = viewer._repr_mimebundle_()
    assert shown["image/png"].startswith(b"\x89PNG") and "anywidget, which is not installed" in shown["text/plain"]
    assert base64.b64encode(shown["image/png"]).decode() in shown["text/html"], "a page shows the HTML alone"
    assert "anywidget, which is not installed" in shown["text/html"]
    with pytest.raises(Error, match="anywidget"):
        _ = viewer.widget


def test_a_page_stands_alone(viewer: rg.NotebookViewer, tmp_path: Path) -> None:
    """Its policy allows its own script by its hash and pictures in the page; no address leads out of it."""
    viewer.save_html(tmp_path / "page.html", pictures=5)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in text
    pictures = re.findall(r'<figure><img src="data:image/jpeg;base64,([^"]+)"', text)
    assert len(set(pictures)) == 5 and all(base64.b64decode(one).startswith(b"\xff\xd8") for one in pictures)
    assert not re.search(r"(src|href)=\"(?!data:)|://|@import|fetch\(", text)
    assert "lbvh@refit" in text
    with pytest.raises(Error, match="pictures are 1 to 360"):
        viewer.html(pictures=0)


def test_the_javascript_is_one_and_leads_nowhere(tmp_path: Path) -> None:
    text = (FOLDER / "viewer.js").read_text(encoding="utf-8")
    assert not re.search(r"://|\bimport\b|\beval\b|innerHTML|fetch\(", text), "nothing is loaded, nothing becomes HTML"
    assert not re.search(r"://|@import|url\(", (FOLDER / "viewer.css").read_text(encoding="utf-8"))
    node = shutil.which("node")
    if node is None:
        pytest.skip("the syntax of JavaScript is checked by node, which is not installed here")
    (tmp_path / "viewer.mjs").write_text(text, encoding="utf-8")
    done = subprocess.run([node, "--check", str(tmp_path / "viewer.mjs")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def dragged(tmp_path: Path) -> dict[str, Any]:
    """What PAGE tells."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("JavaScript is run by node, which is not installed here")
    (tmp_path / "viewer.mjs").write_text((FOLDER / "viewer.js").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "page.mjs").write_text(PAGE, encoding="utf-8")
    done = subprocess.run([node, str(tmp_path / "page.mjs")], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_until_there_is_a_picture_a_sentence_says_why_not(dragged: dict[str, Any]) -> None:
    drawing = "Drawing; kernels are compiled when they are first used."
    assert dragged["states"] == [
        ["hidden", "lbvh", "flat", ""], ["hidden", "lbvh", "flat", drawing], ["visible", "lbvh", "flat", ""]
    ]  # fmt: skip


def test_what_is_done_while_a_picture_is_drawn_waits_in_its_order(dragged: dict[str, Any]) -> None:
    asked = dragged["asked"]
    assert [one["kind"] for one in asked] == ["still", "orbit", "choose", "orbit"]
    assert (asked[2]["structure"], asked[2]["ray_type"]) == ("hploc", "ao")
    assert [one["across"] for one in asked[1::2]] == pytest.approx([0.1, 0.2])
