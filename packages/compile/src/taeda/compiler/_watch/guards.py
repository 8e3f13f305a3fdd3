"""What must still hold when a captured program runs again, as one Python expression.

A guard compares a value of which equality says all (numbers, strings, dtypes) by type and value,
anything else by identity, and keeps the object, so that no other gets its address.
"""

from __future__ import annotations

import gc
import operator
import types
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from taeda import Tensor, nn
from taeda._core_api import programs as _core

from .._kinds import is_immutable, numeral
from .._signals import let_through

__all__ = ["Guards", "is_bound", "same_value", "tensors_are_plain"]

_absent = object()
#: methods in Python of tensors that Python calls by itself; operators are in C
_UNASKED = ("__iter__", "__reversed__", "__deepcopy__", "__torch_function__", "__torch_dispatch__")
_BOUND = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)


def is_bound(value: Any) -> bool:
    """Whether a read of it makes a new object: a method, a method in C of an object."""
    return isinstance(value, _BOUND) and not isinstance(
        getattr(value, "__self__", None), types.ModuleType | None
    )


def same_value(a: Any, b: Any) -> bool:
    """Whether two values are one to a program: the same object, or equal where equality says all."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, _BOUND):  # made anew by each read
        return a.__self__ is b.__self__ and bool(a == b)
    if not is_immutable(a):
        return False
    if type(a) in (float, complex):
        return bool(numeral(a) == numeral(b))
    return bool(a == b)


def _same_all(found: Any, values: Any) -> bool:
    return len(found) == len(values) and all(map(same_value, found, values))


class Guards:
    """Collects guards; `holds` is made once all are known."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Any, ...], None] = {}
        # expression, what it says, the same for `unchanged` or None
        self._terms: list[tuple[str, str, Any]] = []
        self._names: dict[str, Any] = {
            "_same": same_value,
            "_same_all": _same_all,
            "_absent": _absent,
            "_is": operator.is_,
        }
        self._numbers: dict[int, str] = {}
        self._listed: list[tuple[Any, Any]] = []  # lists, and entries whose places are guarded
        self.modules: dict[int, nn.Module] = {}
        # the first term that was read behind a kernel of somebody else
        self._late: int | None = None
        self._late_modules: dict[int, nn.Module] = {}

    def behind_kernel(self) -> None:
        """A kernel of somebody else ran, which may have changed anything: what is read from here on
        counts as read anew.
        """
        if self._late is None:
            self._late = len(self._terms)
            self._seen.clear()

    def knows(self, module: nn.Module) -> bool:
        """Whether all that is to be known of a module was read."""
        return id(module) in (self.modules if self._late is None else self._late_modules)

    def __len__(self) -> int:
        return len(self.describe())

    def describe(self) -> list[str]:
        """What each guard says."""
        modules = [f"{type(m).__name__} module is as it was" for m in self.modules.values()]
        return [said for _, said, _ in _once(self._terms)] + modules

    def _name(self, value: Any) -> str:
        """A variable of the expression that holds `value`."""
        found = self._numbers.get(id(value))
        if found is None:
            found = self._numbers[id(value)] = f"v{len(self._numbers)}"
            self._names[found] = value
        return found

    def _equal(self, text: str, value: Any) -> str:
        name = self._name(value)
        plain = value is None or isinstance(value, bool) or not is_immutable(value)
        if plain and not is_bound(value):
            return f"{text} is {name}"
        return f"_same({text}, {name})"

    def _add(self, key: tuple[Any, ...], text: str, said: str, quick: Any = None) -> None:
        if key not in self._seen:
            self._seen[key] = None
            self._terms.append((text, said, quick))

    # ---- kinds ----

    def attribute(self, owner: Any, name: str, value: Any) -> None:
        """`owner.name` is `value`; of a method, its object and its function."""
        text, key = f"{self._name(owner)}.{name}", ("attribute", id(owner), name)
        if not name.isidentifier():
            text = f"getattr({self._name(owner)}, {name!r})"
        quick = None if is_bound(value) else [(0, owner, name, value)]
        self._add(key, self._equal(text, value), f"{_short(owner)}.{name}", quick)

    def item(self, owner: Any, key: Any, value: Any) -> None:
        """`owner[key]` is `value`."""
        if isinstance(owner, list):
            self._listed.append((owner, value))
        text = f"{self._name(owner)}[{self._name(key)}]"
        self._add(
            ("item", id(owner), type(key), _hashable(key)),
            self._equal(text, value),
            f"{_short(owner)}[{_key(key)}]",
            [(1, owner, key, value)] if isinstance(owner, dict) else None,
        )

    def variable(self, space: dict[str, Any], name: str, value: Any) -> None:
        """The global `name` is `value`."""
        text = f"{self._name(space)}.get({name!r}, _absent)"
        quick = [(1, space, name, value)]
        self._add(("item", id(space), str, name), self._equal(text, value), f"global {name}", quick)

    def no_variable(self, space: dict[str, Any], name: str) -> None:
        """There is no global of this name, so the builtin is meant."""
        text = f"{name!r} not in {self._name(space)}"
        self._add(("none", id(space), name), text, f"no global {name}", [(4, space, name, None)])

    def cell(self, cell: Any, name: str, value: Any) -> None:
        """A variable of the function around is `value`."""
        text = f"{self._name(cell)}.cell_contents"
        quick = [(0, cell, "cell_contents", value)]
        self._add(("cell", id(cell)), self._equal(text, value), f"variable {name}", quick)

    def contents(self, container: Any, *, without: str = "", said: str = "") -> None:
        """A container holds what it holds, in this order; `without` the value of one key."""
        key, name = ("contents", id(container)), self._name(container)
        if key in self._seen:
            return
        if without:
            self._keys(container, key)
            for entry, value in container.items():
                if entry != without:
                    self.item(container, entry, value)
            return
        if isinstance(container, dict):
            keys, values = self._name(tuple(container)), self._name(tuple(container.values()))
            text = f"_same_all({name}, {keys}) and _same_all({name}.values(), {values})"
        else:
            text = f"_same_all({name}, {self._name(tuple(container))})"
        words = said or f"contents of {_short(container)}"
        self._add(key, text, words, _quick_contents(container))

    def _keys(self, container: dict[Any, Any], key: Any) -> None:
        name, keys = self._name(container), self._name(tuple(container))
        quick = [(5, container, tuple(container), None)]
        self._add(key, f"_same_all({name}, {keys})", f"keys of {_short(container)}", quick)

    def absent(self, owner: Any, name: str) -> None:
        """`owner` has no such attribute."""
        text = f"not hasattr({self._name(owner)}, {name!r})"
        self._add(("absent", id(owner), name), text, f"no {_short(owner)}.{name}")

    def function(self, f: types.FunctionType) -> None:
        """A function has the code and the defaults it had."""
        name, kept = self._name(f), ("__code__", "__defaults__", "__kwdefaults__")
        terms = [f"{name}.{attribute} is {self._name(getattr(f, attribute))}" for attribute in kept]
        quick = [(0, f, attribute, getattr(f, attribute)) for attribute in kept]
        self._add(("function", id(f)), " and ".join(terms), f"code of {f.__qualname__}", quick)
        if f.__kwdefaults__:
            self.contents(f.__kwdefaults__, said=f"code of {f.__qualname__}")

    def klass(self, kind: type) -> None:
        """A class has the attributes and the bases that it had."""
        key = ("class", id(kind))
        if key not in self._seen:
            self._seen[key] = None
            self.attribute(kind, "__bases__", kind.__bases__)
            self.contents(_table_of(kind), said=f"class {kind.__qualname__}")

    def tensors(self) -> None:
        """What Python calls of tensors unasked is what it was."""
        table = _table_of(Tensor)
        entries: list[Any] = [(1, table, name, table[name]) for name in _UNASKED]
        # no row that was built in got another kernel or derivative
        entries.append((1, _core.overrides, "now", _core.overrides["now"]))
        for kind in (nn.Parameter, nn.Buffer):
            held = _table_of(kind)
            entries.append((2, held, tuple(held), tuple(held.values())))
        self._names["_tensors"] = _core.Unchanged((*entries, *_OPERATORS))
        # one entry asks for all operators, while nobody replaced one and put it back
        entries += _IN_C if _are_in_c() else _OPERATORS
        self._add(("tensors",), "_tensors()", "operators of tensors", entries)

    def expression(self, text: str, said: str, **names: Any) -> None:
        """Any expression over named objects."""
        for name in sorted(names, key=len, reverse=True):
            text = text.replace(f"${name}", self._name(names[name]))
        self._add(("expression", text), text, said)

    def module(self, module: nn.Module) -> None:
        """A module has the members, attributes, hooks and methods it had."""
        if self.knows(module):
            return
        self.modules[id(module)] = module
        if self._late is not None:
            self._late_modules[id(module)] = module
        kind = type(module)
        for name in ("forward", "_hooked"):
            self.attribute(kind, name, getattr(kind, name))
        call = kind.__call__  # during a recorded run it is the observer's
        self.attribute(kind, "__call__", getattr(call, "__wrapped__", call))

    # ---- the check ----

    def of_tensors(self) -> Callable[[], bool]:
        """Whether each tensor that a guard names by its place is still there."""
        asked = [entry for _, _, entries in self._terms for entry in entries or ()]
        listed, found = list(self._listed), [entry for entry in asked if entry[0] < 2]
        places = [entry[1] for entry in asked if entry[0] in (2, 3)]
        for place in (*places, *(p for m in self.modules.values() for p in _places_of(m))):
            if isinstance(place, dict):
                found += [(1, place, key, value) for key, value in place.items()]
            else:
                listed += [(place, value) for value in place]
        unchanged = _core.Unchanged(tuple(entry for entry in found if isinstance(entry[3], Tensor)))
        listed = [pair for pair in listed if isinstance(pair[1], Tensor)]

        def there() -> bool:
            in_lists = all(any(value is v for v in place) for place, value in listed)
            return in_lists and bool(unchanged())

        return there

    def compiled(self) -> tuple[Callable[[], bool], Callable[[], str]]:
        """(whether all hold, the first that does not in words)."""
        return self._compiled(_once(self._terms), self.modules)

    def compiled_late(self) -> tuple[Callable[[], bool], Callable[[], str]] | None:
        """The same of what was read behind a kernel of somebody else; None if there was none."""
        if self._late is None:
            return None
        return self._compiled(_once(self._terms[self._late :]), self._late_modules)

    def _compiled(
        self, terms: list[tuple[str, str, Any]], modules: dict[int, nn.Module]
    ) -> tuple[Callable[[], bool], Callable[[], str]]:
        snapshots = [_Snapshot(m) for m in modules.values()]
        quick = [entry for _, _, entries in terms for entry in entries or ()]
        quick += [entry for snapshot in snapshots for entry in snapshot.quick]
        unchanged = _core.Unchanged(tuple(quick))
        slow = [entry for snapshot in snapshots for entry in snapshot.slow]
        every = _all_of([text for text, _, _ in terms], self._names)
        rest = _all_of([text for text, _, entries in terms if entries is None], self._names)
        said = [(text, words) for text, words, _ in terms]
        names = dict(self._names)

        def holds() -> bool:
            try:
                if unchanged():
                    return (not slow or all(map(_same_contents, slow))) and rest()
                return all(snapshot.holds() for snapshot in snapshots) and every()
            except Exception as error:  # noqa: BLE001 - an attribute that went, whatever its code raises: the program is another one
                let_through(error)
                return False

        def failing() -> str:
            for snapshot in snapshots:
                if not snapshot.holds():
                    return f"{snapshot.title} changed"
            for text, words in said:
                try:
                    if eval(text, dict(names)):
                        continue
                except Exception as error:  # noqa: BLE001 - as above
                    let_through(error)
                    return words
                return words
            return ""

        return holds, failing


def _once(terms: list[tuple[str, str, Any]]) -> list[tuple[str, str, Any]]:
    """Without those that were added again."""
    return list({term[0]: term for term in reversed(terms)}.values())[::-1]


def _places_of(module: nn.Module) -> list[Any]:
    """Where the `__dict__` of a module may hold tensors."""
    own = module.__dict__
    return [own, *(v for v in own.values() if type(v) in (dict, list))]


def _all_of(terms: list[str], names: dict[str, Any]) -> Callable[[], bool]:
    """A function that evaluates all terms."""
    if not terms:
        return lambda: True
    parts = [" and ".join(f"({t})" for t in terms[i : i + 200]) for i in range(0, len(terms), 200)]
    checks = [eval(compile(f"lambda: {part}", "<guards>", "eval"), dict(names)) for part in parts]
    return checks[0] if len(checks) == 1 else lambda: all(check() for check in checks)


def _quick_contents(container: Any) -> Any:
    """What `unchanged` is asked of a container; None if it cannot be."""
    plain = not isinstance(container, OrderedDict)  # whose order is not that of the dict
    if isinstance(container, dict) and (plain or not container):
        return [(2, container, tuple(container), tuple(container.values()))]
    return [(3, container, tuple(container), None)] if isinstance(container, list) else None


class _Snapshot:
    """The `__dict__` of a module, with what the containers in it hold."""

    def __init__(self, module: nn.Module) -> None:
        self.title = type(module).__name__
        self.module, self.kind = module, type(module)
        self.attributes = module.__dict__
        self.names, self.values = tuple(self.attributes), tuple(self.attributes.values())
        self.inner = [
            (v, tuple(v), tuple(v.values()) if isinstance(v, dict) else ())
            for name, v in self.attributes.items()
            if isinstance(v, dict | list | set) and not (name.startswith("_") and name in _COUNTED)
        ]
        self.quick: list[Any] = [
            (7, module, self.kind, self.attributes),
            (2, self.attributes, self.names, self.values),
        ]
        self.slow: list[Any] = []  # containers that `unchanged` cannot be asked of
        for entry in self.inner:
            found = _quick_contents(entry[0])
            self.slow += [] if found else [entry]
            self.quick += found or []

    def holds(self) -> bool:
        if type(self.module) is not self.kind or self.module.__dict__ is not self.attributes:
            return False
        found = self.attributes
        same = len(found) == len(self.names) and all(map(operator.is_, found.values(), self.values))
        if not (same or _same_all(found.values(), self.values)) or tuple(found) != self.names:
            return False
        return all(map(_same_contents, self.inner))


#: tables of a module whose changes show in its `__dict__`, or in another table
_COUNTED = frozenset(
    {"_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_forward_hooks_with_kwargs",
     "_forward_pre_hooks_with_kwargs", "_forward_hooks_always_called"}
)  # fmt: skip


def _same_contents(entry: tuple[Any, Any, Any]) -> bool:
    container, first, second = entry
    if not container and not first:
        return True
    return _same_all(container, first) and (not second or _same_all(container.values(), second))


def _table_of(kind: type) -> dict[str, Any]:
    """The dict behind `kind.__dict__`."""
    (table,) = gc.get_referents(kind.__dict__)
    assert isinstance(table, dict)
    return table


_OPERATORS = [
    (1, _table_of(Tensor), name, found)
    for name, found in _table_of(Tensor).items()
    if isinstance(found, types.WrapperDescriptorType)
]
_IN_C = [(6, Tensor, None, None)]
_are_in_c = _core.Unchanged(tuple(_IN_C))
#: whether operators on tensors are those of the library
tensors_are_plain = _core.Unchanged(tuple(_OPERATORS))


def _hashable(key: Any) -> Any:
    try:
        hash(key)
    except TypeError:
        return id(key)
    return key


def _key(key: Any) -> str:
    """A key in words. Of an object no `repr` is asked: it is code of somebody else, or prints a tensor."""
    return f"{key!r:.40}" if type(key) in (str, int, float, bool, bytes) else _short(key)


def _short(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, type | types.FunctionType):
        return value.__qualname__
    return type(value).__name__
