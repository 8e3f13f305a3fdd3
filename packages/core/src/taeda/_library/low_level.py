"""`Library`: operators by schema text and kernels by dispatch key, tied to the life of an object."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from taeda._table._schema import SchemaError
from taeda._warnings import warn

from . import rules, table
from .operators import OpOverload
from .tags import Tag, as_tags

__all__ = ["Library", "fallthrough_kernel", "scoped_library", "slot_of_key"]

Function = Callable[..., Any]

#: dispatch keys that have a place for kernels here
_KEYS = {
    "CPU": "cpu",
    "CUDA": "cuda",
    "Meta": "meta",
    "CompositeExplicitAutograd": "any",
    "CompositeImplicitAutograd": "composite",
    "": "composite",
}
#: keys of layers that take functions elsewhere, and where
_ELSEWHERE = ("Autograd", "AutogradCPU", "AutogradCUDA", "Autocast", "Python",
              "Functionalize", "FuncTorchBatched", "ADInplaceOrView", "BackendSelect")  # fmt: skip
#: keys of autocast, by device; None: there are no such devices, so nobody will ask
_AUTOCAST = {"AutocastCPU": "cpu", "AutocastCUDA": "cuda", "AutocastXPU": None}
_RESERVED = ("prim",)
_blocks: set[str] = {"aten"}  # namespaces with a library of kind DEF


def slot_of_key(key: str) -> str:
    """The slot of a dispatch key; RuntimeError for a word that is none, NotImplementedError for a layer's."""
    if key in _ELSEWHERE:
        raise NotImplementedError(
            f"kernels for dispatch key {key!r} do not exist here: layers ask for rules instead. "
            "For derivatives use "
            "library.register_autograd"
        )
    if key not in _KEYS:
        raise RuntimeError(
            f"could not parse dispatch key: {key!r}; keys with kernels are {', '.join(filter(None, _KEYS))}"
        )
    return _KEYS[key]


def fallthrough_kernel(*args: Any, **kwargs: Any) -> Any:
    """Given to `Library.impl` or `Library.fallback`: that key has no kernel of its own. Never called.

    >>> import taeda
    >>> lib = taeda.library.Library("fallthrough_example", "DEF")
    >>> lib.define("half(Tensor x) -> Tensor")
    'half'
    >>> lib.impl("half", taeda.library.fallthrough_kernel, "CUDA")
    >>> lib.impl("half", lambda x: x / 2, "CPU")
    >>> taeda.ops.fallthrough_example.half(taeda.ones(1)).item()
    0.5
    """
    raise NotImplementedError("fallthrough_kernel() stands for no kernel; it is not called")


class Library:
    """Operators and kernels of one namespace.

    kind "DEF" makes the namespace (there is one such library), "FRAGMENT" adds to it, "IMPL" only
    gives kernels. All that was registered through the object goes when it does: keep it.

    Args:
        ns: the namespace
        kind: "DEF", "FRAGMENT" or "IMPL"
        dispatch_key: the key that `impl` takes where it gets none (default: "")

    >>> import taeda
    >>> lib = Library("mymath", "DEF")
    >>> lib.define("half(Tensor x) -> Tensor")
    'half'
    >>> lib.impl("half", lambda x: x / 2, "CPU")
    >>> taeda.ops.mymath.half(taeda.tensor([3.0]))
    tensor([1.5000])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind!r}; wanted 'DEF', 'FRAGMENT' or 'IMPL'")
        if kind != "IMPL" and ns in _RESERVED:
            raise ValueError(
                f"{ns} is a reserved namespace. Please try creating a library with another name."
            )
        if kind == "DEF" and ns in _blocks:
            raise RuntimeError(
                f"Only a single library of kind 'DEF' can be used to register the namespace {ns}; "
                "add to it with kind 'FRAGMENT', "
                "or give implementations with kind 'IMPL'"
            )
        if kind == "DEF":
            _blocks.add(ns)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[str] = []
        self._kernels: dict[tuple[str, str], Function] = {}
        self._fallbacks: list[str] = []
        #: by operator, layer, and what the layer distinguishes: a device type, a class of modes
        self._rules: dict[tuple[str, str, Any], Any] = {}
        self._alive = True
        finalize = weakref.finalize(
            self,
            _undo,
            ns if kind == "DEF" else "",
            self._defined,
            self._kernels,
            self._fallbacks,
            self._rules,
        )
        finalize.atexit = False
        self._finalize = finalize

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def _destroy(self) -> None:
        """Take everything away that was registered through this object."""
        self._alive = False
        self._finalize()

    def define(
        self, schema: str, alias_analysis: str = "", *, tags: Tag | Sequence[Tag] = ()
    ) -> str:
        """Add an operator, "name(Tensor x) -> Tensor"; returns its name. RuntimeError if it exists."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(
                f"Invalid alias_analysis type {alias_analysis!r}; wanted '', 'FROM_SCHEMA' or 'CONSERVATIVE'"
            )
        if self.kind == "IMPL":
            raise RuntimeError(
                f"define() needs a Library of kind 'DEF' or 'FRAGMENT', this one for {self.ns} is 'IMPL'"
            )
        try:
            made = table.define(f"{self.ns}::{schema.strip()}", tags=as_tags(tags))
        except SchemaError as error:
            raise _BadSchema(str(error)) from None
        self._defined.append(made.text)
        return made.text.partition("::")[2]

    def impl(
        self,
        op_name: str | OpOverload,
        fn: Function,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Give an operator of this namespace a kernel for a dispatch key: "CPU", "Meta",
        "CompositeExplicitAutograd", ...

        The operator may be defined later. "CompositeImplicitAutograd" (the default) is a function
        in other operators, which are differentiated instead of it. "AutocastCPU" and "AutocastCUDA"
        take the function that runs in place of the operator inside of autocast on that device. A
        kernel that is there for that key is replaced, with a warning.
        """
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        text = f"{self.ns}::{self._name_of(op_name)}"
        if (key := dispatch_key or self.dispatch_key) in _AUTOCAST and fn is not fallthrough_kernel:
            self._impl_autocast(text, _AUTOCAST[key], fn)
            return
        slot = slot_of_key(key)
        if fn is fallthrough_kernel:
            return
        if with_keyset:
            raise NotImplementedError(
                f"{text}: with_keyset=True passes a key set, and operators here have no keys"
            )
        if slot in table.entry(text).kernels and not allow_override:
            warn(
                f"Overriding a previously registered kernel of {text} for "
                f"{dispatch_key or self.dispatch_key or 'CompositeImplicitAutograd'}; pass "
                "allow_override=True if it is meant",
                UserWarning,
            )
        table.set_kernel(text, slot, fn)
        self._kernels[text, slot] = fn

    def _impl_autocast(self, text: str, device_type: str | None, fn: Function) -> None:
        """The operator inside of autocast on a device is `fn`, which runs with autocast off."""
        if device_type is not None:
            rules.set_autocast(text, device_type, fn)
            self._rules[text, "autocast", device_type] = fn

    def _name_of(self, op_name: str | OpOverload) -> str:
        if isinstance(op_name, OpOverload):
            return op_name.name().partition("::")[2]
        if not isinstance(op_name, str):
            raise RuntimeError(
                "impl should be passed either a name or an OpOverload object as the first "
                f"argument, got {type(op_name)}"
            )
        return op_name.removeprefix(f"{self.ns}::")

    def fallback(self, fn: Function, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Serve every operator defined at run time that has no kernel for a key: `fn(op, *args, **kwargs)`.

        Only for a library of the namespace "_", which stands for all.
        """
        if self.ns != "_":
            raise RuntimeError(
                "Fallback can only be registered using library fragment on the global namespace "
                f'"_" but it is {self.ns}'
            )
        slot = slot_of_key(dispatch_key or self.dispatch_key)
        if fn is fallthrough_kernel:
            return
        if with_keyset:
            raise NotImplementedError(
                "with_keyset=True passes a key set, and operators here have no keys"
            )
        table.set_fallback(slot, fn)
        self._fallbacks.append(slot)


class _BadSchema(SchemaError, RuntimeError):
    """A schema that does not parse, as `Library.define` reports it: ValueError and RuntimeError in one."""


def _undo(
    namespace: str,
    defined: list[str],
    kernels: dict[tuple[str, str], Function],
    fallbacks: list[str],
    own_rules: dict[tuple[str, str, Any], Any],
) -> None:
    for slot in fallbacks:
        table.set_fallback(slot, None)
    for (text, slot), function in kernels.items():
        if table.entry(text).kernels.get(slot) is function:
            table.set_kernel(text, slot, None)
    for (text, layer, what), rule in own_rules.items():
        rules.take_away(text, layer, what, rule)
    for text in defined:
        table.forget(text)
    _blocks.discard(namespace)
    for held in (defined, kernels, fallbacks, own_rules):
        held.clear()


@contextmanager
def scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A Library for a `with` block."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()
