"""What lets a checkout be imported as the package: links that stay where they are right, as tests may run meanwhile."""

from __future__ import annotations

import pathlib
import subprocess

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
