"""What the set-up promises of the packages that it installs, and what the program writes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _audited(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """The script beside two files of pins, with a stand-in for pip-audit; an empty text for none."""
    (folder / ".ci" / "requirements").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "audit", folder / ".ci" / "audit")
    for name in ("core.txt", "dev.txt"):
        (folder / ".ci" / "requirements" / name).write_text("numpy==1\n")
    (folder / "bin").mkdir()
    if program:
        (folder / "bin" / "pip-audit").write_text(f"#!/bin/sh\n{program}\n")
        (folder / "bin" / "pip-audit").chmod(0o755)
    path = f"{folder / 'bin'}:/usr/bin:/bin"
    command = ["bash", str(folder / ".ci" / "audit")]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": path})


@pytest.mark.parametrize(
    ("program", "code", "words"),
    [
        ("", 0, "No advisories were asked for: pip-audit is not installed."),
        ("exit 0", 0, "No advisory is known against core.txt."),
        ("echo Found 2 known vulnerabilities in 1 package; exit 1", 1, "Found 2 known vulnerabilities"),
        ("echo no route to host; exit 1", 0, "No advisories were asked for dev.txt: no route to host"),
    ],
)
def test_advisories_fail_and_what_cannot_be_asked_is_said(program: str, code: int, words: str, tmp_path: Path) -> None:
    done = _audited(tmp_path, program)
    assert done.returncode == code and words in done.stderr, done.stderr


@pytest.mark.parametrize("script", ["environment", "other_python"])
def test_packages_come_as_wheels_with_hashes(script: str) -> None:
    """A source archive would run its own build."""
    lines = [line for line in (ROOT / ".ci" / script).read_text().splitlines() if "pip install" in line]
    assert lines and all("--only-binary :all:" in line and "--require-hashes" in line for line in lines)


PAGES = ("gpu/analysis/pages.py",)
"""What writes HTML."""


def test_every_page_that_is_written_has_a_policy_and_loads_nothing() -> None:
    """Pages are opened in browsers: what comes from files could otherwise run there, or tell others of it."""
    rooms = [path for room in ("app", "bench", "gpu", "package") for path in (ROOT / room).rglob("*.py")]
    told_apart = ROOT / "app" / "scene_io" / "file_kinds.py"  # it reads what a downloaded file really is
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in rooms if path != told_apart}
    writing = [path for path, text in texts.items() if "<!doctype html" in text.lower() or "<html" in text.lower()]
    assert len(texts) > 300 and tuple(sorted(writing)) == PAGES
    for page in PAGES:
        text = texts[page]
        assert 'http-equiv="Content-Security-Policy"' in text and "default-src 'none'" in text
        assert "html.escape" in text
        # One script may stand in a page, the program's own: the policy allows its text alone, by its hash.
        assert text.count("<script>") == 1 and "script-src 'sha256-{digest}'" in text
        text = text.replace("<script>{script}</script>", "")
        for loading in ("<script", "<link", "<iframe", "<object", "<embed", "@import", "url(", "http://", "https://"):
            assert loading not in text.lower(), f"{page} has {loading}"
