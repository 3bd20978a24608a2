"""What the Structure and Render menus offer, from the registries; and how a choice is made. No widget here."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication

from raygrove.app.document.document import Document
from raygrove.app.help import texts as help_texts
from raygrove.app.scene_io.motions import SENTENCES, moves
from raygrove.app.settings import option_tables, titles
from raygrove.app.settings.settings import option_field

Choice = tuple[str, str, str, bool]
"""Value, title, tip, whether it can be chosen now."""

SAMPLES = (1, 4, 16, 64, 256)
tr = QCoreApplication.translate


class Choices:
    """The choices of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def current(self, key: str) -> Callable[[], str]:
        """What a setting is now, as text."""
        group, _, name = key.partition(".")
        return lambda: str(getattr(getattr(self._document.state.settings, group), name))

    def choose(self, key: str) -> Callable[[str], None]:
        """Set a setting."""
        return lambda value: self._document.change(f"settings.{key}", value)

    def of_option(self, key: str) -> list[Choice]:
        """The choices of any option that has some."""
        return [(choice, titles.title(key, choice), "", True) for choice in option_field(key).info.choices]

    def motions(self) -> list[Choice]:
        """The motions that a still model can be given; one that moves by itself takes none."""
        scene, given = self._document.scene, self._document.state.settings.motion.name
        is_free = scene is None or given != "none" or not moves(scene)
        tips = SENTENCES if is_free else dict.fromkeys(SENTENCES, "This model moves by itself.")
        return [(name, name.capitalize(), tip, is_free or name == given) for name, tip in tips.items()]

    def hierarchies(self) -> list[Choice]:
        """Every structure, by family."""
        kinds = sorted(option_tables.builders().items(), key=lambda item: (item[1].family, item[0]))
        return [(name, kind.title, _named(name, _summary(kind)), True) for name, kind in kinds]

    def choose_hierarchy(self, name: str) -> None:
        """Another structure; a layout or traversal that it does not have gives way to auto, in the same step of
        undo."""
        settings = self._document.state.settings.render
        self._document.change("settings.render.hierarchy", name, "structure")
        if settings.layout != "auto" and settings.layout not in option_tables.layouts(name):
            self._document.change("settings.render.layout", "auto", "structure")
        if settings.traversal != "auto":
            self._document.change("settings.render.traversal", "auto", "structure")
        self._document.end_merge()

    def optimisers(self) -> list[Choice]:
        """None, and every optimiser; those of another family are shown and cannot be chosen."""
        kind = option_tables.builder(self._document.state.settings.render.hierarchy)
        fitting = () if kind is None else kind.optimisers()
        none = ("none", tr("Choices", "None"), tr("Choices", "The tree as it is built."), True)
        return [
            none,
            *(
                (name, of.title, _named(name, _summary(of)), name in fitting)
                for name, of in option_tables.optimisers().items()
            ),
        ]

    def layouts(self) -> list[Choice]:
        """Auto and the layouts of the present structure."""
        names = option_tables.layouts(self._document.state.settings.render.hierarchy)
        return [
            (
                "auto",
                tr("Choices", "Automatic"),
                tr("Choices", "The structure's best layout for this device and ray type."),
                True,
            ),
            *(_titled("render.layout", name, help_texts.layout_sentence(self._family(), name)) for name in names),
        ]

    def choose_layout(self, name: str) -> None:
        """Another layout; the traversal goes back to the layout's best, in the same step of undo."""
        self._document.change("settings.render.layout", name, "layout")
        if self._document.state.settings.render.traversal != "auto":
            self._document.change("settings.render.traversal", "auto", "layout")
        self._document.end_merge()

    def traversals(self) -> list[Choice]:
        """Auto and the traversals of the present layout."""
        render = self._document.state.settings.render
        names = option_tables.traversals(render.hierarchy, render.layout)
        found = (
            _titled("render.traversal", name, help_texts.traversal_sentence(self._family(), name)) for name in names
        )
        return [("auto", tr("Choices", "Automatic"), tr("Choices", "The layout's best."), True), *found]

    def _family(self) -> str:
        kind = option_tables.builder(self._document.state.settings.render.hierarchy)
        return "" if kind is None else str(kind.family)

    def triangle_tests(self) -> list[Choice]:
        """How rays and triangles are intersected."""
        titles = {
            "moeller_trumbore": (
                "Möller-Trumbore",
                tr("Choices", "By two edges of a triangle; nothing is kept beside its vertices."),
            ),
            "watertight": (
                tr("Choices", "Watertight"),
                tr("Choices", "No ray passes between two triangles that share an edge."),
            ),
            "unit_triangle": (
                tr("Choices", "Unit triangle (Woop)"),
                tr(
                    "Choices",
                    "By a transformation of each triangle to the unit triangle: 48 bytes each, computed again when it "
                    "moves.",
                ),
            ),
        }
        known = option_field("render.triangle_test").info.choices
        return [(name, *titles.get(name, (name, "")), True) for name in known]

    def primaries(self) -> list[Choice]:
        """Who gives the camera's first hits; tiles need a scene of spheres or glyphs."""
        sentences = {
            "structure": (tr("Choices", "Structure"), tr("Choices", "Rays traverse the structure.")),
            "tiles": (
                tr("Choices", "Tiles of spheres"),
                tr(
                    "Choices",
                    "Each tile of the picture tests what lies in it: for scenes of spheres and glyphs.",
                ),
            ),
        }
        scene = self._document.scene
        is_able = scene is not None and scene.sphere_count + scene.glyph_count == scene.primitive_count > 0
        return self._where_able("render.primary", sentences, is_able)

    def sphere_drawers(self) -> list[Choice]:
        """Who draws a scene of spheres alone in the window."""
        sentences = {
            "rays": (tr("Choices", "Rays"), tr("Choices", "Rays are cast by the structure or by tiles.")),
            "full_screen": (
                tr("Choices", "OpenGL: fragment shader"),
                tr("Choices", "A fragment shader tests every pixel against all spheres, in flat shading (Söll 2015)."),
            ),
            "impostors": (
                tr("Choices", "OpenGL: impostors"),
                tr("Choices", "Each sphere is a point sprite with depth, in flat shading, as in viewers of molecules."),
            ),
        }
        scene = self._document.scene
        return self._where_able("display.spheres", sentences, scene is not None and not scene.beside_spheres)

    def _where_able(self, key: str, sentences: dict[str, tuple[str, str]], is_able: bool) -> list[Choice]:
        """A setting whose first value fits every scene, the others those that are able."""
        known = option_field(key).info.choices
        return [(name, *sentences.get(name, (name, "")), name == known[0] or is_able) for name in known]

    def updates(self) -> list[Choice]:
        """The update policies; what the structure cannot do is shown and cannot be chosen."""
        kind = option_tables.builder(self._document.state.settings.render.hierarchy)
        can_refit = kind is None or kind.capabilities.refit
        tips = {
            "rebuild": tr(
                "Choices", "A new tree for each frame in which something moves: the best tree, and the longest wait."
            ),
            "refit": tr(
                "Choices",
                "The same tree with new boxes: quick, and worse the farther triangles move from where it was built.",
            ),
            "auto": tr(
                "Choices",
                "What costs less, by measured times and by how much worse the tree became; the statistics say why.",
            ),
            "every_n": tr("Choices", "A new tree every so many frames, and refits of it in those between."),
            "cost_ratio": tr("Choices", "Refits until the SAH cost has grown by so much; then a new tree."),
        }
        refusal = tr("Choices", "This structure cannot be refitted.")
        offered = {
            name: (policy, can_refit or not policy.refits) for name, policy in option_tables.update_policies().items()
        }
        return [
            (name, tr("Choices", policy.title), tips.get(name) or tr("Choices", _whole(policy.sentence)), True)
            if is_free
            else (name, tr("Choices", policy.title), refusal, False)
            for name, (policy, is_free) in offered.items()
        ]

    def ray_types(self) -> list[Choice]:
        """Every ray type."""
        kinds = sorted(option_tables.ray_types().items())
        return [(name, getattr(kind, "title", "") or name, _named(name, _summary(kind)), True) for name, kind in kinds]

    def devices(self) -> list[Choice]:
        """Automatic, the CPU, the first GPU; another GPU is chosen in the settings."""
        present = self._document.state.settings.render.device
        found: list[Choice] = [
            (
                "auto",
                tr("Choices", "Automatic"),
                tr("Choices", "The NVIDIA GPU where there is one, else the CPU."),
                True,
            ),
            ("cpu", tr("Choices", "CPU"), tr("Choices", "All cores of this machine."), True),
            ("cuda", tr("Choices", "NVIDIA GPU"), tr("Choices", "The first NVIDIA GPU."), True),
        ]
        return (
            found
            if present in ("auto", "cpu", "cuda")
            else [*found, (present, tr("Choices", "NVIDIA GPU ({name})").format(name=present), "", True)]
        )

    def samples(self) -> list[Choice]:
        """Numbers of samples per pixel."""
        present = self._document.state.settings.render.samples
        return [(str(count), str(count), "", True) for count in sorted({*SAMPLES, present})]

    def choose_samples(self, count: str) -> None:
        """Another number of samples."""
        self._document.change("settings.render.samples", int(count))


def _titled(key: str, name: str, sentence: str) -> Choice:
    """A value of a setting by its title, with what it is called in files."""
    return name, titles.title(key, name), _named(name, sentence), True


def _named(name: str, sentence: str) -> str:
    """A tip that also says what files of settings and commands call the choice."""
    return tr("Choices", "{sentence} In settings: {name}.").format(sentence=sentence, name=name)


def _summary(kind: type) -> str:
    """The beginning of its help page."""
    return help_texts.parsed(sys.modules[kind.__module__].__doc__ or "")[0].split("\n")[0]


def _whole(sentence: str) -> str:
    """A policy's words, which begin behind its name, as a sentence of their own."""
    return f"{sentence[:1].upper()}{sentence[1:]}."
