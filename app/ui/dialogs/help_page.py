"""Help > Structures and ray types: a page for each, from the text beside its code."""

from __future__ import annotations

import html

from PySide6.QtCore import QUrl, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QSplitter,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.help.texts import HelpText, pages
from raygrove.app.ui.dialogs.button_box import button_box
from raygrove.app.ui.widgets.form import title_of

MENUS = {"hierarchy": "Structure > Builder", "optimiser": "Structure > Optimiser", "ray_type": "Render > Ray type"}
"""Where a page's subject is chosen, by the first word of its table."""

TITLES = {"Idea": "The idea", "Paper": "The paper", "Cost": "What it costs", "Limits": "Its limits"}


def html_of(page: HelpText) -> str:
    """A page as the browser shows it."""
    parts = [f"<h2>{html.escape(page.title)}</h2>", _paragraphs(page.summary)]
    for name, text in page.sections.items():
        parts += [f"<h4>{TITLES[name]}</h4>", _paragraphs(text)]
    if page.facts:
        parts.append("<h4>What it can do</h4><p>" + "<br>".join(html.escape(fact) for fact in page.facts) + "</p>")
    if page.options:
        rows = "".join(
            f"<tr><td><b>{html.escape(title_of(field.name))}</b></td><td>{html.escape(field.info.sentence)}"
            f"<br><i>{html.escape(field.allowed())}; default {html.escape(str(field.default))}</i></td></tr>"
            for field in page.options
        )
        parts.append(f"<h4><a href='options:{page.table}'>Its options</a></h4><table cellpadding='4'>{rows}</table>")
    kind, _, name = page.table.partition(".")
    parts.append(
        f"<p>Chosen by <b>{html.escape(MENUS[kind])} &gt; {html.escape(page.title)}</b>. Settings files call it "
        f"<code>{html.escape(name)}</code>, and its options <code>[{html.escape(page.table)}]</code>.</p>"
    )
    return "".join(parts)


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{html.escape(line)}</p>" for line in text.split("\n"))


class HelpDialog(QDialog):
    """The pages in a tree and the chosen one beside it. `options_wanted` carries the table whose options someone wants
    to change."""

    options_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("help")
        self.setWindowTitle(self.tr("Structures and ray types"))
        self.resize(860, 620)
        self._pages = pages()
        self.tree = QTreeWidget(self)
        self.tree.setHeaderHidden(True)
        self._items: dict[str, QTreeWidgetItem] = {}
        self._fill()
        self.browser = QTextBrowser(self)
        self.browser.setOpenLinks(False)
        self.browser.anchorClicked.connect(self._follow)
        self.tree.currentItemChanged.connect(lambda item, before: self._show(item))
        splitter = QSplitter(self)
        splitter.addWidget(self.tree)
        splitter.addWidget(self.browser)
        splitter.setSizes([240, 620])
        box = button_box(QDialogButtonBox.StandardButton.Close, self)
        box.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(splitter, 1)
        column.addWidget(box)

    def show_page(self, table: str) -> None:
        """Turn to a page; the first one where there is none of that name."""
        self.tree.setCurrentItem(self._items.get(table) or next(iter(self._items.values())))

    def _fill(self) -> None:
        groups: dict[str, QTreeWidgetItem] = {}
        families = {
            "bvh": self.tr("Bounding volume hierarchies"),
            "kdtree": self.tr("Kd-trees"),
            "grid": self.tr("Grids"),
            "octree": self.tr("Octrees"),
            "brute_force": self.tr("No structure"),
        }
        for table, page in self._pages.items():
            others = self.tr("Optimisers") if page.table.startswith("optimiser.") else self.tr("Ray types")
            group = (
                families.get(page.family, self.tr("Structures: {family}").format(family=page.family))
                if page.family
                else others
            )
            if group not in groups:
                groups[group] = QTreeWidgetItem(self.tree, [group])
                groups[group].setExpanded(True)
            self._items[table] = QTreeWidgetItem(groups[group], [page.title])
            self._items[table].setToolTip(0, page.title)

    def _show(self, item: QTreeWidgetItem | None) -> None:
        for table, own in self._items.items():
            if own is item:
                self.browser.setHtml(html_of(self._pages[table]))

    def _follow(self, link: QUrl) -> None:
        if link.scheme() == "options":
            self.options_wanted.emit(link.path())
