"""Pages of HTML that load nothing: a content security policy that forbids it, light or dark as the reader's system is,
tables that scroll on a phone."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence

from .drawing import DARK, LIGHT, style_of
from .plain_letters import plain_letters

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
STYLE = f"""
:root {{ color-scheme: light dark; --back: #FFFFFF; --text: {LIGHT["text"]}; --soft: #4E5862; --line: #D5DBE2; }}
@media (prefers-color-scheme: dark) {{ :root {{ --back: #14171A; --text: {DARK["text"]}; --soft: #AEB6C0;
--line: #3A424C; }} }}
body {{ margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--back); color: var(--text);
font: 1rem/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.5rem; margin: 0; }} h2 {{ font-size: 1.15rem; margin: 2rem 0 0.5rem; }}
p, dd {{ color: var(--soft); max-width: 60rem; }} .verdict {{ color: var(--text); font-weight: 600; }}
.wide {{ overflow-x: auto; background: linear-gradient(to right, var(--back) 40%, transparent) 0 0 / 3rem 100% local,
linear-gradient(to left, var(--back) 40%, transparent) 100% 0 / 3rem 100% local,
linear-gradient(to right, var(--line), transparent) 0 0 / 1rem 100% scroll,
linear-gradient(to left, var(--line), transparent) 100% 0 / 1rem 100% scroll; background-repeat: no-repeat; }}
svg {{ width: 100%; min-width: 34rem; max-width: 48rem; height: auto; margin-top: 0.6rem; }}
table {{ border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: right; padding: 0.25rem 0.45rem; border-bottom: 1px solid var(--line); white-space: nowrap; }}
th {{ vertical-align: bottom; white-space: normal; }}
th.name, td.name, td.prose, th.prose {{ text-align: left; }}
td.prose {{ white-space: normal; min-width: 14rem; }}
ul {{ padding-left: 1.4rem; }} ul.ranking {{ list-style: none; padding: 0; }} li {{ margin: 0.3rem 0; }}
.pictures {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0.8rem; }}
figure {{ margin: 0; }} figure img {{ width: 100%; display: block; }} figcaption {{ overflow-wrap: anywhere; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.6rem; border: 1px solid var(--line); }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }} dt {{ font-weight: 600; }}
dd {{ margin: 0; overflow-wrap: anywhere; }}
{style_of(LIGHT)}
@media (prefers-color-scheme: dark) {{ {style_of(DARK)} }}
"""


def document_of(title: str, parts: Iterable[str], script: str = "") -> str:
    """A page of parts in HTML, under its title, which is text. Empty parts are left out. A `script` of ours stands at
    the end, and the policy allows that text alone. Controls, marks of direction and bytes that are no UTF-8, which
    names of files and of a model may hold, are written as numbers."""
    shown = html.escape(title)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"{POLICY}; script-src 'sha256-{digest}'" if script else POLICY
    head = (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{shown}</h1>"
    )
    last = f"<script>{script}</script>" if script else ""
    page = "\n".join(part for part in (head, *parts, last, "</body>\n</html>\n") if part)
    return plain_letters(page)


def table_of(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], names: int, is_last_prose: bool = False) -> str:
    """A table of text; the first `names` columns stand to the left, and prose in the last is broken into lines."""
    classes = [' class="name"' if place < names else "" for place in range(len(heads))]
    if is_last_prose:
        classes[-1] = ' class="prose"'

    def line(cells: tuple[str, ...], tag: str) -> str:
        made = (f"<{tag}{kind}>{html.escape(cell)}</{tag}>" for cell, kind in zip(cells, classes, strict=True))
        return f"<tr>{''.join(made)}</tr>"

    return '<div class="wide"><table>' + "\n".join([line(heads, "th"), *(line(row, "td") for row in rows)]) + (
        "</table></div>"
    )  # fmt: skip


def facts_list(facts: Mapping[str, str]) -> str:
    """Facts as a list of their names and values."""
    return "<dl>" + "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in facts.items()) + "</dl>"
