"""The Animation menu."""

from __future__ import annotations

from raygrove.app.playback import timeline
from raygrove.app.ui.commands.command import Choice, Command, Entry, Separator, Submenu, setting, tr
from raygrove.app.ui.session import choices
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.timeline.timeline_bar import TimelineBar

NUMBERED = 9
"""So many clips can be given shortcuts, by their number."""


def animation_menu(session: Session, bar: TimelineBar) -> Submenu:
    """Playing, and the playing head of the timeline's bar."""
    document, offered = session.document, session.choices
    forward, back = ("Shift+Right", "Ctrl+Right"), ("Shift+Left", "Ctrl+Left")
    entries: list[Entry] = [
        Command("animation.play", tr("&Play or pause"), document.toggle_play, "Space"),
        Command("animation.step", tr("Ne&xt frame"), lambda: bar.step(1), "Right"),
        Command("animation.step_back", tr("Previo&us frame"), lambda: bar.step(-1), "Left"),
        Command("animation.first", tr("&First frame"), lambda: bar.go(timeline.first), "Home"),
        Command("animation.last", tr("&Last frame"), lambda: bar.go(timeline.last), "End"),
        Command("animation.next_key", tr("&Next key frame"), lambda: bar.go(timeline.next_key), forward),
        Command("animation.previous_key", tr("P&revious key frame"), lambda: bar.go(timeline.previous_key), back),
        Separator(),
        Command("animation.reverse", tr("Play back&wards"), bar.reverse, "Shift+Space", checkable=True),
        Command("animation.faster", tr("Fas&ter"), lambda: bar.scale_speed(2.0), "]"),
        Command("animation.slower", tr("Slo&wer"), lambda: bar.scale_speed(0.5), "["),
        Separator(),
        setting(offered, "animation.repeat_mode", tr("At the &end"), "timeline.repeat"),
        setting(offered, "animation.step_mode", tr("&Time steps"), "timeline.step"),
        Choice(
            "animation.clip",
            tr("&Clip"),
            bar.clips,
            lambda: str(document.state.timeline.clip),
            lambda index: bar.choose_clip(int(index)),
            lambda: numbered(tr("clip {number}")),
        ),
        setting(offered, "animation.motion", tr("&Give a motion"), "motion.name", offered.motions),
    ]
    return Submenu(tr("&Animation"), entries)


def numbered(title: str) -> list[choices.Choice]:
    """Choices by number, for menus whose entries only a scene brings."""
    return [(str(index), title.format(number=index + 1), "", True) for index in range(NUMBERED)]
