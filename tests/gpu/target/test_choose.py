"""Targets by their names: what is asked for is given, or an error; only `auto` may take the host instead of a GPU."""

from __future__ import annotations

import contextlib
import sys

import pytest

from raygrove.gpu import target as targets
from raygrove.gpu.target.base import NoDeviceError, TargetOptions


@pytest.mark.parametrize("name", ["cpu", "host"])
def test_the_host_is_taken_by_its_names(name: str) -> None:
    with contextlib.closing(targets.choose(name, TargetOptions(threads=1))) as target:
        assert (target.kind, target.name, target.options.threads) == ("host", "host", 1)


def test_options_of_every_target_are_one_value() -> None:
    """`target.sort` is CUDA's, `target.threads` the host's: each target takes what concerns it."""
    with contextlib.closing(targets.choose("host", TargetOptions(sort="own"))) as target:
        assert target.options.sort == "own"


def test_the_host_refuses_the_sort_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would otherwise sort by its own kernels under the library's name; as `auto` it is refused there, too."""

    def none(options: TargetOptions, device: int) -> None:
        raise NoDeviceError("There is no GPU here.")

    monkeypatch.setattr(targets, "_cuda", none)
    for name in ("host", "auto"):
        with pytest.raises(
            NoDeviceError, match=r"device\.sort is library.*needs a GPU.*Set device\.sort to auto or own"
        ):
            targets.choose(name, TargetOptions(sort="library"))


def test_the_options_reach_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[TargetOptions] = []
    monkeypatch.setattr(targets, "_cuda", lambda options, device: asked.append(options))
    targets.choose("cuda", TargetOptions(sort="library"))
    assert asked == [TargetOptions(sort="library")]


@pytest.mark.parametrize("name", ["", "gpu", "host:1", "cpu:0", "auto:0", "cuda:", "cuda:x", "cuda:-1"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="auto, cpu, cuda"):
        targets.choose(name)


def test_auto_takes_the_host_where_no_gpu_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(options: TargetOptions, device: int) -> None:
        raise NoDeviceError("There is no GPU here.")

    monkeypatch.setattr(targets, "_cuda", none)
    with contextlib.closing(targets.choose("auto")) as target:
        assert target.kind == "host"
    with pytest.raises(NoDeviceError, match="no GPU here"):
        targets.choose("cuda")


def test_the_number_of_the_gpu_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def remember(options: TargetOptions, device: int) -> None:
        asked.append(device)

    monkeypatch.setattr(targets, "_cuda", remember)
    for name in ("auto", "cuda", "cuda:0", "cuda:3"):
        targets.choose(name)
    assert asked == [0, 0, 0, 3]


def test_a_fault_in_our_own_module_is_not_taken_for_a_missing_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "raygrove.gpu.target.cuda", None)
    with pytest.raises(ImportError):
        targets.choose("auto")
