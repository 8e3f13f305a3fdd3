"""Classes whose instances files may hold, because the user said so.

A file names such a class; it is looked up here. Unless the user trusts the file
(`load(..., weights_only=False)`) nothing is imported, and no code of the class runs when an
instance is made: fields are put in place as they were.

A sibling may bring a family of classes, as taeda.nn does with its modules: how they are restored,
and which are its own. Its own are allowed together with the first class of the family that the user
allows.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from types import FunctionType, MemberDescriptorType, SimpleNamespace
from typing import Any

from taeda._neighbours import plain_data

__all__ = [
    "Family",
    "add",
    "clear",
    "family_of",
    "findable_name",
    "is_allowed",
    "is_plain",
    "listed",
    "name_of",
    "own",
    "partial_parts",
    "put_fields",
    "register_family",
    "restore",
    "state_of",
    "torch_name",
    "trusted",
    "trusting",
    "type_named",
]


@dataclass(frozen=True)
class Family:
    """Classes below `base`. `put(instance, state)` restores one; `own(name)` is what the sibling
    itself has under a full name, `torch_name(thing)` the module and the name that torch has for one
    of those.
    """

    base: type
    put: Callable[[Any, Any], None]
    own: Callable[[str], Any]
    torch_name: Callable[[Any], tuple[str, str]]


Listed = Any  # a class (or function), or (class, full name)
_by_name: dict[str, Any] = {}
_listed: list[Listed] = []
_families: list[Family] = []
_trusted: ContextVar[bool] = ContextVar("taeda.trusts_file", default=False)


def add(items: Iterable[Listed]) -> None:
    """Allow classes, each as itself or as (class, the full name that files give it)."""
    for item in items:
        thing, name = item if isinstance(item, tuple) else (item, _full_name(item))
        if not callable(thing) or not isinstance(name, str):
            raise TypeError(f"wanted a class or (class, full name), got {item!r}")
        _by_name[name] = thing
        if item not in _listed:
            _listed.append(item)


def clear() -> None:
    """Allow none."""
    _by_name.clear()
    _listed.clear()


def listed() -> list[Listed]:
    """What was given to `add`, in order."""
    return list(_listed)


def name_of(kind: type) -> str | None:
    """The full name of an allowed class, None for others."""
    found = next((name for name, thing in _by_name.items() if thing is kind), None)
    return plain_data.name_of(kind) if found is None else found


def type_named(name: str) -> Any:
    """What was allowed under a full name, or None; of a trusted file, what can be imported under it."""
    if name in _by_name:
        return _by_name[name]
    if (plain := plain_data.class_named(name)) is not None:
        return plain
    for family in _families:
        if _trusted.get() or any(_is_of(family, thing) for thing in _by_name.values()):
            found = family.own(name)
            if found is not None:
                return found
    return _imported(name) if _trusted.get() else None


def is_allowed(kind: type) -> bool:
    """Whether instances of a class may be made from a file."""
    return name_of(kind) is not None or type_named(_full_name(kind)) is kind


def _full_name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


# ---- families ----


def register_family(family: Family) -> None:
    """A sibling brings its classes."""
    _families.append(family)


def family_of(kind: type) -> Family | None:
    """The family that a class belongs to."""
    return next((family for family in _families if _is_of(family, kind)), None)


def own(name: str) -> Any:
    """What a sibling itself has under a full name, or None."""
    return next((found for family in _families if (found := family.own(name)) is not None), None)


def torch_name(thing: Any, name: str) -> tuple[str, str] | None:
    """Module and name that torch has for what a sibling itself has under a full name; None for others."""
    for family in _families:
        if family.own(name) is thing:
            return family.torch_name(thing)
    return None


def _is_of(family: Family, thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, family.base)


# ---- names ----


@contextlib.contextmanager
def trusting() -> Iterator[None]:
    """Inside, names in files are imported: the user trusts the file that is being read."""
    with contextlib.suppress(ImportError):
        importlib.import_module("taeda.nn")  # upward: its family, where it is installed
    token = _trusted.set(True)
    try:
        yield
    finally:
        _trusted.reset(token)


def trusted() -> bool:
    """Whether the file that is being read is trusted."""
    return _trusted.get()


def findable_name(thing: Any) -> str | None:
    """The full name under which a class or function can be found again; None if there is no such name."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is thing else None


def _imported(name: str) -> Any:
    """What a full name stands for, imported. The file is trusted."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part, None)
        return found
    return None


# ---- instances as data ----


def state_of(value: Any) -> Any:
    """What makes up an instance of an allowed class; TypeError for kinds that data cannot make again."""
    kind = type(value)
    if family_of(kind) is not None:
        return value.__getstate__()
    if issubclass(kind, enum.Enum):
        return value.name
    if issubclass(kind, tuple):
        return tuple(value)
    if kind is functools.partial:
        return {**dict(zip(_PARTIAL, partial_parts(value), strict=True)), **vars(value)}
    if issubclass(kind, SimpleNamespace):
        return dict(vars(value))
    if is_plain(kind) and (hasattr(value, "__dict__") or _slots(kind)):
        slots = {n: getattr(value, n) for n in _slots(kind) if hasattr(value, n)}
        return plain_data.without_owner(kind, {**slots, **getattr(value, "__dict__", {})})
    raise TypeError(
        f"an instance of {_full_name(kind)} cannot be made from data alone: save what it is made of"
    )


_PARTIAL = ("func", "args", "keywords")


def partial_parts(value: functools.partial[Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """What a partial is made of: function, arguments, keywords."""
    return value.func, value.args, value.keywords


def is_plain(kind: type) -> bool:
    """Whether an instance has nothing besides its fields: its memory is that of `object`, not that
    of a list, a number or another type written in C.
    """
    while isinstance(kind.__new__, FunctionType):
        kind = kind.__base__  # type: ignore[assignment] # object's own is no such function
    return getattr(kind.__new__, "__self__", None) is object


def restore(kind: type, state: Any) -> Any:
    """The instance that `state_of` took apart; no method of the class is called."""
    if issubclass(kind, enum.Enum):
        return kind.__members__[state]
    if issubclass(kind, tuple):
        return tuple.__new__(kind, state)
    if kind is functools.partial:
        return _partial(dict(state))
    base = SimpleNamespace if issubclass(kind, SimpleNamespace) else object
    made = base.__new__(kind)
    family = family_of(kind)
    if family is not None:
        family.put(made, state)
    else:
        put_fields(made, state)
    return made


def _partial(state: dict[str, Any]) -> functools.partial[Any]:
    function, arguments, keywords = (state.pop(name) for name in _PARTIAL)
    made = functools.partial(function, *arguments, **keywords)
    vars(made).update(state)
    return made


def put_fields(target: Any, fields: dict[str, Any]) -> None:
    """Set fields without a call to the class. AttributeError if it has no place for one."""
    slots = _slots(type(target))
    for name in slots & fields.keys():
        object.__setattr__(target, name, fields[name])
    if rest := {name: value for name, value in fields.items() if name not in slots}:
        object.__getattribute__(target, "__dict__").update(rest)
    plain_data.adopt(target, fields)


def _slots(kind: type) -> set[str]:
    """The names of the members that are kept outside of `__dict__`."""
    return {
        name
        for base in kind.__mro__
        for name, member in base.__dict__.items()
        if isinstance(member, MemberDescriptorType)
    }
