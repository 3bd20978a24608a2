"""docs/settings.md says what the program has."""

from __future__ import annotations

from raygrove.app.help import settings_docs
from raygrove.app.settings.flags import OPTION_KEYS
from raygrove.app.settings.settings import Settings, option_groups
from raygrove.gpu.settings import fields_of


def test_the_page_is_up_to_date() -> None:
    assert settings_docs.PATH.read_text(encoding="utf-8") == settings_docs.text(), (
        "run python -m raygrove.app.help.settings_docs"
    )


def test_every_setting_and_flag_has_a_row() -> None:
    text = settings_docs.text()
    for table, options in option_groups(Settings()):
        section = text.partition(f"## [{table}]\n")[2].partition("\n## ")[0]
        assert all(f"| `{field.name}` |" in section and field.info.sentence in section for field in fields_of(options))
    assert all(f"| `--{name.replace('_', '-')}` |" in text for name in OPTION_KEYS)
    assert "| `width` | whole number | `1024` | from 1 to 16384 (pixels) |" in text
