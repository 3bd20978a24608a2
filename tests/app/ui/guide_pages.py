"""The guide's pictures of pages that commands write, as Chromium shows them: for guide_pictures.py."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from PySide6.QtGui import QImage

from raygrove.app.cli.main import main
from tests.app.ui.guide_picture_files import save

SIZE = "860,990"
LIMIT_S = 120.0


def correlation() -> list[str]:
    """Which figure of a tree goes with speed, of all structures: the command of the guide's chapter."""
    return ["race", "--correlate", "--demo", "walker", "--frames", "0:2", "--size", "192x144", "--device", "cpu"]


PAGES = {"correlation": correlation}


def take(name: str, path: Path) -> int:
    """Have the page written, and keep what a browser shows of its beginning; 1 where either failed."""
    browser = shutil.which("chromium")
    if browser is None:
        print("  there is no chromium here: apt-get install chromium")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        page, shown = Path(folder) / f"{name}.html", Path(folder) / f"{name}.png"
        if main([*PAGES[name](), "--quiet", "--out", str(page)]):
            return 1
        words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIZE}"]
        command = [*words, f"--user-data-dir={folder}/browser", f"--screenshot={shown}", page.as_uri()]
        done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)
        picture = QImage(str(shown))
        if done.returncode or picture.isNull():
            print(f"  {done.stderr.decode(errors='replace')[-400:]}")
            return 1
        save(picture, path)
    print(f"  {path.stat().st_size} bytes")
    return 0
