"""Saved measurements as results: a file that `bench --json` or a case of `raygrove.bench` wrote, and a folder of such
files, as bench/results is.

They were measured without a plan, so each row says by itself what its question is: its words (scene, configuration, ray
type, size, what it counts) become the job, its figures the rounds. Where a row keeps samples these are its rounds, and
otherwise its figure alone, of which `compare` gives no verdict.
"""

from __future__ import annotations

import json
import math
import pathlib
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raygrove.gpu.errors import UnreadableError

from .folder import DONE, MARK, is_readable, opened
from .jobs import canonical
from .tables import FROM_ROWS

ENDING = ".json"
NAME = re.compile(r"(?P<device>.+?)-(?P<date>\d{4}-\d\d-\d\d)-(?:(?P<letter>[a-z])-)?(?P<what>[a-z0-9-]+?)")
"""How files of bench/results are called, without their endings."""
LONGEST = 1 << 26
"""Bytes of a file, at most."""
LISTS = ("results", "rows", "runs", "errors", "times", "first_uses")
"""Under which names files keep rows; the bench of record keeps them by scene, as `parts`."""
KINDS = {"host": "cpu", "cuda": "cuda"}
CHOSEN = ("hierarchy", "tree", "optimiser", "layout", "update")
_NAMED = frozenset(CHOSEN[:2])
"""One of them says the structure; with `tree` layouts and optimisers of a choice are part of the word."""
MEASURES = {"frame_ms": "frame", "trace_ms": "trace", "build_ms": "build"}
"""What was measured, by the samples that rows of `bench` keep; the first that is there."""
COUNTED = frozenset(("figure", "rays", "hits", "bytes", "launches", "nodes", "leaves", "non_empty", "bound",
                     "chain_nodes", "depths", "tests", "kernels", "pictures_meanwhile", "optimum_rebuilds",
                     "done"))  # fmt: skip
"""Whole numbers that were found; the others say what was measured, as `bodies` and `levels` do."""
ASKED = frozenset(("time", "x", "updates", "eye"))
"""Numbers with a point that say what was measured."""
UNTOLD = frozenset(("options", "phases_ms", "by_kernel", "shares_ms", "rays_by_kind", "mrays_per_s_by_kind", "levels",
                    "peers", "measured", "target", "detail", "beside", "outcome", "absent", "why", "command", "banners",
                    "problems", "goal", "goal_s", "bar", "is_reached", "test", *CHOSEN))  # fmt: skip
"""Parts of other figures, remarks and bars; the target is the device, and what was chosen the configuration."""


def is_kept(place: str) -> bool:
    """Whether a place is such a file, or a folder of them that is no store."""
    path = pathlib.Path(place)
    return place.endswith(ENDING) or (path.is_dir() and not (path / MARK).exists() and any(_files(path)))


def kept_results(place: str, left_out: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The results of a file, or of all files of a folder. Raises UnreadableError; with a list `left_out` files of a
    folder that hold no figures are sentences there."""
    path = pathlib.Path(place)
    if not path.is_dir():
        yield from _of_file(path)
        return
    for file in _files(path):
        try:
            yield from _of_file(file)
        except UnreadableError as error:
            if left_out is None:
                raise
            left_out.append(str(error))


def _files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    return (path for path in sorted(folder.glob(f"*{ENDING}")) if NAME.fullmatch(path.stem))


def _of_file(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    content = _read(path)
    about = content.get("context")
    rows = list(_rows(content))
    if not rows or not isinstance(about, Mapping):
        raise UnreadableError("it holds no rows of figures with their context", str(path),
                              "name a file that raygrove bench --json or raygrove.bench --out wrote")  # fmt: skip
    match = NAME.fullmatch(path.stem)
    report = content.get("suite") or (match["what"] if match else "")
    common = {**({"report": report} if report else {}), **_built_by(about)}
    jobs = _distinct([{**common, **_words(row)} for row in rows], rows)
    for job, row in zip(jobs, rows, strict=True):
        plain = {key: row[key] for key in FROM_ROWS if isinstance(row.get(key), int | float | str)}
        one = {**plain, "rounds": _rounds(row)}
        record = {"job": job, "status": DONE, "context": dict(about), "rows": [one], "started": about.get("date")}
        if is_readable(record):
            yield record


def _read(path: pathlib.Path) -> Mapping[str, Any]:
    remedy = "name a store, a file of JSON lines, or one that raygrove bench --json wrote"
    try:
        with opened(path) as file:
            data = file.read(LONGEST + 1)
        content = json.loads(data)
    except OSError as error:
        raise UnreadableError(f"it cannot be read ({error.strerror})", str(path), remedy) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is no JSON ({error})", str(path), remedy) from error
    if len(data) > LONGEST or not isinstance(content, Mapping):
        raise UnreadableError("it is no saved measurement", str(path), remedy)
    return content


def _rows(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in LISTS:
        yield from _objects(content.get(name))
    parts = content.get("parts")
    for scene, part in parts.items() if isinstance(parts, Mapping) else ():
        if isinstance(part, Mapping):
            about = {"scene": scene, "triangles": part.get("triangles")}
            yield from ({**about, **row} for row in _objects(part.get("rows")))


def _objects(rows: Any) -> Iterator[Mapping[str, Any]]:
    return (row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, Mapping))


def _built_by(about: Mapping[str, Any]) -> dict[str, Any]:
    """The device's kind, the version, and the commit where jobs have the digest of their sources."""
    target = str(about.get("target") or "").partition(":")[0]
    found = {"device": KINDS.get(target), "version": about.get("raygrove"), "sources": about.get("commit")}
    return {key: value for key, value in found.items() if value is not None}


def _words(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row says of its question."""
    found: dict[str, Any] = {"configuration": _configuration(row)} if _NAMED & row.keys() else {}
    samples = row.get("samples")
    if isinstance(samples, Mapping) and (measured := next((name for name in MEASURES if samples.get(name)), "")):
        found["measure"] = MEASURES[measured]
    if isinstance(row.get("target"), str) and (kind := row["target"].partition(":")[0]) in KINDS:
        found["device"] = KINDS[kind]
    for key, value in row.items():
        if key not in UNTOLD and _is_word(key, value, row):
            found[key] = value
    return found


def _is_word(key: str, value: Any, row: Mapping[str, Any]) -> bool:
    if isinstance(value, list):
        return bool(value) and (key in ASKED or all(isinstance(one, int | str) for one in value))
    if isinstance(value, bool | str):
        return value != ""
    if key == "depth":
        return "sah_cost" not in row  # of recursive rays, where no tree is spoken of
    is_found = key in COUNTED or key.endswith(("_count", "_bytes"))
    return key in ASKED or (isinstance(value, int) and not is_found)


def _configuration(row: Mapping[str, Any]) -> str:
    if "hierarchy" not in row:
        return str(row["tree"])
    optimiser, layout, update = (str(row.get(name) or "") for name in CHOSEN[2:])
    parts = (f"+{optimiser}" if optimiser not in ("", "none") else "", f"/{layout}" if layout else "")
    return str(row["hierarchy"]) + "".join(parts) + (f"@{update}" if update else "")


def _rounds(row: Mapping[str, Any]) -> dict[str, list[float]]:
    """The figures of a row by their names, as often as they were kept: where it has samples by name these alone."""
    samples = row.get("samples")
    if isinstance(samples, Mapping):
        kept = {str(key): _figures(values) for key, values in samples.items() if isinstance(values, list)}
        named = {key: values for key, values in kept.items() if values and (key in row or not kept.keys() & row.keys())}
        if named:
            return named
    figures = {key: value for key, value in row.items()
               if key not in UNTOLD and key != "samples" and not _is_word(key, value, row)}  # fmt: skip
    found = {key: [float(value)] for key, value in figures.items() if _is_figure(value)}
    if isinstance(samples, list) and (turns := _figures(samples)):
        middle = statistics.median(turns)
        found[next((key for key, (value,) in found.items() if math.isclose(value, middle)), "samples")] = turns
    for key, value in figures.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{key}": [float(one)] for name, one in value.items() if _is_figure(one)}
        elif isinstance(value, list):
            found[key] = _figures(value)
    return {key: values for key, values in found.items() if values}


def _figures(values: Sequence[Any]) -> list[float]:
    return [float(value) for value in values] if all(map(_is_figure, values)) else []


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _distinct(jobs: list[dict[str, Any]], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Jobs told apart: those of equal words by the options in which their rows differ, else by their turn."""
    for by_options in (True, False):
        alike: dict[str, list[int]] = {}
        for place, job in enumerate(jobs):
            alike.setdefault(canonical(job), []).append(place)
        for places in (places for places in alike.values() if len(places) > 1):
            options = [_options(rows[place]) for place in places]
            keys = sorted({key for one in options for key in one})
            differing = [key for key in keys if len({canonical({key: one.get(key)}) for one in options}) > 1]
            for turn, (place, one) in enumerate(zip(places, options, strict=True), 1):
                jobs[place] |= {key: one.get(key) for key in differing} if by_options else {"turn": turn}
    return jobs


def _options(row: Mapping[str, Any]) -> Mapping[str, Any]:
    options = row.get("options")
    return options if isinstance(options, Mapping) else {}
