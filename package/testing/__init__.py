"""The contract suite as a pytest plug-in, for structures of this project and of other packages.

    python -m pytest -p raygrove.testing --pyargs raygrove.testing.contract --structure NAME

runs every promise of gpu/hierarchy/base.py on the CPU and, where there is one, on an NVIDIA GPU (`-m "not cuda"` leaves
that out). The plug-in gives the targets as fixtures; `scenes`, `replayed` and the oracles are beside it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from raygrove.gpu.target.base import NoDeviceError, Target, TargetOptions, Unit, UnitSource
from raygrove.gpu.target.cuda_driver import cuda_available

HAS_CUDA, CUDA_SAYS = cuda_available()
"""Whether there is an NVIDIA GPU to test on, and its name or why there is none."""

KINDS = ["host", *([pytest.param("cuda", marks=pytest.mark.cuda)] if HAS_CUDA else [])]
"""The targets that tests are about. Thousands of tests that would only be skipped are not even collected."""

_OF_TREES = ("gpu/hierarchy/", "gpu/primitives/")
"""Kernel files that build, refit and measure structures."""

pytest.register_assert_rewrite("raygrove.testing.contract", "raygrove.testing.tree_walker")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the contract suite be about some structures."""
    group = parser.getgroup("raygrove")
    group.addoption("--structure", action="append", default=[], metavar="NAME", help="only this structure; repeats")


def pytest_configure(config: pytest.Config) -> None:
    """Say what the mark is."""
    config.addinivalue_line("markers", "cuda: needs an NVIDIA GPU and the cuda13 or cuda12 extra")


def pytest_report_header() -> str:
    """Say which targets are tested."""
    return f"targets: host, {'cuda' if HAS_CUDA else 'not cuda'} ({CUDA_SAYS})"


def make_target(kind: str, **options: Any) -> Target:
    """A target of `kind` (host or cuda). Without a device the test is skipped and says so; without a host compiler it
    fails, as it should."""
    if kind == "host":
        from raygrove.gpu.target.host import HostTarget

        return HostTarget(TargetOptions(**options))
    try:
        from raygrove.gpu.target.cuda import CudaTarget

        return CudaTarget(TargetOptions(**options))
    except (NoDeviceError, ImportError) as error:
        pytest.skip(f"no CUDA device: {error}")


def exact_hits(target: Target) -> None:
    """Let a target compile without contraction from now on, but for what builds trees."""
    unit, usual = target.unit, target.options

    def compiled(source: UnitSource) -> Unit:
        target.options = dataclasses.replace(usual, contraction=source.path.startswith(_OF_TREES))
        try:
            return unit(source)
        finally:
            target.options = usual

    setattr(target, "unit", compiled)  # noqa: B010 - a method of this target alone


@pytest.fixture(scope="session")
def host_target() -> Iterator[Target]:
    """The host target with its default options; one for the whole run."""
    with make_target("host") as made:
        yield made


@pytest.fixture(scope="session", params=KINDS)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Each target in turn: what uses it must hold on both."""
    if request.param == "host":
        yield request.getfixturevalue("host_target")
        return
    with make_target("cuda") as made:
        yield made


@pytest.fixture(scope="session", params=KINDS)
def exact_target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Each target without multiply-add contraction: what golden files and comparisons bit by bit use."""
    with make_target(request.param, contraction=False) as made:
        yield made


@pytest.fixture(scope="session", params=KINDS)
def exact_hits_target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Each target without multiply-add contraction where rays meet primitives, and with it where trees are built: for
    hits of structures that are compared bit by bit. Builders are compiled once for this and for `target`."""
    with make_target(request.param) as made:
        exact_hits(made)
        yield made


@pytest.fixture(scope="session", params=KINDS)
def checked_target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Each target in turn, of checked units (TargetOptions.checks)."""
    with make_target(request.param, checks=True) as made:
        yield made
