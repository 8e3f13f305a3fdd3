"""Reads a pickle as data. Nothing is imported, looked up or called by a name from the file.

A pickle is a program for a machine with a stack and a memo. This one knows the instructions that
build containers, numbers, texts and bytes. The four that would find and call code (GLOBAL, REDUCE,
NEWOBJ, BUILD) look the name up in `names.KNOWN`, a table of what torch writes, and run the function
of ours that stands there; any other name is refused. All else raises `RefusedPickle`.
"""

from __future__ import annotations

import struct
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from . import allowed, names, refusal, state
from .context import Context, Known, StorageType
from .errors import RefusedPickle, TruncatedPickle
from .nesting import check_nesting

__all__ = ["ENTRY", "LONGEST_NAME", "SLOT", "Machine", "load"]

_MAPPINGS = (dict, OrderedDict, Counter, defaultdict)
_HIGHEST = 5
_LONGEST_INT = 1024  # bytes; converting a longer one to decimal text would take seconds
_MARKS = 10_000
LONGEST_NAME = 1000
_MEMO_GAP = 64
# bytes that things take, for the budget
SLOT, _NUMBER, ENTRY, _TABLE = 9, 32, 64, 170


class Machine:
    """Interprets the pickle that begins at `at` in `data`; afterwards `at` is where it ended.

    One after another may be read, with one budget.
    """

    instructions: dict[int, Callable[[Any], None]]
    row: type[Any] = list  # what stack and memo are
    unset: Any = object()

    def __init__(self, data: bytes, context: Context, at: int = 0) -> None:
        self.data, self.at, self.context = data, at, context
        self.spend = context.budget.spend
        self.stack: Any
        self.marks: list[Any]
        self.memo: Any
        self.put_at: int  # where the last instruction that put something into the memo ended
        self.key = context.keys.checked

    def load(self) -> Any:
        """The object that the pickle describes."""
        made = self.run()
        check_nesting(made)
        return made

    def run(self) -> Any:
        """The same, but names that stand for no data may still be in it."""
        if self.data[self.at : self.at + 1] != b"\x80":
            raise self.wrong("a pickle of protocol 2 to 5 begins with \\x80")
        self.stack, self.marks, self.memo, self.put_at = self.row(), [], self.row(), -1
        data, end, instructions = self.data, len(self.data), self.instructions
        while self.at < end:  # a file may have millions of instructions: no call of ours for each
            code = data[self.at]
            self.at += 1
            if code == _STOP:
                return self.only()
            instruction = instructions.get(code)
            if instruction is None:
                raise self.wrong(f"instruction {bytes([code])!r} is none that data needs")
            instruction(self)
        raise self.truncated()

    def only(self) -> Any:
        """The one object that is left on the stack."""
        if len(self.stack) != 1 or self.marks:
            raise self.wrong("the pickle ends with more than one object, or none")
        return self.stack.pop()

    def end(self) -> None:
        """RefusedPickle if something follows the pickle."""
        if self.at != len(self.data):
            raise self.wrong(f"{len(self.data) - self.at} bytes follow the pickle")

    # ---- reading and the stack ----

    def wrong(self, text: str) -> RefusedPickle:
        return RefusedPickle(f"at byte {self.at} of the pickle: {text}")

    def truncated(self) -> TruncatedPickle:
        return TruncatedPickle(f"the pickle is truncated: it goes on after byte {self.at}")

    def byte(self) -> int:
        return self.take(1)[0]

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise self.truncated()
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def line(self) -> str:
        end = self.data.find(b"\n", self.at, self.at + LONGEST_NAME)
        if end < 0 and self.at + LONGEST_NAME <= len(self.data):
            raise self.wrong(f"a name is longer than {LONGEST_NAME} bytes")
        return self.text(self.take(end + 1 - self.at if end >= 0 else LONGEST_NAME)[:-1])

    def text(self, data: bytes) -> str:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self.wrong("a text is not UTF-8") from None

    def push(self, value: Any, cost: int = 0) -> None:
        self.spend(SLOT + cost)
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack:
            raise self.wrong("an instruction finds nothing on the stack")
        return self.stack.pop()

    def top(self) -> Any:
        if not self.stack:
            raise self.wrong("an instruction finds nothing on the stack")
        return self.stack[-1]

    def pop_mark(self) -> Any:
        if not self.marks:
            raise self.wrong("an instruction finds no mark on the stack")
        items, self.stack = self.stack, self.marks.pop()
        return items

    # ---- instructions ----

    def proto(self) -> None:
        protocol = self.byte()
        if not 2 <= protocol <= _HIGHEST:
            raise self.wrong(f"protocol {protocol} is not read, only 2 to {_HIGHEST}")

    def frame(self) -> None:
        if self.number(8) > len(self.data) - self.at:
            raise TruncatedPickle(
                f"the pickle is truncated: its frame goes on after byte {self.at}"
            )

    def mark(self) -> None:
        if len(self.marks) >= _MARKS:
            raise self.wrong("nested too deeply")
        self.spend(64)
        self.marks.append(self.stack)
        self.stack = self.row()

    def drop(self) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self.pop_mark()

    def drop_to_mark(self) -> None:
        self.pop_mark()

    def long(self, size: int) -> None:
        count = self.number(size)
        if count > _LONGEST_INT:
            raise self.wrong(f"an integer of {count} bytes")
        value = int.from_bytes(self.take(count), "little", signed=True)
        self.push(value, sys.getsizeof(value))

    def float(self) -> None:
        self.push(struct.unpack(">d", self.take(8))[0], _NUMBER)

    def unicode(self, size: int) -> None:
        value = self.text(self.take(self.number(size)))
        self.push(value, sys.getsizeof(value))

    def old_string(self, size: int) -> None:
        """A text as Python 2 wrote it."""
        data = self.take(self.number(size))
        value = data.decode("ascii" if data.isascii() else "latin-1")
        self.push(value, sys.getsizeof(value))

    def binary(self, size: int, kind: Callable[[bytes], Any] = bytes) -> None:
        value = kind(self.take(self.number(size)))
        self.push(value, sys.getsizeof(value))

    def tuple(self, count: int) -> None:
        if len(self.stack) < count:
            raise self.wrong("an instruction finds nothing on the stack")
        items = tuple(self.stack[-count:])
        del self.stack[-count:]
        self.push(items, 56 + 8 * count)

    def marked(self, kind: Callable[[list[Any]], Any]) -> None:
        items = self.pop_mark()
        self.push(kind(items), 56 + 8 * len(items))

    def frozen(self) -> None:
        items = self.pop_mark()
        self.push(frozenset(self.key(item) for item in items), 216 + ENTRY * len(items))

    def extend(self, items: list[Any]) -> None:
        target = self.top()
        if type(target) is not list and type(target) is not deque:
            raise self.wrong(f"items are appended to a {_kind(target)}, not to a list")
        self.spend(SLOT * len(items))
        target.extend(items)

    def add_items(self) -> None:
        items = self.pop_mark()
        target = self.top()
        if type(target) is not set:
            raise self.wrong(f"items are added to a {_kind(target)}, not to a set")
        self.spend(ENTRY * len(items))
        target.update([self.key(item) for item in items])

    def set_items(self, items: list[Any]) -> None:
        target = self.top()
        if type(target) not in _MAPPINGS:
            raise self.wrong(f"entries are put into a {_kind(target)}, not into a dict")
        if len(items) % 2:
            raise self.wrong("a dict's last key has no value")
        self.spend(max(ENTRY * len(items) // 2, 0 if target else _TABLE))
        for i in range(0, len(items), 2):
            target[self.key(items[i])] = items[i + 1]

    def put(self, index: int, length: int) -> None:
        """Remember the top of the stack; the instruction was `length` bytes long."""
        if self.put_at == self.at - length:
            raise self.wrong("one object is put into the memo twice")
        self.put_at = self.at
        value = self.top()
        missing = index - len(self.memo)
        if missing > _MEMO_GAP:
            raise self.wrong(f"memo entry {index} follows entry {len(self.memo) - 1}")
        if missing >= 0:
            self.spend(SLOT * (missing + 1))
            self.memo.extend([self.unset] * missing)
            self.memo.append(value)
        else:
            self.memo[index] = value

    def get(self, index: int) -> None:
        value = self.memo[index] if index < len(self.memo) else self.unset
        if value is self.unset:
            raise self.wrong(f"memo entry {index} was never set")
        self.push(value)

    # ---- names ----

    def find(self, module: Any, name: Any) -> None:
        if type(module) is not str or type(name) is not str:
            raise self.wrong("a name is no text")
        known = names.find(module, name) or allowed.find(module, name)
        if known is None:
            raise refusal.blocked(module, name, self.data)
        function = allowed.value_named(module, name) if isinstance(known, allowed.Allowed) else None
        self.push(known if function is None else function)

    def stack_global(self) -> None:
        name = self.pop()
        self.find(self.pop(), name)

    def reduce(self) -> None:
        arguments, known = self.pop(), self.pop()
        if not isinstance(known, Known) or type(arguments) is not tuple:
            raise self.wrong(f"a {_kind(known)} is called, which is data")
        self.push(known.make(arguments, self.context))

    def build(self) -> None:
        given = self.pop()
        state.build(self.top(), given, self.context)

    def persistent(self) -> None:
        identity = self.pop()
        if self.context.persistent is None:
            raise self.wrong("a storage is named where none can be")
        self.push(self.context.persistent(identity))


def _kind(value: Any) -> str:
    return value.name if isinstance(value, (Known, StorageType)) else type(value).__name__


_STOP = ord(".")
Machine.instructions = {
    0x80: Machine.proto,
    0x95: Machine.frame,
    ord("("): Machine.mark,
    ord("0"): Machine.drop,
    ord("1"): Machine.drop_to_mark,
    ord("N"): lambda m: m.push(None),
    0x88: lambda m: m.push(True),
    0x89: lambda m: m.push(False),
    ord("J"): lambda m: m.push(struct.unpack("<i", m.take(4))[0], _NUMBER),
    ord("K"): lambda m: m.push(m.number(1)),
    ord("M"): lambda m: m.push(m.number(2), _NUMBER),
    0x8A: lambda m: m.long(1),
    0x8B: lambda m: m.long(4),
    ord("G"): Machine.float,
    ord("X"): lambda m: m.unicode(4),
    0x8C: lambda m: m.unicode(1),
    0x8D: lambda m: m.unicode(8),
    ord("U"): lambda m: m.old_string(1),
    ord("T"): lambda m: m.old_string(4),
    ord("C"): lambda m: m.binary(1),
    ord("B"): lambda m: m.binary(4),
    0x8E: lambda m: m.binary(8),
    0x96: lambda m: m.binary(8, bytearray),
    ord(")"): lambda m: m.push(()),
    0x85: lambda m: m.tuple(1),
    0x86: lambda m: m.tuple(2),
    0x87: lambda m: m.tuple(3),
    ord("t"): lambda m: m.marked(tuple),
    ord("l"): lambda m: m.marked(list),
    ord("]"): lambda m: m.push([], 72),
    ord("}"): lambda m: m.push({}, 80),
    0x8F: lambda m: m.push(set(), 240),
    0x91: Machine.frozen,
    ord("a"): lambda m: m.extend([m.pop()]),
    ord("e"): lambda m: m.extend(m.pop_mark()),
    0x90: Machine.add_items,
    ord("s"): lambda m: m.set_items([m.pop(), m.pop()][::-1]),
    ord("u"): lambda m: m.set_items(m.pop_mark()),
    ord("q"): lambda m: m.put(m.number(1), 2),
    ord("r"): lambda m: m.put(m.number(4), 5),
    0x94: lambda m: m.put(len(m.memo), 1),
    ord("h"): lambda m: m.get(m.number(1)),
    ord("j"): lambda m: m.get(m.number(4)),
    ord("c"): lambda m: m.find(m.line(), m.line()),
    0x93: Machine.stack_global,
    ord("R"): Machine.reduce,
    0x81: Machine.reduce,  # NEWOBJ: for what we know, making is calling
    ord("b"): Machine.build,
    ord("Q"): Machine.persistent,
}


def load(data: bytes, context: Context) -> Any:
    """The one object that `data` describes, with nothing after it."""
    machine = Machine(data, context)
    made = machine.load()
    machine.end()
    return made
