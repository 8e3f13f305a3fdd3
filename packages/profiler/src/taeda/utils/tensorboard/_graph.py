"""The operations of a model as nodes, recorded while it runs once."""

# tensorboard is optional, and its messages are made when they are imported
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.programs import tracers
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

__all__ = ["recorded"]


def recorded(model: Any, inputs: Any) -> GraphDef:
    """Run `model` once in eval mode without gradients and return what it computed.

    TypeError for what is no module. What the model raises passes.
    """
    from taeda import nn  # upward: whoever has a model has taeda.nn
    from taeda.nn.modules import module as modules  # upward: the same

    if not isinstance(model, nn.Module):
        raise TypeError(f"add_graph: model is {type(model).__name__}, and has to be a Module")
    args = inputs if isinstance(inputs, (tuple, list)) else () if inputs is None else (inputs,)
    recorder = _Recorder(model, args)
    trained = [part for part in model.modules() if part.training]
    hooks = [
        modules.register_module_forward_pre_hook(recorder.enter),
        modules.register_module_forward_hook(recorder.leave, always_call=True),
    ]
    model.eval()
    tracers.push(recorder)
    try:
        with taeda.no_grad():  # upward: whoever has a model has gradients
            recorder.outputs(model(*args))
    finally:
        tracers.remove(recorder)
        for hook in hooks:
            hook.remove()
        for part in trained:
            part.training = True
    return recorder.graph


class _Recorder:
    """A tracer that gives each operation a node, within the module that runs it."""

    def __init__(self, model: Any, args: Any) -> None:
        self.graph = GraphDef()
        self.graph.versions.producer = 22
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []  # numbers of objects stay theirs while they live
        self._used: Counter[str] = Counter()
        top = type(model).__name__
        self._places = {
            id(part): "/".join([top, *path.split(".")] if path else [top])
            for path, part in model.named_modules()
        }
        self._inside: list[str] = [top]
        for name, held in [*model.named_parameters(), *model.named_buffers()]:
            self._node(f"{top}/{name.replace('.', '/')}", "Variable", [], [held])
        for number, value in enumerate(_tensors(args)):
            self._node(f"input/{number}", "Placeholder", [], [value])

    def enter(self, part: Any, *rest: Any) -> None:
        self._inside.append(self._places.get(id(part), f"{self._inside[-1]}/{type(part).__name__}"))

    def leave(self, part: Any, *rest: Any) -> None:
        self._inside.pop()

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        made = run()
        known = [self._names[id(value)] for value in _tensors(args) if id(value) in self._names]
        self._node(
            f"{self._inside[-1]}/{op.partition('.')[0]}",
            op if "::" in op else f"aten::{op}",
            known,
            list(_tensors(made)),
        )
        return made

    def outputs(self, made: Any) -> None:
        for number, value in enumerate(_tensors(made)):
            known = [self._names[id(value)]] if id(value) in self._names else []
            self._node(f"output/{number}", "IO Node", known, [value])

    def _node(self, name: str, op: str, inputs: list[str], made: list[Tensor]) -> None:
        self._used[name] += 1
        if self._used[name] > 1:
            name = f"{name}_{self._used[name] - 1}"
        node = NodeDef(name=name, op=op, input=inputs)
        for value in made:
            shape = node.attr["_output_shapes"].list.shape.add()
            for size in value.shape:
                shape.dim.add(size=size)
            self._names[id(value)] = name
        self._kept += made
        self.graph.node.append(node)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
