"""What a suite says of its progress, written down."""

from __future__ import annotations


class Heard:
    """`begin` and `advance` of a SuiteJob."""

    def __init__(self) -> None:
        self.scenes: list[tuple[str, list[tuple[int, int | None]]]] = []

    def begin(self, scene: str) -> None:
        self.scenes.append((scene, []))

    def advance(self, rows: int, of: int | None) -> None:
        self.scenes[-1][1].append((rows, of))

    def check(self) -> None:
        """Each scene that was measured counted its rows from one on, up to as many as it said from the first on."""
        measured = [(scene, told) for scene, told in self.scenes if told]
        assert measured, "of some scene there were rows"
        for scene, told in measured:
            assert told == [(number, len(told)) for number in range(1, len(told) + 1)], scene
