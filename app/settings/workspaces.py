"""The workspaces of the window: which panels each of them shows. To show a panel in one, name its dock here.

Plain words: settings offer the names, app/ui/window/workspaces.py arranges the docks.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Workspace:
    """An arrangement of panels. `panels` are names of docks (dock.NAME) in their order: of those at the right the first
    one is seen and the others are tabs behind it, `side` pixels wide, in a narrow window at most that `share` of it.
    `key` leads there. `has_rail`: what can be opened at the left of the picture has a button. `in_large`: panels
    that stand there, too, in a window that has room for them."""

    title: str
    sentence: str
    panels: tuple[str, ...]
    side: int
    key: str
    share: float = 0.45
    has_rail: bool = False
    in_large: tuple[str, ...] = ()


_ALL = {
    "explore": Workspace(
        "Explore",
        "The picture, its figures and the timeline.",
        ("stats", "timeline"),
        330,
        "Ctrl+F6",
        has_rail=True,
        in_large=("objects", "boxes", "cost"),
    ),
    "race": Workspace(
        "Race",
        "Up to four configurations on the same instants: who is faster, by how much, and why.",
        ("ranking", "timeline"),
        340,
        "Ctrl+F7",
    ),
    "inspect": Workspace(
        "Inspect",
        "The picture beside what looks into the structure: what rays visit, and what it is made of.",
        ("ray", "tree", "build", "hot_spots", "divergence", "heat", "pick", "boxes", "timeline"),
        470,
        "Ctrl+F8",
        0.55,
    ),
}  # fmt: skip

WORKSPACES = {name: workspace for name, workspace in _ALL.items() if workspace.panels}
"""Those that show anything, in the order in which they are offered."""

FIRST = "explore"
