"""Certificates for tests of TLS: made by openssl, and signed by themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def made(folder: Path) -> Path:
    """A folder with ca.pem, cert.pem and key.pem, as docs/slurm/cluster.sbatch takes it. Skips where there is no
    openssl."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed: certificates cannot be made")
    folder.mkdir()
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=raygrove"]
    subprocess.run(
        [program, *words, "-keyout", "key.pem", "-out", "cert.pem"], cwd=folder, check=True, capture_output=True
    )
    shutil.copy(folder / "cert.pem", folder / "ca.pem")
    return folder
