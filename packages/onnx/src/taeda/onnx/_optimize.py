"""Models without what they do not need. Each step keeps every result."""

from __future__ import annotations

from taeda import Tensor

from ._model import Inner, Model, Node

__all__ = ["optimized"]


def optimized(model: Model) -> None:
    """Remove copies, operators that compute what another one does, and results that nobody reads."""
    _without_twins(model)
    _without_last_copies(model)
    _without_unread(model)


def _without_twins(model: Model) -> None:
    ends = {port.name for port in model.outputs}
    instead: dict[str, str] = {}
    seen: dict[object, Node] = {}
    kept = []
    for node in model.nodes:
        node.read_instead(instead)
        last = not ends.isdisjoint(node.outputs)
        if node.kind == "Identity" and not node.domain and not last:
            instead[node.outputs[0]] = node.inputs[0]
            continue
        key = _key(node)
        twin = seen.get(key) if key is not None and not last else None
        if twin is not None:
            instead.update(zip(node.outputs, twin.outputs, strict=True))
            continue
        if key is not None:
            seen.setdefault(key, node)
        kept.append(node)
    model.nodes = kept


def _without_last_copies(model: Model) -> None:
    """Let what an output copies have the name of the output. Onnxruntime 1.32 takes such a copy out
    itself, and refuses the model where a size of the copied value is read behind a cast.
    """
    ends = {port.name for port in model.outputs}
    made = {name: node for node in model.nodes for name in node.outputs}
    instead: dict[str, str] = {}
    kept = []
    for node in model.nodes:
        source = node.inputs[0] if node.kind == "Identity" and not node.domain else ""
        if ends.isdisjoint(node.outputs) or source in ends | instead.keys() or source not in made:
            kept.append(node)
            continue
        instead[source] = node.outputs[0]
    for node in kept:
        node.read_instead(instead)
        node.outputs = [instead.get(name, name) for name in node.outputs]
    model.nodes = kept
    model.values = {node: instead.get(name, name) for node, name in model.values.items()}


def _key(node: Node) -> object:
    """What two operators share if they compute the same; None for those that draw numbers."""
    values = node.attributes.values()
    if node.domain or node.kind.startswith(("Random", "Bernoulli", "Multinomial", "Dropout")):
        return None
    if any(isinstance(v, Tensor | Inner) for v in values):
        return None
    return node.kind, tuple(node.inputs), repr(sorted(node.attributes.items())), len(node.outputs)


def _without_unread(model: Model) -> None:
    wanted = {port.name for port in model.outputs}
    kept = []
    for node in reversed(model.nodes):
        if not wanted.isdisjoint(node.outputs):
            kept.append(node)
            wanted |= node.reads()
    model.nodes = kept[::-1]
    model.weights = {n: t for n, t in model.weights.items() if n in wanted}
