"""The text of a tree: JSON, however deep. Python's own reader and writer serve while they can recurse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ..safetensors import FormatError, json_text, load_json, pairs_once
from ..steps import DEEPEST

__all__ = ["dump", "parse"]

Json = Any
_DEEPEST = 4 * DEEPEST  # a dict takes three levels of arrays and objects
_as_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode


def dump(tree: Json) -> str:
    """The text of a tree."""
    try:
        return _as_json(tree)
    except RecursionError:
        return "".join(_pieces(tree))


def _pieces(tree: Json) -> Iterator[str]:
    todo: list[Json] = [tree]
    while todo:
        node = todo.pop()
        if type(node) is tuple:  # no kind of tree: a piece of text
            yield node[0]
        elif type(node) is list:
            todo += reversed(_separated("[", [[item] for item in node], "]"))
        elif type(node) is dict:
            pairs = [[(f"{json_text(key)}:",), value] for key, value in node.items()]
            todo += reversed(_separated("{", pairs, "}"))
        else:
            yield _as_json(node)


def _separated(begin: str, groups: list[list[Json]], end: str) -> list[Json]:
    made: list[Json] = [(begin,)]
    for number, group in enumerate(groups):
        made += [(",",), *group] if number else group
    return [*made, (end,)]


# ---- and back ----


def parse(text: str) -> Json:
    """The tree that a text describes. FormatError for one that is no JSON, or too deep."""
    try:
        return load_json(text, "the tree", deep=True)
    except RecursionError:
        return _Parser(text).tree()


_TOKEN = re.compile(
    r"[ \t\n\r]*+(?:([\[\]{},:])|(\"(?:\\.|[^\"\\\x00-\x1f]++)*+\"|-?[0-9][-+.0-9eE]*+|true|false|null))"
)


class _Parser:
    """Arrays and objects that are open, each as the list of what it has so far."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.open: list[tuple[str, list[Any]]] = []

    def tree(self) -> Json:
        while True:
            made = self.value()
            while self.open:
                kind, items = self.open[-1]
                items.append(made)
                if self.mark(",", kind) == ",":
                    break
                made = self.closed()
            else:
                if self.text[self.at :].strip():
                    raise self.wrong()
                return made

    def value(self) -> Json:
        """The next value that has no parts, or is empty; what it lies in is opened."""
        while True:
            if self.open and self.open[-1][0] == "}":
                self.key()
            found = self.token()
            if found[1] == "[" or found[1] == "{":
                end = "]" if found[1] == "[" else "}"
                self.open.append((end, []))
                if len(self.open) > _DEEPEST:
                    raise FormatError("the object is nested too deeply")
                if self.peek(end):
                    return self.closed()
            elif found[2] is None:
                raise self.wrong()
            else:
                return load_json(found[2], "the tree")

    def key(self) -> None:
        text = self.token()[2]
        if text is None or text[0] != '"':
            raise self.wrong()
        self.open[-1][1].append(load_json(text, "the tree"))
        self.mark(":", ":")

    def closed(self) -> Json:
        kind, items = self.open.pop()
        return items if kind == "]" else pairs_once(list(zip(items[::2], items[1::2], strict=True)))

    def peek(self, mark: str) -> bool:
        """Whether the text goes on with a mark, which is taken."""
        found = _TOKEN.match(self.text, self.at)
        if found is None or found[1] != mark:
            return False
        self.at = found.end()
        return True

    def mark(self, *wanted: str) -> str:
        found = self.token()[1]
        if found not in wanted:
            raise self.wrong()
        return str(found)

    def token(self) -> re.Match[str]:
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise self.wrong()
        self.at = found.end()
        return found

    def wrong(self) -> FormatError:
        return FormatError(f"the tree is no valid JSON at character {self.at}")
