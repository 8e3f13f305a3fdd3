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
from taeda._core_api.trees import TreeSpec
from taeda.compiler._errors import UserError

from ._module_calls import ModuleCallEntry, ModuleCallSignature
from ._outputs import argument_of, flat_results
from .graph_signature import ArgumentSpec, ConstantArgument

__all__ = ["KeptCalls", "entries_renamed", "kept_names"]

#: what a node may stand for: a size that is 1 is a number in a trace, and a symbol in another one
_OF_NODES = (Tensor, SymInt, SymFloat, SymBool, int, float, bool)
_PLAIN = (str, type(None))


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
            if not isinstance(leaf, (*_OF_NODES, *_PLAIN)):
                raise UserError(
                    f"{self.name} gets or gives a {type(leaf).__name__}: "
                    "preserve_module_call_signature keeps tensors, sizes, numbers, texts, None, and "
                    "trees of them"
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
            leaves, spec = flat_results((args, kwargs))
            call = _Call(f"{name}@{number}" if number else name, spec, leaves, [])
            call.note(leaves)
            open_calls.append(call)

        def leave(_module: Any, _args: Any, made: Any) -> None:
            if threading.get_ident() != here:
                return
            call = open_calls.pop()
            call.results, call.out_spec = flat_results(made)
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

    def values(self) -> list[Any]:
        """Tensors and numbers that the calls got and gave, as further results. UserError for a call that
        never was, and for a tensor that was written later: its node is the new value then.
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
                if not isinstance(leaf, _OF_NODES):
                    continue
                if isinstance(leaf, Tensor) and leaf._version != version:
                    raise UserError(
                        f"the program writes into a tensor that {call.name} got or gave, so "
                        "preserve_module_call_signature cannot keep the call: write into a clone, or "
                        "leave it out"
                    )
                made.append(leaf)
        return made

    def entries(self, nodes: Sequence[Any]) -> list[ModuleCallEntry]:
        """The calls, whose tensors and numbers these are: nodes, and numbers that never differ."""
        rest = iter(nodes)
        made = []
        for call in self.calls:
            specs: list[Any] = [
                argument_of(next(rest) if isinstance(leaf, _OF_NODES) else leaf)
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
    entries: Sequence[ModuleCallEntry], args: Mapping[str, ArgumentSpec]
) -> list[ModuleCallEntry]:
    """The same calls of a program in which these are the nodes of these names."""

    def other(arg: ArgumentSpec) -> ArgumentSpec:
        return arg if isinstance(arg, ConstantArgument) else args[arg.name]

    made = []
    for entry in entries:
        call = entry.signature
        if call is not None:
            inputs, outputs = ([other(a) for a in part] for part in (call.inputs, call.outputs))
            call = replace(call, inputs=inputs, outputs=outputs)
        made.append(ModuleCallEntry(entry.fqn, call))
    return made
