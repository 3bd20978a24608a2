"""What the rules of the house ask about a Python file, found in one pass over its syntax tree and kept by its text: the
rules, and the copies of the project that recipes are performed in, ask it of the same files again and again."""

from __future__ import annotations

import ast
import dataclasses
import functools


@dataclasses.dataclass
class Syntax:
    """A file's parts. Whole trees of all files would take hundreds of megabytes."""

    has_docstring: bool = True
    """An empty file needs none."""
    imports: list[ast.Import | ast.ImportFrom] = dataclasses.field(default_factory=list)
    functions: list[tuple[str, int, int]] = dataclasses.field(default_factory=list)
    """Name, first line and length."""
    names: list[tuple[str, int]] = dataclasses.field(default_factory=list)
    """Names that are given, with their lines: of functions, classes, arguments and variables."""


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


@functools.cache
def syntax_of(text: str) -> Syntax:
    """Of a Python file's text."""
    tree = ast.parse(text)
    found = Syntax(not tree.body or ast.get_docstring(tree) is not None)
    waiting: list[ast.AST] = [tree]
    while waiting:  # ast.walk takes four times as long: it looks at the end of every branch
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                found.names.append((node.id, node.lineno))
            continue
        if isinstance(node, _IMPORTS):
            found.imports.append(node)
            continue
        if isinstance(node, ast.arg):
            found.names.append((node.arg, node.lineno))
        elif isinstance(node, _NAMED):
            found.names.append((node.name, node.lineno))
            if not isinstance(node, ast.ClassDef):
                found.functions.append((node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1))
        for value in vars(node).values():
            if isinstance(value, list):
                waiting += [entry for entry in value if isinstance(entry, ast.AST)]
            elif isinstance(value, ast.AST):
                waiting.append(value)
    return found
