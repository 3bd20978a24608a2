"""Every event of every traversal is a line of its pseudocode, and no line is of an event that never comes."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.analysis import pseudocode as pseudocodes
from raygrove.gpu.analysis.pseudocode import pseudocode
from raygrove.gpu.analysis.ray_log import Event
from raygrove.gpu.errors import Error
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import upload_rays
from tests.gpu.trace.scenes import built, random_rays, soup
from tests.gpu.trace.test_events import over_traversals, tell


@over_traversals
def test_every_event_has_a_line(target: Target, traversal: tuple[str, str, str]) -> None:
    made = built(target, soup(4, 120), *traversal)
    found = pseudocode(made.traversal())
    assert found is not None
    told = tell(target, made.traversal(), upload_rays(target, *random_rays(5, 128)), "ClosestHit", True)
    events = {Event(int(kind)) for kind in np.unique(told.kinds) if kind >= 0}
    missing = events - set(found.line_of)
    assert not missing, f"no line of {traversal[2]} is that of {missing}"
    assert set(found.line_of) - events <= {Event.CHILD_DROPPED, Event.CHILD_BEYOND}, "what few rays come by"
    assert all(found.lines[line].strip() for line in found.line_of.values())
    assert len(set(found.line_of.values())) == len(found.line_of), "a line is of one event"


def test_a_file_that_breaks_the_form_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"a.txt": "walk | NODE_ENTERED\nwalk on | NODE_ENTERED", "b.txt": "jump | JUMPED"}
    monkeypatch.setattr(pseudocodes, "read_source", texts.__getitem__)
    with pytest.raises(Error, match="NODE_ENTERED is the event of two lines"):
        pseudocodes._of_file("a.txt")
    with pytest.raises(Error, match="JUMPED is no event"):
        pseudocodes._of_file("b.txt")
