"""How far a picture is that is drawn some rows at a time: said once it takes long, taken back when it is whole."""

from __future__ import annotations

from raygrove.app.frames.row_words import LONG_MS, RowWords


def test_only_what_takes_long_is_said_and_taken_back_once() -> None:
    said: list[str] = []
    words = RowWords(said.append)
    words.hear("sponza", 0.1, LONG_MS)
    words.hear("sponza", 1.0, LONG_MS)
    words.end()
    assert said == [], "a picture that is soon there is not spoken of"
    words.hear("sponza", 0.25, LONG_MS + 1.0)
    words.hear("sponza", 0.5, LONG_MS + 2.0)
    words.hear("sponza", 1.0, LONG_MS + 3.0)
    words.end()
    assert said == ["Drawing sponza: 25 % of the picture", "Drawing sponza: 50 % of the picture", ""]
    words.hear("sponza", 0.5, 2 * LONG_MS)
    words.end()
    assert said[3:] == ["Drawing sponza: 50 % of the picture", ""], "another picture is wanted"
