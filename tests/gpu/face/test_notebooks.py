"""The notebooks run from their first cell to the last, without Jupyter."""

from __future__ import annotations

import json
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "docs" / "notebooks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path: pathlib.Path, capsys: pytest.CaptureFixture) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    space: dict[str, object] = {}
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5 and notebook["nbformat"] == 4
    for number, source in enumerate(cells):
        exec(compile(source, f"{path.name}, cell {number}", "exec"), space)
    assert capsys.readouterr().out, "it says something"


def test_both_are_there_and_say_what_they_are() -> None:
    titles = [json.loads(path.read_text())["cells"][0]["source"][0].strip() for path in sorted(FOLDER.glob("*.ipynb"))]
    assert titles == ["# Compare builders on your animation", "# Nearest hits from NumPy"]
