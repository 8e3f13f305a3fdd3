"""The objects behind `taeda.ops`: a namespace, an operator, one overload of it.
Calls go straight into the core.
"""

from __future__ import annotations

import functools
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core
from taeda._table._schema import Argument, Schema

from . import sizes, table
from .schema import FunctionSchema, default_object

__all__ = [
    "Namespace",
    "OpOverload",
    "OpOverloadPacket",
    "namespace",
    "normalized",
    "overload",
    "packet",
    "schema_of",
]


class OpOverload(_core.Operator):
    """One overload of an operator, as `taeda.ops.aten.add.Tensor`."""

    _parsed: Schema
    _overloadpacket: OpOverloadPacket

    @property
    def _schema(self) -> FunctionSchema:
        return FunctionSchema(self._parsed)

    @property
    def namespace(self) -> str:
        """ "aten", or the library that defined it."""
        return self._parsed.namespace or "aten"

    @property
    def tags(self) -> list[Any]:
        """The tags it was defined with."""
        return list(table.entry(self._text).tags)

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """All overloads of this name."""
        return self._overloadpacket

    @property
    def _overloadname(self) -> str:
        return self._parsed.overload or "default"

    @property
    def is_view(self) -> bool:
        """Whether a result shares memory with an argument."""
        return any(r.alias and not r.mutated for r in self._parsed.returns)

    def name(self) -> str:
        """ "aten::add.Tensor"."""
        return self._name

    def __str__(self) -> str:
        return f"{self.namespace}.{self._overloadpacket.__name__}.{self._overloadname}"

    def __repr__(self) -> str:
        return (
            f"<OpOverload(op='{self.namespace}.{self._overloadpacket.__name__}', "
            f"overload='{self._overloadname}')>"
        )

    def __reduce__(self) -> Any:
        return overload, (self._name,)


class OpOverloadPacket(_core.Operator):
    """All overloads of one name, as `taeda.ops.aten.add`; a call takes the first that fits."""

    _namespace: str
    _texts: dict[str, str]

    def overloads(self) -> list[str]:
        """Names of the overloads, for attribute access; the one without a name is "default"."""
        return list(self._texts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._texts:
            raise AttributeError(f"operator '{self}' has no overload named '{name}'")
        made = _make_overload(self, self._texts[name])
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._texts]

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __reduce__(self) -> Any:
        return packet, (self._namespace, self.__name__)


def _make_overload(owner: OpOverloadPacket, text: str) -> OpOverload:
    inplace = owner._inplace
    schema = schema_of(text)
    made = OpOverload(_spoken(owner), (text,), inplace)
    made._parsed, made._overloadpacket, made._text = schema, owner, text
    made._name = f"{owner._namespace}::{owner.__name__}" + (
        f".{schema.overload}" if schema.overload else ""
    )
    made.__name__ = f"{owner.__name__}.{made._overloadname}"
    made.__qualname__ = made.__name__
    made.__module__ = owner.__module__
    made.__doc__ = owner.__doc__
    return made


def _spoken(owner: OpOverloadPacket) -> str:
    """The name that messages use."""
    return owner.__name__ if owner._namespace == "aten" else f"{owner._namespace}::{owner.__name__}"


def _make_packet(place: str, name: str, texts: tuple[str, ...], inplace: bool) -> OpOverloadPacket:
    spoken = name if place == "aten" else f"{place}::{name}"
    made = OpOverloadPacket(spoken, texts, inplace)
    made.__dict__["_texts"] = {text.partition(".")[2] or "default": text for text in texts}
    made._namespace, made._inplace = place, inplace
    made.__name__ = made.__qualname__ = name
    made.__module__ = f"taeda.ops.{place}"
    made.__doc__ = _doc(texts[0])
    return made


# ---- built-in rows ----


@functools.cache
def _builtin() -> dict[str, tuple[tuple[str, ...], bool]]:
    """Name in `taeda.ops.aten` -> (rows in the order they are tried, in place?)."""
    inplace_flag = _core.row_flags["INPLACE"]
    plain: dict[str, list[str]] = {}
    written: dict[str, list[str]] = {}
    for text, _, _, space, _, flags in _core.op_rows():
        stem = text.partition(".")[0]
        name = f"{space}_{stem}" if space in ("linalg", "special", "fft") else stem
        plain.setdefault(name, []).append(text)
        if flags & inplace_flag:
            written.setdefault(f"{name}_", []).append(text)
    found = {name: (tuple(texts), False) for name, texts in plain.items()}
    return {**{name: (tuple(texts), True) for name, texts in written.items()}, **found}


@functools.cache
def _builtin_rows() -> dict[str, Any]:
    from taeda._table._generate import rows

    return {row.schema.qualified: row for row in rows()}


def schema_of(text: str) -> Schema:
    """The schema of an operator by its text, "add.Tensor" or "mylib::scale"; KeyError for one that
    is not in the table.
    """
    known = table.entry(text).schema
    if known is not None:
        return known
    schema: Schema = _builtin_rows()[text].schema
    return schema


def _doc(text: str) -> str:
    if "::" in text:
        return table.entry(text).doc
    doc: str = _builtin_rows()[text].doc
    return doc


# ---- namespaces ----


class Namespace:
    """`taeda.ops.<name>`: operators appear as attributes once they are defined."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        is_operator = self._name == "aten" and name in _builtin()  # `__and__` is one
        found = self._find(name) if is_operator or not name.startswith("__") else None
        if found is None and self._name == "aten":
            found = sizes.find(name)
        if found is None and self._name == "quantized" and not name.startswith("__"):
            found = _quantized().find(name)
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        self.__dict__[name] = found
        return found

    def _find(self, name: str) -> OpOverloadPacket | None:
        if self._name == "aten":
            texts, inplace = _builtin().get(name, ((), False))
        else:
            texts, inplace = tuple(_overloads(self._name, name)), False
        return _make_packet(self._name, name, texts, inplace) if texts else None

    def __dir__(self) -> list[str]:
        if self._name == "aten":
            return [*_builtin()]
        schemas = (e.schema for e in table.entries() if e.schema is not None)
        own = {s.name for s in schemas if s.namespace == self._name}
        return sorted({*own, *(_quantized().names() if self._name == "quantized" else ())})

    def __repr__(self) -> str:
        return f"<namespace taeda.ops.{self._name}>"


def _quantized() -> Any:
    import taeda  # late: it needs Tensor complete

    quantization: Any = taeda.quantization  # upward: says what to install if it is missing
    return quantization._operators


def _overloads(place: str, name: str) -> list[str]:
    """Texts of the operators defined under this name, the one without an overload name first."""
    stem = f"{place}::{name}"
    found = [
        e.text for e in table.entries() if e.schema is not None and e.text.partition(".")[0] == stem
    ]
    return sorted(found, key=lambda text: "." in text)


_namespaces: dict[str, Namespace] = {}


def namespace(name: str) -> Namespace:
    """The one namespace object of this name."""
    return _namespaces.setdefault(name, Namespace(name))


def packet(place: str, name: str) -> OpOverloadPacket:
    """The operator `place::name`; AttributeError if there is none."""
    found: OpOverloadPacket = getattr(namespace(place), name)
    return found


def overload(qualname: str) -> OpOverload:
    """The overload "mylib::scale", "aten::add.Tensor" or "add.Tensor"; AttributeError if there is none."""
    place, _, rest = qualname.rpartition("::")
    name, _, which = rest.partition(".")
    found: OpOverload = getattr(packet(place or "aten", name), which or "default")
    return found


overload.__module__ = packet.__module__ = "taeda.library"  # where pickles of operators find them


def normalized(op: OpOverload, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """All arguments of a call, in schema order, as `__torch_dispatch__` gets them.

    Keyword-only ones by name; left out is what equals its default, unless a later positional one
    does not. Lists are lists.
    """
    arguments = op._parsed.arguments
    pairs = [(a, _as_list(a, v)) for a, v in zip(arguments, values, strict=True)]
    keywords = {a.name: v for a, v in pairs if a.keyword_only and not _is_default(a, v)}
    positional = [(a, v) for a, v in pairs if not a.keyword_only]
    while positional and _is_default(*positional[-1]):
        positional.pop()
    return tuple(v for _, v in positional), keywords


def _as_list(argument: Argument, value: Any) -> Any:
    return list(value) if argument.is_list and isinstance(value, tuple) else value


#: (row, in place?) -> its overload in `taeda.ops`; names of rows and of operators differ where a
#: namespace is part of the name
_overload_of_row: dict[tuple[str, bool], OpOverload] = {}


def dispatched(
    text: str, values: tuple[Any, ...], inplace: bool
) -> tuple[OpOverload, tuple[Any, ...], dict[str, Any]]:
    """What `__torch_dispatch__` gets for a call of a row: the overload, positional arguments, keywords."""
    func = _overload_of_row.get((text, inplace))
    if func is None:
        func = _row_overload(text, inplace)
        if "::" not in text:  # such a one may be replaced
            _overload_of_row[text, inplace] = func
    return func, *normalized(func, values)


def _row_overload(text: str, inplace: bool) -> OpOverload:
    if "::" in text:
        return overload(text)
    stem, _, which = text.partition(".")
    for name in (stem, f"{stem}_", *_builtin()):
        texts, written = _builtin().get(name, ((), False))
        if text in texts and written == inplace:
            found: OpOverload = getattr(packet("aten", name), which or "default")
            return found
    raise AttributeError(f"taeda.ops.aten has no operator of the row {text!r}")


def _is_default(argument: Argument, value: Any) -> bool:
    if not argument.has_default or isinstance(value, Tensor):
        return False
    default = default_object(argument)
    if argument.base == "Generator" and default is None:
        return value is None or value is taeda.default_generator
    if isinstance(value, (list, tuple)) and isinstance(default, (list, tuple)):
        return list(value) == list(default)
    return value is default or (type(value) is type(default) and bool(value == default))


def _forget_objects(schema: Schema) -> None:
    """An operator appeared or went: the next access makes new objects."""
    if schema.namespace in _namespaces:
        _namespaces[schema.namespace].__dict__.pop(schema.name, None)


table.on_change(_forget_objects)
