"""Bars of sweeps, of stores and of USD, which `bench scaling` and `bench stores` measure."""

from __future__ import annotations

from collections.abc import Callable

from .saved import Content, OfOthers

GPUS = "python -m raygrove.bench scaling"
SCALING = f"{GPUS} --simulated --device cpu"
STORES = "python -m raygrove.bench stores"
CORES, MOST_DEVICES = 2, 8
"""What workers cost is promised for a host of two cores, balance for up to eight devices."""
SWEPT = 200
"""Jobs of the plan that several GPUs share."""


def _asked(content: Content, flag: str, otherwise: str = "") -> str:
    """What a run's command says of a flag."""
    words: list[str] = [part for word in content["context"]["command"] for part in word.split("=", 1)]
    return words[words.index(flag) + 1] if flag in words[:-1] else otherwise


def _is_simulated(content: Content) -> bool:
    return "--simulated" in content["context"]["command"]


def _balance(content: Content) -> float | None:
    """How long the busiest device was at work, by the mean of all; the worst of runs on up to eight."""
    runs = content["runs"] if _is_simulated(content) else []
    is_whole = max((run["devices"] for run in runs), default=0) >= MOST_DEVICES
    return 1.0 + max(run["balance"] for run in runs) if is_whole else None


def _overhead(content: Content) -> float | None:
    """What handing out jobs of 1 s took, as a part of them, on as many devices as there are cores or fewer."""
    is_of_a_second = float(_asked(content, "--seconds", "0")) == float(_asked(content, "--spread", "0")) == 1.0
    runs = content["runs"] if _is_simulated(content) and is_of_a_second else []
    return max((run["overhead"] for run in runs if run["devices"] <= CORES), default=None)


def _speed_up(devices: int) -> Callable[[Content], float | None]:
    """How many times as fast so many GPUs did 200 jobs or more as one did."""

    def read(content: Content) -> float | None:
        runs = [] if _is_simulated(content) else content["runs"]
        found = (run["speed_up"] for run in runs if run["devices"] == devices and run["done"] >= SWEPT)
        return next(found, None)

    return read


def _of_stores(what: str, count: int) -> Callable[[Content], float | None]:
    """A figure of `bench stores`, of so many or more."""

    def read(content: Content) -> float | None:
        rows = (row for row in content["results"] if row["what"] == what and row["count"] >= count)
        return next((row["figure"] for row in rows), None)

    return read


SWEEPS = (
    OfOthers("cuda", "200 jobs by two GPUs over one", 1.9, "times", "scaling",
             f"{GPUS} --devices 1,2", _speed_up(2), at_most=False),
    OfOthers("cuda", "200 jobs by four GPUs over one", 3.6, "times", "scaling",
             f"{GPUS} --devices 1,4", _speed_up(4), at_most=False),
    OfOthers("host", "longest of 1 to 8 simulated devices over their mean", 1.05, "times", "scaling",
             f"{SCALING} --devices 1,2,4,8", _balance),
    OfOthers("host", "overhead of local jobs of 1 s", 0.03, "share", "scaling",
             f"{SCALING} --spread 1 --seconds 1", _overhead),
    OfOthers("host", "overhead of Dask, jobs of 1 s", 0.05, "share", "scaling-dask",
             f"{SCALING} --spread 1 --seconds 1 --engine dask", _overhead),
    OfOthers("host", "10,000 finished jobs skipped", 1.0, "s", "stores", STORES, _of_stores("skip", 10_000)),
    OfOthers("host", "a query over 100,000 results", 1.0, "s", "stores", STORES, _of_stores("query", 100_000)),
    OfOthers("host", "USD of 10 time samples of 100,000 points opened", 0.5, "s", "stores", STORES,
             _of_stores("usd", 100_000)),
)  # fmt: skip
