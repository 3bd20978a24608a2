"""Jobs as text and hash, and what they say of the program."""

from __future__ import annotations

import hashlib
import json
import pathlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raygrove.bench.store.jobs import Job, canonical, described, digest_of_files, digest_of_sources, question_of, sha_of

PLAIN = st.dictionaries(
    st.text(max_size=8),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
    | st.lists(st.integers(), max_size=3),
    max_size=6,
)  # fmt: skip


@settings(max_examples=40)
@given(PLAIN)
def test_the_text_of_a_job_is_one_whatever_the_order(what: dict[str, object]) -> None:
    turned = dict(reversed(what.items()))
    assert canonical(what) == canonical(turned) and canonical(json.loads(canonical(what))) == canonical(what)
    assert sha_of(what) == hashlib.sha256(canonical(what).encode("ascii")).hexdigest()


def test_a_hash_follows_from_each_value_and_not_from_the_place_of_files() -> None:
    what = {"measure": "frame", "scene": "walker", "repeat": 6, "version": "1", "sources": "a"}
    assert Job(what).sha == Job(dict(what), ("/elsewhere.obj",)).sha
    for key in what:
        assert Job({**what, key: 7}).sha != Job(what).sha
    assert question_of(what) == {"measure": "frame", "scene": "walker", "repeat": 6}
    assert described({**what, "size": [4, 2], "configuration": "lbvh"}) == "frame lbvh walker repeat=6 size=4x2"


def test_numbers_that_are_not_finite_have_no_text() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical({"time": float("nan")})


def test_the_digest_of_sources_is_of_names_and_contents_but_not_of_the_window(tmp_path: pathlib.Path) -> None:
    for name in ("gpu/a.cu", "bench/b.py", "app/ui/window.py", "docs/page.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one")
    first = digest_of_sources(tmp_path)
    for name in ("app/ui/window.py", "docs/page.md"):
        (tmp_path / name).write_text("two")
    assert digest_of_sources(tmp_path) == first
    (tmp_path / "gpu/a.cu").write_text("two")
    second = digest_of_sources(tmp_path)
    (tmp_path / "gpu/a.cu").rename(tmp_path / "gpu/c.cu")
    assert len({first, second, digest_of_sources(tmp_path)}) == 3


def test_the_digest_of_files_is_of_contents_in_order(tmp_path: pathlib.Path) -> None:
    one, other, copy = (tmp_path / name for name in ("a", "b", "c"))
    one.write_text("1"), other.write_text("2"), copy.write_text("1")
    digest = digest_of_files((str(one), str(other)))
    assert digest == digest_of_files((str(copy), str(other))) != digest_of_files((str(other), str(one)))
    assert digest.startswith("sha256:") and len(digest) == 7 + 64


def test_where_one_file_ends_and_the_next_begins_is_part_of_the_digest(tmp_path: pathlib.Path) -> None:
    names = [tmp_path / name for name in ("a", "b", "c", "d")]
    for path, text in zip(names, ("12", "3", "1", "23"), strict=True):
        path.write_text(text)
    one, other, three, four = map(str, names)
    assert digest_of_files((one, other)) != digest_of_files((three, four))
