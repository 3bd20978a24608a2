"""Tables of docs/performance are made from the saved results, all of them; and the folder of results holds the newest
run of each kind and device, and older ones only where a page reads them."""

from __future__ import annotations

import json
import pathlib
import re
from collections import defaultdict

import pytest

from raygrove.bench.cases import claims
from raygrove.bench.made_tables import made_lines, with_tables
from raygrove.bench.saved import RESULTS
from raygrove.bench.store.kept import NAME
from raygrove.bench.suites import suites

PAGES = claims.ROOT / "docs" / "performance"
PART_OF_A_SUITE = re.compile(rf"-(?P<what>{'|'.join(suites())})(-.*)?$")


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_every_table_of_a_page_is_made(page: pathlib.Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = made_lines(text)
    by_hand = [line for number, line in enumerate(text.splitlines()) if line.startswith("|") and number not in lines]
    if page.name == "README.md":
        assert all("](" in line for line in by_hand[2:]), "a list of pages, without figures"
    elif page == claims.PAGE:
        assert not lines, "it is made as a whole"
    else:
        assert not by_hand, f"name its rows, as bench/made_tables.py says: {by_hand[0]}"
        assert len(text.splitlines()) < 130, "a page of final tables, and what was tried and what it gave"


def test_tables_say_what_the_newest_run_says(tmp_path: pathlib.Path) -> None:
    page = (
        "Before.\n\n<!-- window h200\norbit, lbvh, smooth\n-->\n<!-- made -->\n\n<!-- light h200\nao\n-->\n"
        "| old | table |\n<!-- made -->\nAfter.\n"
    )
    for day, rate in (("20", 10.0), ("21", 20.0)):
        run = {"command": "--demo orbit", "frames_per_second": rate, "target_frame_ms": 0.5}
        content = {"context": {"date": f"2026-11-{day}"}, "runs": [run]}
        (tmp_path / f"h200-2026-11-{day}-window.json").write_text(json.dumps(content))
        rows = [{"rays": "ao", "hierarchy": name, "mrays_per_s": 1e3 * rate} for name in ("lbvh", "hploc")]
        content = {"context": {"date": f"2026-11-{day}", "commit": "abcdef01"}, "results": rows}
        (tmp_path / f"h200-2026-11-{day}-light.json").write_text(json.dumps(content))
    made = claims.rewritten(page, tmp_path)
    assert "| orbit, lbvh, smooth | 20 | 0.50 |" in made and "old" not in made
    assert "h200-2026-11-21-light (abcdef0) | lbvh | hploc |" in made and "| ao | 20,000 | 20,000 |" in made
    assert claims.rewritten(made, tmp_path) == made and made.endswith("After.\n")


def test_forces_stand_with_their_error_and_their_longest_phase(tmp_path: pathlib.Path) -> None:
    row = {"bodies": 5000, "forces": "multipole", "options": {"order": 4, "leaf_points": 64}, "rms_error": 1.4e-3}
    rows = [
        {**row, "ms": 3.0, "phases_ms": {"nbody.p2m": 0.5, "nbody.p2p": 2.4}},
        {"what": "drift of galaxy's energy", "bodies": 4000, "forces": "multipole", "drift": 1e-4},
    ]
    content = {"context": {"date": "2026-11-20", "commit": "abcdef01"}, "results": rows}
    (tmp_path / "h200-2026-11-20-gravity.json").write_text(json.dumps(content))
    made = claims.rewritten("<!-- gravity h200\nmultipole\n-->\n<!-- made -->\n", tmp_path)
    assert "| `multipole` | order 4, leaf points 64 | 5,000 | 1.4e-03 | 3.0 | nbody.p2p 2.4 |" in made
    assert "drift" not in made and "1e-04" not in made


def test_a_bar_stands_with_its_figure_and_whether_it_is_reached() -> None:
    page = claims.PAGE.read_text(encoding="utf-8")
    what, bar, figure, unit, state = re.findall(
        r"^\| ([^|]+) \| (<= [\d.]+) \| ([\d.]+) \| (\w+) \| \**(reached|MISSED)\** ", page, re.MULTILINE
    )[0]
    made = claims.rewritten(f"<!-- bars\nh200 | {what}\n-->\n<!-- made -->")
    assert f"| {what} | H200 | {bar} | {figure} | {unit} | " in made and state in made


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("bars\nh200 | no such bar", "there is no bar"),
        ("bars\nabacus | refit, 512,000 triangles", "there is no device abacus"),
        ("light h200\nno such rays", "has no rays 'no such rays'"),
        ("light abacus\nao", "no run of it is saved"),
        ("gravity h200\nno such forces", "has no forces 'no such forces'"),
        ("gravity abacus\nmultipole", "no run of it is saved"),
    ],
)
def test_rows_that_stand_for_nothing_are_an_error(block: str, said: str) -> None:
    with pytest.raises((claims.ClaimError, LookupError), match=said):
        claims.rewritten(f"<!-- {block}\n-->\n<!-- made -->")


def test_what_is_no_block_stays() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n<!-- a remark -->\n"
    assert with_tables(text, lambda device, what: pytest.fail(), lambda key: pytest.fail()) == text
    assert made_lines(text) == set()


def test_results_are_the_newest_of_their_kind_or_read_by_a_page() -> None:
    runs: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in RESULTS.iterdir():
        if path.name == "README.md":
            continue
        stem = PART_OF_A_SUITE.sub(r"-\g<what>", path.stem)
        match = NAME.fullmatch(stem)
        assert match is not None, path.name
        runs[match["device"], match["what"]][match["date"] + (match["letter"] or "")].add(stem)
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (claims.ROOT / "docs").rglob("*.md"))
    kept = {stem for found in runs.values() for run in sorted(found)[:-1] for stem in found[run]}
    unread = sorted(stem for stem in kept if stem not in pages)
    assert not unread, "a newer run took the place of these"
