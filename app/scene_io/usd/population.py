"""How many prims a stage will have, told from its layers before USD composes it: a few lines that refer to one another
can stand for more prims than there is memory.

A prim counts once for each way that leads to it: through its parents, references, payloads, inherited and specialised
prims; of a variant set the largest variant counts. What refers to itself counts once: USD refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pxr import Sdf

MOST_IN_STAGE = 2_000_000
Place = tuple[str, str]
"""A layer's identifier and the path of a prim in it."""


class _Graph:
    """Which prims come into being with a prim: its children and variants, and what it refers to."""

    def __init__(self, layers: Mapping[str, Sdf.Layer]) -> None:
        self.layers = layers
        self.below: dict[Place, list[list[Place]]] = {}
        """Groups of which the largest counts: children are a group each, the variants of a set are one together."""
        self.stacks = {name: self._stack(layer) for name, layer in layers.items()}
        for name, layer in layers.items():
            self._add(name, layer)

    def _stack(self, layer: Sdf.Layer) -> list[str]:
        """The layer and its sublayers, of any depth."""
        found, waiting = [], [layer]
        while waiting:
            one = waiting.pop()
            if one.identifier in found:
                continue
            found.append(one.identifier)
            for name in one.subLayerPaths:
                below = self.layers.get(_opened(one, name, self.layers))
                waiting += [below] if below is not None else []
        return found

    def _add(self, name: str, layer: Sdf.Layer) -> None:
        variants: dict[tuple[str, str], list[Place]] = {}

        def look(path: Sdf.Path) -> None:
            if not (path.IsPrimPath() or path.IsPrimVariantSelectionPath()):
                return
            text = str(path)
            self.below.setdefault((name, text), [])
            parent = str(path.GetParentPath())
            if path.IsPrimVariantSelectionPath():
                key = (parent, path.GetVariantSelection()[0])
                if key not in variants:
                    variants[key] = []
                    self.below.setdefault((name, parent), []).append(variants[key])
                variants[key].append((name, text))
            else:
                self.below.setdefault((name, parent), []).append([(name, text)])
            spec = layer.GetPrimAtPath(path)
            if spec is not None and (
                spec.hasReferences or spec.hasPayloads or spec.hasInheritPaths or spec.hasSpecializes
            ):
                self.below[name, text] += [[place] for place in self._targets(layer, spec)]

        layer.Traverse(Sdf.Path.absoluteRootPath, look)

    def _targets(self, layer: Sdf.Layer, spec: Sdf.PrimSpec) -> list[Place]:
        result = []
        for arcs in (spec.referenceList, spec.payloadList):
            for arc in _items(arcs):
                where = _opened(layer, arc.assetPath, self.layers) if arc.assetPath else layer.identifier
                target = self.layers.get(where)
                if target is not None:
                    path = str(arc.primPath or target.GetDefaultPrimAsPath())
                    result += [(one, path) for one in self.stacks[where]]
        for arcs in (spec.inheritPathList, spec.specializesList):
            result += [(one, str(path)) for path in _items(arcs) for one in self.stacks[layer.identifier]]
        return result

    def count(self, start: Place) -> int:
        """Prims that come into being with `start`."""
        counts: dict[Place, int] = {}
        stack = [(start, False)]
        while stack:
            place, is_done = stack.pop()
            groups = self.below.get(place, [])
            if is_done:
                counts[place] = 1 + sum(max((counts.get(one, 0) for one in group), default=0) for group in groups)
            elif place not in counts:
                counts[place] = 1  # what leads back to it counts it once
                stack.append((place, True))
                stack += [(one, False) for group in groups for one in group if one not in counts]
        return counts[start]


def population(layers: Mapping[str, Sdf.Layer], root: str) -> int:
    """Prims of the stage of `root`, at most: those that several layers describe count in each."""
    graph = _Graph(layers)
    return sum(graph.count((name, "/")) for name in graph.stacks[root])


def _items(arcs: object) -> list:  # type: ignore[type-arg]
    return [*arcs.explicitItems, *arcs.prependedItems, *arcs.appendedItems, *arcs.addedItems]  # type: ignore[attr-defined]


def _opened(layer: Sdf.Layer, name: str, layers: Mapping[str, Sdf.Layer]) -> str:
    """The identifier of the opened layer that `name` stands for in `layer`; "" where there is none."""
    found = Sdf.Layer.FindRelativeToLayer(layer, name)
    return found.identifier if found is not None and found.identifier in layers else ""
