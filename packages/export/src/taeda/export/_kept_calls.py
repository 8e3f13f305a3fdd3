"""Calls of modules inside of a program whose arguments and results are kept, for `unflatten`.

What a call gets and gives are further results of the trace, so a node stands for each; they are taken
out of the program again when the nodes have their last names.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from taeda import SymBool, SymFloat, SymInt, Tensor, nn
from taeda._core_api.trees import TreeSpec, tree_flatten
from taeda.compiler._errors import UserError
from taeda.fx.node import Node

from ._module_calls import ModuleCallEntry, ModuleCallSignature
from .graph_signature import ArgumentSpec, ConstantArgument, TensorArgument

__all__ = ["KeptCalls", "entries_renamed", "kept_names"]

_PLAIN = (int, float, bool, str, type(None))


@dataclass
class _Call:
    """One call: leaves of its arguments, then of its results."""

    name: str
    in_spec: TreeSpec
    leaves: list[Any]
    versions: list[int]
    out_spec: TreeSpec | None = None
    results: list[Any] = field(default_factory=list)

    def note(self, leaves: list[Any]) -> None:
        for leaf in leaves:
            if isinstance(leaf, SymInt | SymFloat | SymBool):
                raise UserError(
                    f"{self.name} gets or gives the size {leaf}, which differs from call to call, and "
                    "preserve_module_call_signature keeps tensors and constants: pass the tensor, and "
                    "ask its size inside"
                )
            if not isinstance(leaf, (Tensor, *_PLAIN)):
                raise UserError(
                    f"{self.name} gets or gives a {type(leaf).__name__}: "
                    "preserve_module_call_signature keeps tensors, numbers, texts, None, and trees of "
                    "them"
                )
            self.versions.append(leaf._version if isinstance(leaf, Tensor) else 0)

    def everything(self) -> list[Any]:
        return [*self.leaves, *self.results]


class KeptCalls:
    """The calls of the modules at `paths` of `root`, in the order in which they end."""

    def __init__(self, root: nn.Module, paths: Sequence[str]) -> None:
        if isinstance(paths, str) or not all(isinstance(path, str) for path in paths):
            raise TypeError(
                "export: preserve_module_call_signature is a tuple of names of modules, got "
                f"{paths!r:.100}: write ('encoder',)"
            )
        names = {id(m): name for name, m in root.named_modules()}
        known = dict(root.named_modules(remove_duplicate=False))
        for path in paths:
            if path not in known or not path:
                raise UserError(
                    f"preserve_module_call_signature names {path!r}, and no module inside of the "
                    f"exported one is called so: there are {sorted(n for n in known if n)!s:.300}"
                )
        self.modules = {names[id(known[path])]: known[path] for path in paths}
        self.calls: list[_Call] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """In this block calls of these modules in this thread are seen."""
        here, counts = threading.get_ident(), dict[str, int]()
        open_calls: list[_Call] = []
        ended: list[_Call] = []

        def enter(name: str, _module: Any, args: Any, kwargs: Any) -> None:
            if threading.get_ident() != here:
                return
            number = counts[name] = counts.get(name, -1) + 1
            leaves, spec = tree_flatten((args, kwargs))
            call = _Call(f"{name}@{number}" if number else name, spec, leaves, [])
            call.note(leaves)
            open_calls.append(call)

        def leave(_module: Any, _args: Any, made: Any) -> None:
            if threading.get_ident() != here:
                return
            call = open_calls.pop()
            call.results, call.out_spec = tree_flatten(made)
            call.note(call.results)
            ended.append(call)

        with ExitStack() as hooks:
            for name, module in self.modules.items():
                before: Any = partial(enter, name)
                for hook in (
                    module.register_forward_pre_hook(before, with_kwargs=True),
                    module.register_forward_hook(leave),
                ):
                    hooks.callback(hook.remove)
            yield
        self.calls = ended  # a call that raised keeps those of the one before

    def tensors(self) -> list[Tensor]:
        """What the calls got and gave, as further results. UserError for a call that never was, and for
        a tensor that was written later: its node is the new value then.
        """
        there = {call.name for call in self.calls}
        if missing := sorted(self.modules.keys() - there):
            raise UserError(
                f"preserve_module_call_signature names {missing}, which this call of the module does "
                "not run: leave them out, or export a call that runs them"
            )
        made = []
        for call in self.calls:
            for leaf, version in zip(call.everything(), call.versions, strict=True):
                if not isinstance(leaf, Tensor):
                    continue
                if leaf._version != version:
                    raise UserError(
                        f"the program writes into a tensor that {call.name} got or gave, so "
                        "preserve_module_call_signature cannot keep the call: write into a clone, or "
                        "leave it out"
                    )
                made.append(leaf)
        return made

    def entries(self, nodes: Sequence[Node]) -> list[ModuleCallEntry]:
        """The calls, whose tensors these nodes are."""
        rest = iter(nodes)
        made = []
        for call in self.calls:
            specs: list[Any] = [
                TensorArgument(next(rest).name)
                if isinstance(leaf, Tensor)
                else ConstantArgument("", leaf)
                for leaf in call.everything()
            ]
            assert call.out_spec is not None
            count = len(call.leaves)
            signature = ModuleCallSignature(
                specs[:count], specs[count:], call.in_spec, call.out_spec
            )
            made.append(ModuleCallEntry(call.name, signature))
        return made


def kept_names(entries: Sequence[ModuleCallEntry]) -> list[str]:
    """The names of the nodes that calls get and give, each once."""
    signatures = [entry.signature for entry in entries if entry.signature is not None]
    leaves = [leaf for call in signatures for leaf in (*call.inputs, *call.outputs)]
    return list(dict.fromkeys(a.name for a in leaves if not isinstance(a, ConstantArgument)))


def entries_renamed(
    entries: Sequence[ModuleCallEntry], names: Mapping[str, str]
) -> list[ModuleCallEntry]:
    """The same calls of a program whose nodes have other names."""

    def other(arg: ArgumentSpec) -> ArgumentSpec:
        return arg if isinstance(arg, ConstantArgument) else replace(arg, name=names[arg.name])

    made = []
    for entry in entries:
        call = entry.signature
        if call is not None:
            inputs, outputs = ([other(a) for a in args] for args in (call.inputs, call.outputs))
            call = replace(call, inputs=inputs, outputs=outputs)
        made.append(ModuleCallEntry(entry.fqn, call))
    return made
