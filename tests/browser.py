"""Debian's Chromium, headless, worked by Playwright: for tests that look at a page as its reader does.

Needs `apt-get install chromium` and `pip install 'raygrove[browser]'`; where they are not there a sentence says so.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
from collections.abc import Iterator
from typing import Any


def without(*packages: str) -> str:
    """What is not there that a browser, or a test that takes more `packages`, needs; nothing where all is."""
    missing = [name for name in (*packages, "playwright") if importlib.util.find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} not installed here: pip install 'raygrove[browser]'"
    return "" if shutil.which("chromium") else "there is no chromium here: apt-get install chromium"


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A browser that is closed in the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
