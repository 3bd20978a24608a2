"""What pyproject.toml cannot say about the wheel: which folders are packages, and that none of it is built in the
checkout.

Every folder of app/, gpu/ and bench/ is one, those that hold only kernels too; bench/results stays in the checkout.
"""

from __future__ import annotations

import tempfile

from setuptools import find_namespace_packages, setup

FOLDERS = ("app", "gpu", "bench", "shaders", "assets")

folders = find_namespace_packages(
    include=[pattern for folder in FOLDERS for pattern in (folder, f"{folder}.*")],
    exclude=["*.__pycache__", "bench.results"],
)
packages = ["raygrove", "raygrove.testing", *(f"raygrove.{folder}" for folder in folders)]
with tempfile.TemporaryDirectory() as build:  # `build/` would keep what was deleted, and the next wheel would hold it
    setup(packages=packages, options={"build": {"build_base": build}})
