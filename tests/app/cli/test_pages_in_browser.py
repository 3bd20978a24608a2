"""Pages that commands write, opened in a real browser (what it needs: tests/browser.py): wide and on a phone, light and
dark. They load nothing, nothing is wider than the page, and each picture is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli.main import main
from tests.browser import chromium, without

SMALL = ("--device", "cpu", "--demo", "walker", "--frames", "0:2", "--size", "64x48", "--quiet")
COMMANDS = {
    "race": ("race", *SMALL, "--contestants", "lbvh@refit,lbvh,hploc@auto,binned_sah", "--repeat", "6"),
    "correlate": ("race", "--correlate", *SMALL, "--contestants", "lbvh,hploc,binned_sah,median_sah", "--repeat", "6"),
}
SEEN = """() => {
    const root = document.documentElement, luminance = (text) => text.match(/[0-9]+/g).slice(0, 3).map(Number);
    const style = getComputedStyle(document.body);
    return { over: root.scrollWidth - root.clientWidth, title: document.title,
        back: luminance(style.backgroundColor), text: luminance(style.color),
        broken: [...document.images].filter((one) => !one.naturalWidth).length, pictures: document.images.length,
        drawings: [...document.querySelectorAll("svg")].map((one) => one.getBoundingClientRect().height),
        rows: document.querySelectorAll("tr").length };
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if words := without():
        pytest.skip(f"a page in a real browser: {words}")
    with chromium() as opened:
        yield opened


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_is_whole_wide_and_on_a_phone_light_and_dark(name: str, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.html"
    assert main([*COMMANDS[name], "--out", str(path)]) == 0
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light")):
        page, asked, complaints = browser.new_page(viewport={"width": width, "height": 800}), list[str](), list[str]()
        page.emulate_media(color_scheme=scheme)
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("console", lambda line, complaints=complaints: complaints.append(line.text))
        page.on("pageerror", lambda error, complaints=complaints: complaints.append(str(error)))
        page.goto(path.as_uri())
        seen = page.evaluate(SEEN)
        page.screenshot(path=tmp_path / f"{name}-{width}-{scheme}.png", full_page=True)
        assert complaints == [] and [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        assert seen["over"] == 0 and seen["title"].endswith("walker") and seen["rows"] > 4
        assert seen["broken"] == 0 and (seen["pictures"] == 4) == (name == "race")
        assert seen["drawings"] and min(seen["drawings"]) > 100.0
        assert (sum(seen["back"]) < sum(seen["text"])) == (scheme == "dark")
        page.close()
