"""Which modules a program is in while it is traced, noted at each node."""

from __future__ import annotations

import json
import operator
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from taeda import nn
from taeda.fx.graph_module import GraphModule
from taeda.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

__all__ = ["ModuleStack", "note_modules"]


class ModuleStack:
    """The calls of modules of `root` that are going on, as (name, number of the call of it, class)."""

    def __init__(self, root: nn.Module) -> None:
        self._names = {id(m): name for name, m in root.named_modules() if name}
        self._stack: list[tuple[str, int, str]] = []
        self._calls: dict[str, int] = {}
        self._text: str | None = "[]"  # of the stack as it is; None if it has changed

    def text(self) -> str:
        """The calls as text, which a recorder keeps with what it records."""
        if self._text is None:
            self._text = json.dumps(self._stack)
        return self._text

    @contextmanager
    def watched(self) -> Iterator[None]:
        """In this block calls of modules in this thread are seen."""
        here = threading.get_ident()
        self._stack, self._calls, self._text = [], {}, None

        def enter(module: nn.Module, _args: Any) -> None:
            name = self._names.get(id(module))
            if name is not None and threading.get_ident() == here:
                number = self._calls[name] = self._calls.get(name, -1) + 1
                self._stack.append((name, number, type(module).__qualname__))
                self._text = None

        def leave(module: nn.Module, _args: Any, _made: Any) -> None:
            name = self._names.get(id(module))
            if name is not None and threading.get_ident() == here and self._stack:
                self._stack.pop()
                self._text = None

        first = register_module_forward_pre_hook(enter)
        last = register_module_forward_hook(leave, always_call=True)
        try:
            yield
        finally:
            first.remove()
            last.remove()


def note_modules(gm: GraphModule) -> None:
    """What a recorder kept with each node as `meta["nn_module_stack"]`: (name, class) by the name of
    the call, which is `name@k` from the second call of a module on. A part of a result is where the
    whole is, and a node that nobody recorded (a formula of sizes) where the next one is.
    """
    follower: dict[str, tuple[str, str]] = {}
    for node in reversed(list(gm.graph.nodes)):
        if node.op in ("placeholder", "output"):
            continue
        kept = node.meta.pop("stack_trace", None)
        if kept:
            follower = {
                (f"{name}@{number}" if number else name): (name, kind)
                for name, number, kind in json.loads(kept)
            }
        node.meta["nn_module_stack"] = follower
    for node in gm.graph.nodes:
        if node.target is operator.getitem:
            whole: Any = node.args[0]
            node.meta["nn_module_stack"] = whole.meta.get("nn_module_stack", {})
