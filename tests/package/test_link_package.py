"""What lets a checkout be imported as the package: links that stay where they are right, as tests may run meanwhile."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[2]


def link(site: pathlib.Path) -> dict[str, tuple[str, int]]:
    """What each link of the package stands for, and when it was made."""
    subprocess.run([ROOT / ".ci/link_package", site], check=True)
    links = (site / "raygrove").iterdir()
    return {one.name: (str(one.readlink()), one.lstat().st_ctime_ns) for one in links}


def test_links_that_are_right_are_left_alone(tmp_path: pathlib.Path) -> None:
    first = link(tmp_path)
    assert {"app", "gpu", "bench", "shaders", "assets", "__init__.py"} <= set(first)
    assert all(pathlib.Path(target).exists() for target, _ in first.values())
    assert link(tmp_path) == first


def test_others_are_mended_or_removed(tmp_path: pathlib.Path) -> None:
    wanted = {name: target for name, (target, _) in link(tmp_path).items()}
    (tmp_path / "raygrove/gpu").unlink()
    (tmp_path / "raygrove/gpu").symlink_to("/nowhere")
    (tmp_path / "raygrove/gone").symlink_to("/nowhere")
    assert {name: target for name, (target, _) in link(tmp_path).items()} == wanted


def test_the_command_starts_nothing_where_workers_import_it(tmp_path: pathlib.Path) -> None:
    """Each process of Dask's workers imports the script that started the sweep, and must not sweep again."""
    function = re.search(r"^link_package\(\).*?^}$", (ROOT / ".ci/environment").read_text(), re.DOTALL | re.MULTILINE)
    assert function is not None
    for name in (".venv/bin/python", ".ci/link_package"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    subprocess.run(["bash", "-ec", f"{function[0]}\nlink_package"], cwd=tmp_path, check=True)
    script = f"import runpy; runpy.run_path({str(tmp_path / '.venv/bin/raygrove')!r}, run_name=name)"
    for name, said in (("__mp_main__", ""), ("__main__", "Raygrove ")):
        command = [sys.executable, "-c", f"name = {name!r}; {script}", "--version"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S, check=False)
        assert (done.returncode, done.stderr) == (0, "") and done.stdout[:9] == said
