"""Python's side of C++ classes that a library registers by `m.class_<T>("Name")`.

An object is a number that its library knows. A class here is built of the library's list of members,
each of which is an operator that takes that number first.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

from .operators import namespace

__all__ = ["ScriptObject", "enter", "find", "object_of", "registered"]

#: "space.Name" of every class that a loaded library brought
registered: dict[str, type[ScriptObject]] = {}


class _Owner:
    """Gives a number back to its library when nobody holds it any more."""

    def __init__(self, number: int) -> None:
        self.number = number


class ScriptObject:
    """An object of a C++ class, which lives in its library for as long as Python holds this one.

    Operators take it where their schema says `__torch__.torch.classes.<space>.<Name>`; one of another
    class is a TypeError. It can be copied and pickled if its class has `def_pickle`.
    """

    __slots__ = ("__weakref__", "_owner")
    _owner: _Owner
    _qualified: str
    _forget: Callable[[int], None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            f"{self._qualified} has no constructor for Python: register one by .def(torch::init<...>())"
        )

    def __index__(self) -> int:
        return self._owner.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScriptObject) and self._owner.number == other._owner.number

    def __hash__(self) -> int:
        return hash(self._owner.number)

    def __repr__(self) -> str:
        return f"<{self._qualified} object at {self._owner.number:#x}>"

    def __reduce__(self) -> Any:
        state = getattr(self, "__getstate__", None)
        if not getattr(type(self), "_pickles", False) or state is None:
            raise TypeError(
                f"{self._qualified} objects cannot be copied or pickled: their class has no def_pickle"
            )
        return _rebuilt, (self._qualified, state())


def enter(library: ctypes.CDLL, path: str) -> None:
    """Build the classes that a loaded library lists."""
    told = getattr(library, "taeda_ext_classes", None)
    if told is None:
        return
    told.restype = ctypes.c_char_p
    # PyDLL keeps Python's lock: what an object holds may be Python's
    forget = ctypes.PyDLL(path).taeda_ext_forget
    forget.argtypes, forget.restype = [ctypes.c_int64], None
    for record in told().decode().split("\x1e")[:-1]:
        space, name, doc, *members = record.split("\x1f")
        _build(space, name, doc, list(zip(members[::2], members[1::2], strict=True)), forget)


def find(space: str, name: str) -> type[ScriptObject]:
    """The class of that name. RuntimeError if no loaded library has it."""
    if (found := registered.get(f"{space}.{name}")) is None:
        known = ", ".join(sorted(registered)) or "none"
        raise RuntimeError(
            f"no loaded library registers the class {space}.{name}: load it by "
            f"taeda.classes.load_library(path). Registered are: {known}"
        )
    return found


def object_of(text: str) -> ScriptObject:
    """The object that a library gives as "space.Name:number"."""
    name, _, number = text.rpartition(":")
    return _held(registered[name], int(number))


def _held(cls: type[ScriptObject], number: int) -> ScriptObject:
    made = object.__new__(cls)
    made._owner = _Owner(number)
    weakref.finalize(made._owner, cls._forget, number)
    return made


#: what a member becomes in the body of its class: static, a property, or a method
_KINDS: dict[str, Callable[[Any], Any]] = {"s": staticmethod, "g": property, "m": lambda f: f}


def _build(
    space: str, name: str, doc: str, members: list[tuple[str, str]], forget: Callable[[int], None]
) -> None:
    qualified = f"{space}.{name}"
    body: dict[str, Any] = {
        "__slots__": (),
        "__doc__": doc or f"The C++ class {qualified}.",
        "__module__": f"taeda.classes.{space}",
        "_qualified": qualified,
        "_forget": staticmethod(forget),
    }
    setters = {}
    for member, op in members:
        kind, own = member[0], member[1:]
        call = getattr(namespace(space), op)
        if own == "__init__":
            body["__init__"] = _constructor(call)
        elif own == "__setstate__":
            body.update(_pickles=True, _restored=staticmethod(call))
        elif kind == "w":
            setters[own] = call
        else:
            body[own] = _KINDS[kind](_plain(call, own))
    for own, call in setters.items():
        body[own] = body[own].setter(_plain(call, own))
    registered[qualified] = type(name, (ScriptObject,), body)


def _plain(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of Python, which a class binds to its objects."""

    def member(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs)

    member.__name__ = member.__qualname__ = name
    member.__doc__ = call.__doc__
    return member


def _constructor(call: Callable[..., ScriptObject]) -> Callable[..., None]:
    def __init__(self: ScriptObject, *args: Any, **kwargs: Any) -> None:
        made = call(*args, **kwargs)
        self._owner = made._owner

    __init__.__doc__ = call.__doc__
    return __init__


def _rebuilt(qualified: str, state: Any) -> ScriptObject:
    space, _, name = qualified.partition(".")
    cls: Any = find(space, name)
    made: ScriptObject = cls._restored(state)
    return made
