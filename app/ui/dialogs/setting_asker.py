"""A setting that is changed by typing: what it takes, what it offers, and its new value or the reason why not. The
palette asks with it."""

from __future__ import annotations

import typing

from raygrove.app.settings.settings import option_field
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.form import title_of
from raygrove.gpu.settings import OptionError, parse_value


class SettingAsker:
    """One setting of a session's document, by its dotted key as in the settings file."""

    def __init__(self, session: Session, key: str) -> None:
        self._session, self.key = session, key
        self.field = option_field(key)

    @property
    def value(self) -> str:
        """What it is now, as one types it."""
        table, _, name = self.key.rpartition(".")
        group, _, of = table.partition(".")
        settings = self._session.document.state.settings
        options = (
            getattr(settings, f"{group}_options")(of)
            if of
            else getattr(settings, "importer" if group == "import" else group)
        )
        return written(getattr(options, name))

    @property
    def sentence(self) -> str:
        """What it is for, what it takes, and its default."""
        info, default = self.field.info, written(self.field.default) or "nothing"
        return f"{info.sentence} It takes {self.field.allowed()}; the default is {default}."

    def offers(self) -> list[str]:
        """What there is to choose from: all of it, or the present value and the default."""
        if self.field.type is bool:
            return ["true", "false"]
        return list(self.field.info.choices) or list(
            dict.fromkeys(one for one in (self.value, written(self.field.default)) if one)
        )

    @property
    def is_closed(self) -> bool:
        """Whether it takes nothing but what it offers."""
        return self.field.type is bool or bool(self.field.info.choices)

    def set(self, text: str) -> str:
        """Take what was typed, as one step of undo; returns the reason where that cannot be, else an empty text."""
        text = text.strip()
        if self.is_closed and text not in self.offers():
            fitting = [one for one in self.offers() if one.startswith(text.lower())] if text else []
            text = fitting[0] if len(fitting) == 1 else text
        document, choices = self._session.document, self._session.choices
        document.end_merge()
        try:
            value = self.field.checked(parse_value(self.field.type, text))
            if self.key == "render.hierarchy":
                choices.choose_hierarchy(value)
            elif self.key == "render.layout":
                choices.choose_layout(value)
            else:
                document.change(f"settings.{self.key}", value)
        except (OptionError, ValueError, TypeError, KeyError) as error:
            return f"{title_of(self.field.name)}: {str(error).removeprefix(self.field.name).lstrip(' :=')}"
        document.end_merge()
        return ""


def written(value: typing.Any) -> str:
    """A value as one types it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(f"{one:g}" for one in value)
    return "" if value is None else str(value)
