"""`info`: facts as lines for a person."""

from __future__ import annotations

from raygrove.app.cli.info import format_facts


def test_what_is_empty_has_no_label() -> None:
    material = {"name": "brick", "alpha": 0.5, "box": None, "note": "", "textures": ["", "wall", "", ""], "maps": [""]}
    said = format_facts({"name": "room", "unit": "", "box": (), "materials": [material]})
    assert said == "name           room\n\nmaterials (1)\n  brick: alpha 0.5, textures wall"
