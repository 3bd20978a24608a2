"""The viewer in JupyterLab as its user has it, in a real browser (what it needs: tests/browser.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.browser import chromium, without

CELL = """import raygrove as rg

viewer = rg.NotebookViewer("walker", "lbvh", size=(320, 240), device="cpu")
viewer"""
MOST_S = 180.0
"""What a step may take on a machine with much else to do; a quiet one needs a second or two."""
LOOKED = """() => {
    const picture = document.querySelector(".raygrove-viewer img");
    if (!picture?.naturalWidth) return null;
    const canvas = Object.assign(document.createElement("canvas"),
        { width: picture.naturalWidth, height: picture.naturalHeight });
    canvas.getContext("2d").drawImage(picture, 0, 0);
    const cells = (row) => [...row.children].map((one) => one.textContent);
    const rows = [...document.querySelectorAll(".raygrove-viewer tr")].map(cells);
    return { size: [canvas.width, canvas.height], pixels: canvas.toDataURL(), rows: Object.fromEntries(rows),
        said: document.querySelector(".raygrove-viewer .said").textContent };
}"""
"""What stands in the page: the picture's pixels and the figures beside it."""


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[str]:
    """The address of a notebook in JupyterLab on loopback, which has settings and kernels of its own."""
    if words := without("jupyterlab", "anywidget"):
        pytest.skip(f"a notebook in a real browser: {words}")
    cell: dict[str, object] = {
        "cell_type": "code",
        "id": "look",
        "metadata": {},
        "source": CELL,
        "outputs": [],
        "execution_count": None,
    }
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "look.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    folders = {f"JUPYTER_{name.upper()}_DIR": tmp_path / name for name in ("config", "data", "runtime")}
    no_news = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (tmp_path / "config" / "labconfig").mkdir(parents=True)
    (tmp_path / "config" / "labconfig" / "page_config.json").write_text(json.dumps(no_news), encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
    with open(tmp_path / "log", "wb") as log, subprocess.Popen(
        [*command, f"--ServerApp.root_dir={tmp_path}"], stdout=log, stderr=log,
        env={**os.environ, **{name: str(path) for name, path in folders.items()}, "IPYTHONDIR": str(tmp_path / "ipy")},
    ) as server:  # fmt: skip
        try:
            said = _awaited(lambda: _server(tmp_path / "runtime"), lambda: (tmp_path / "log").read_text())
            yield f"{said['url']}lab/tree/look.ipynb?token={said['token']}"
        finally:
            server.terminate()


def _server(folder: Path) -> Mapping[str, Any] | None:
    """What a running server says of itself."""
    for path in folder.glob("jpserver-*.json"):
        try:
            found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return found
        except ValueError:  # is being written
            return None
    return None


def _awaited(ask: Callable[[], Any], words: Callable[[], object]) -> Any:
    """What is there once it is."""
    end = time.monotonic() + MOST_S
    while not (found := ask()):
        assert time.monotonic() < end, words()
        time.sleep(0.1)
    return found


def _changed(page: Any, before: Mapping[str, Any], what: Callable[[Mapping[str, Any]], object]) -> Mapping[str, Any]:
    """The page once it shows something else, at its full size."""

    def look() -> Mapping[str, Any] | None:
        now: Mapping[str, Any] | None = page.evaluate(LOOKED)
        return now if now and now["size"] == [320, 240] and what(now) != what(before) else None

    now: Mapping[str, Any] = _awaited(look, lambda: page.evaluate(LOOKED)["rows"])
    assert now["said"] == ""
    return now


def _opened(page: Any, address: str) -> Mapping[str, Any]:
    """The notebook opened, its cell run by the keyboard; what is then seen."""
    page.set_default_timeout(MOST_S * 1000)
    page.goto(address, wait_until="domcontentloaded")
    page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first.wait_for()

    def run() -> bool:  # what is asked before the kernel listens is lost, though it is called idle
        page.locator(".jp-Notebook .cm-content").first.click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(2000)
        return page.locator(".jp-InputPrompt").first.inner_text() != "[ ]:"

    _awaited(run, page.content)
    page.locator(".raygrove-viewer img").wait_for()
    nothing = {"pixels": "", "size": [0, 0]}
    return _changed(page, nothing, lambda now: now["pixels"])


@pytest.mark.timeout(900)
def test_a_scene_is_turned_and_drawn_otherwise_in_jupyterlab(laboratory: str, tmp_path: Path) -> None:
    complaints: list[str] = []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        first = _opened(page, laboratory)
        page.screenshot(path=tmp_path / "first.png")
        assert first["rows"]["device"] and first["rows"]["primitives"] and first["rows"]["trace"].endswith("Mrays/s")

        box = page.locator(".raygrove-viewer img").bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(*middle)
        page.mouse.down()
        page.mouse.move(middle[0] + 90, middle[1] + 10, steps=6)
        page.mouse.up()
        turned = _changed(page, first, lambda now: now["pixels"])
        assert turned["rows"]["primitives"] == first["rows"]["primitives"]
        page.screenshot(path=tmp_path / "turned.png")

        structure, ray_type = page.locator(".raygrove-viewer select").all()
        structure.select_option("binned_sah")
        other = _changed(page, turned, lambda now: now["rows"]["structure"])
        ray_type.select_option("steps")
        heat = _changed(page, other, lambda now: now["pixels"])
        assert (
            heat["rows"]["structure"] == other["rows"]["structure"] and heat["rows"]["trace"] != other["rows"]["trace"]
        )
        page.screenshot(path=tmp_path / "steps.png")

        page.get_by_role("button", name="Reset").click()
        ray_type.select_option("smooth")
        structure.select_option("lbvh")
        again = _changed(page, heat, lambda now: now["rows"]["structure"])
        _awaited(lambda: page.evaluate(LOOKED)["pixels"] == first["pixels"], lambda: again["rows"])
    assert complaints == []
