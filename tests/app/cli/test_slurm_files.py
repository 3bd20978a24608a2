"""The files for Slurm in the docs: their shell steps do a plan's jobs, each once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from raygrove.app.cli.arguments import parse
from raygrove.bench.store.folder import Store
from raygrove.version import VERSION
from tests.bench.store import certificates

SLURM = Path(__file__).resolve().parents[3] / "docs" / "slurm"
PLAN = """
[fixed]
measure = "render"
size = "8x6"
time = 0.5
device = "cpu"
scene = "walker"
configuration = "lbvh"
demo.triangles = 120
[axes]
seed = [0, 1, 2]
"""


RAYGROVE = f'exec "{sys.executable}" -P -m raygrove "$@"'


def script(folder: Path, name: str, command: str) -> Path:
    """A script as a command of that name."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)
    return path


def start(file: str, folder: Path, command: str, *more: str, **environment: str) -> None:
    """Run a file of the docs as Slurm does, with a script as the command `raygrove`."""
    path = script(folder, "raygrove", command)
    (folder / "plan.toml").write_text(PLAN)
    seen = f"{path.parent}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", str(SLURM / file), "plan.toml", "results/", *more]
    subprocess.run(words, cwd=folder, env={**os.environ, "PATH": seen, **environment}, check=True)


def test_a_task_of_an_array_does_its_part(tmp_path: Path) -> None:
    start("array.sbatch", tmp_path, RAYGROVE, SLURM_ARRAY_TASK_ID="2", SLURM_ARRAY_TASK_COUNT="2")
    assert [record["job"]["seed"] for record in Store(tmp_path / "results").records()] == [1]


def test_a_node_shares_the_jobs_among_its_gpus(tmp_path: Path) -> None:
    start("node.sbatch", tmp_path, 'printf "%s\\n" "$@" >words')
    names = parse((tmp_path / "words").read_text().splitlines(), VERSION)
    assert (names.command, names.files, names.store, names.jobs) == ("sweep", ["plan.toml"], "results/", "local")


def is_free(port: int) -> bool:
    """Whether a scheduler can listen there."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) != 0


def test_several_nodes_share_the_jobs_over_tls(tmp_path: Path) -> None:
    """With stand-ins for what Slurm has, on loopback."""
    pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")
    certificates.made(tmp_path / "certificates")
    script(tmp_path, "srun", 'exec "$@"')
    script(tmp_path, "hostname", "echo 127.0.0.1")
    script(tmp_path, "dask", f'exec "{sys.executable}" -P -m dask "$@"')
    job = next(number for number in range(os.getpid() % 10_000, 20_000) if is_free(20_000 + number))
    start("cluster.sbatch", tmp_path, RAYGROVE, f"{tmp_path}/certificates", SLURM_JOB_ID=str(job))
    assert [record["status"] for record in Store(tmp_path / "results").records()] == ["done"] * 3


@pytest.mark.parametrize("file", sorted(path.name for path in SLURM.iterdir()))
def test_a_file_is_of_bash_and_says_what_it_asks_slurm_for(file: str) -> None:
    subprocess.run(["bash", "-n", str(SLURM / file)], check=True)
    lines = (SLURM / file).read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("#SBATCH --") for line in lines) >= 5 and "set -euo pipefail" in lines
    assert f"sbatch docs/slurm/{file}" in "\n".join(lines)
    first = next(number for number, line in enumerate(lines) if line and not line.startswith("#"))
    assert not any(line.startswith("#SBATCH") for line in lines[first:])  # Slurm reads none behind the first command
