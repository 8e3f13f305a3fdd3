"""A first run of a long pickle in which nothing is made: what it would take is added up, and what
would fail, fails.

The machine is the same, but its stack and memo hold one byte for each value: what kind it is of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..budget import Budget, is_long
from ..place import Place
from . import names, plain, rebuild, refusal
from .allowed import find as find_allowed
from .context import Context, Known
from .machine import ENTRY, SLOT, Machine

__all__ = ["check_long_pickle", "check_long_pickles"]

_UNSET, _ANY, _PLAIN, _TEXT, _LIST, _TUPLE, _DICT, _SET, _NAMES = range(9)
_MANY = 255  # names go on to here: one of all others
_KINDS: dict[type, int] = {str: _TEXT, list: _LIST, tuple: _TUPLE, dict: _DICT, set: _SET}
_SHOWN = {_PLAIN: "number", _TEXT: "str", _LIST: "list", _TUPLE: "tuple", _DICT: "dict",
    _SET: "set"}  # fmt: skip
_TEXT_BYTES = 49  # of an empty one
_LONGEST_NAME = 1000
#: what calling a name takes at least
_CALLS = {
    **dict.fromkeys(("OrderedDict", "Counter", "defaultdict", "deque"), plain.CONTAINER),
    **dict.fromkeys(("set", "frozenset"), plain.CONTAINER),
    **dict.fromkeys(("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3"), rebuild.TENSOR),
}  # fmt: skip


def check_long_pickle(data: bytes, file_bytes: int) -> None:
    """FormatError for what can be told ahead, if the objects could take more than a file of this
    size may take.
    """
    if is_long(len(data), file_bytes):
        machine = _DryRun(data, file_bytes)
        machine.run()
        machine.end()


def check_long_pickles(data: bytes, at: int, count: int, file_bytes: int) -> None:
    """The same for `count` pickles one after another from byte `at` on, with something behind them."""
    if is_long(len(data), file_bytes):
        machine = _DryRun(data, file_bytes, at)
        for _ in range(count):
            machine.run()


class _DryRun(Machine):
    row = bytearray
    unset = _UNSET

    def __init__(self, data: bytes, file_bytes: int, at: int = 0) -> None:
        context = Context(Budget(file_bytes, len(data)), Place(None), lambda identity: None)
        super().__init__(data, context, at)
        self.names: dict[tuple[str, str], Any] = {}  # what the kinds from _NAMES on stand for
        self.texts: list[str] = []  # the last two values, while they are short texts

    def push(self, value: Any, cost: int = 0) -> None:
        self.push_kind(_KINDS.get(type(value), _PLAIN), cost)

    def push_kind(self, kind: int, cost: int = 0) -> None:
        self.spend(SLOT + cost)
        self.stack.append(kind)

    def get(self, index: int) -> None:
        kind = self.memo[index] if index < len(self.memo) else _UNSET
        if kind == _UNSET:
            raise self.wrong(f"memo entry {index} was never set")
        self.texts.clear()
        self.push_kind(kind)

    # ---- what is skipped ----

    def skip(self, count: int) -> None:
        if count > len(self.data) - self.at:
            raise self.truncated()
        self.at += count

    def unicode(self, size: int) -> None:
        count = self.number(size)
        if count <= _LONGEST_NAME:
            self.texts = [*self.texts[-1:], self.text(self.take(count))]
        else:
            self.skip(count)
        self.push_kind(_TEXT, _TEXT_BYTES + count)

    def old_string(self, size: int) -> None:
        count = self.number(size)
        self.skip(count)
        self.push_kind(_TEXT, _TEXT_BYTES + count)

    def binary(self, size: int, kind: Callable[[bytes], Any] = bytes) -> None:
        count = self.number(size)
        self.skip(count)
        self.push_kind(_PLAIN, count)

    # ---- containers ----

    def marked(self, kind: Callable[[Any], Any]) -> None:
        count = len(self.pop_mark())
        self.push_kind(_TUPLE if kind is tuple else _LIST, 56 + 8 * count)

    def frozen(self) -> None:
        self.push_kind(_PLAIN, 216 + ENTRY * len(self.keys(self.pop_mark())))

    def target(self, kind: int, what: str) -> None:
        """The value below, which must be of this kind, or of one that is not known here."""
        found = self.top()
        if found not in (kind, _ANY):
            raise self.wrong(
                f"{what} a {_SHOWN.get(found, 'name')}, not {'in' * (kind == _DICT)}to a {_SHOWN[kind]}"
            )

    def extend(self, items: Any) -> None:
        self.target(_LIST, "items are appended to")
        self.spend(SLOT * len(items))

    def add_items(self) -> None:
        items = self.keys(self.pop_mark())
        self.target(_SET, "items are added to")
        self.spend(ENTRY * len(items))

    def set_items(self, items: Any) -> None:
        self.target(_DICT, "entries are put into")
        if len(items) % 2:
            raise self.wrong("a dict's last key has no value")
        self.keys(items[::2])
        self.spend(ENTRY * len(items) // 2)

    def keys(self, kinds: Any) -> Any:
        if wrong := {_LIST, _DICT, _SET}.intersection(kinds):
            raise self.wrong(f"a {_SHOWN[wrong.pop()]} is used as a key")
        return kinds

    # ---- names ----

    def find(self, module: Any, name: Any) -> None:
        if (module, name) not in self.names:
            known = names.find(module, name) or find_allowed(module, name)
            if known is None:
                raise refusal.blocked(module, name, self.data)
            self.names[module, name] = known
        place = list(self.names).index((module, name))
        self.push_kind(min(_NAMES + place, _MANY))

    def stack_global(self) -> None:
        texts, self.texts = self.texts, []
        if [self.pop(), self.pop()] == [_TEXT, _TEXT] and len(texts) == 2:
            self.find(*texts)
        else:
            self.push_kind(_ANY)

    def reduce(self) -> None:
        arguments, kind = self.pop(), self.pop()
        if arguments not in (_TUPLE, _ANY):
            raise self.wrong("a name is called with something else than a tuple")
        if kind in (_ANY, _MANY):
            self.push_kind(_ANY)
            return
        known = list(self.names.values())[kind - _NAMES] if kind >= _NAMES else None
        if not isinstance(known, Known):
            raise self.wrong(f"a {_SHOWN.get(kind, 'name')} is called, which is data")
        self.push_kind(_ANY, _CALLS.get(known.name.rpartition(" ")[2], 0))

    def build(self) -> None:
        self.pop()
        self.top()

    def persistent(self) -> None:
        self.pop()
        self.push_kind(_ANY)


# Methods of this class in place of those that they override.
_DryRun.instructions = {
    code: getattr(_DryRun, instruction.__name__, instruction)
    for code, instruction in Machine.instructions.items()
}
