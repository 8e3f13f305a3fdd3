"""Passes over exported programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api.trees import tree_map

from .exported_program import ExportedProgram

__all__ = ["move_to_device_pass"]


def move_to_device_pass(
    ep: ExportedProgram, location: taeda.device | str | Mapping[str, str]
) -> ExportedProgram:
    """The program itself, moved to a device: its tensors, the arguments of its example, and the
    devices that nodes name.

    `location` is the device, or a mapping from devices as they are ("cpu") to those that are meant;
    what is on another one stays. TypeError for what is no program and no location, RuntimeError for
    a device that is none. Nothing has moved if an error is raised.

    >>> from taeda import nn
    >>> from taeda.export import export
    >>> ep = export(nn.Linear(3, 2), (taeda.ones(4, 3),))
    >>> move_to_device_pass(ep, {"cpu": "meta"}).state_dict["weight"].device
    device(type='meta')
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"move_to_device_pass: ep is an ExportedProgram, got {type(ep).__name__}")
    where = _Location(location)
    state = {name: where.tensor(t) for name, t in ep.state_dict.items()}
    constants = {name: where.tensor(t) for name, t in ep.constants.items()}
    example = tree_map(where.leaf, ep.example_inputs)
    nodes = list(ep.graph.nodes)
    made = [
        (tree_map(where.leaf, n.args), tree_map(where.leaf, dict(n.kwargs)), where.note(n))
        for n in nodes
    ]
    for node, (args, kwargs, note) in zip(nodes, made, strict=True):
        node.args, node.kwargs = args, kwargs
        node.meta["val"] = note
    ep._state_dict.update(state)
    ep._constants.update(constants)
    ep._example_inputs = example
    ep.graph_module.recompile()
    return ep


class _Location:
    """Where things go."""

    def __init__(self, location: Any) -> None:
        if isinstance(location, Mapping):
            entries = [(taeda.device(a), taeda.device(b)) for a, b in location.items()]
            self.known = dict(entries)
            self.all: taeda.device | None = None
        elif isinstance(location, (str, taeda.device)):
            self.all = taeda.device(location)
        else:
            raise TypeError(
                "move_to_device_pass: location is a device, its name, or a mapping of names, got "
                f"{type(location).__name__}"
            )

    def of(self, device: taeda.device) -> taeda.device:
        return self.known.get(device, device) if self.all is None else self.all

    def tensor(self, tensor: Tensor) -> Tensor:
        place = self.of(tensor.device)
        if place == tensor.device:
            return tensor
        moved = tensor.detach().to(place)
        if isinstance(tensor, nn.Parameter):
            return nn.Parameter(moved, tensor.requires_grad)
        return moved.requires_grad_(tensor.requires_grad)

    def leaf(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self.tensor(value)
        return self.of(value) if isinstance(value, taeda.device) else value

    def note(self, node: Any) -> Any:
        """What `meta["val"]` is then. Tensors that stand for sizes only lie nowhere already."""
        value = node.meta.get("val")
        return tree_map(self.leaf, value) if node.op == "placeholder" else value
