"""A first look at a header that is long beside the file: checked through to its end, a little at a time.

What is made of a header takes about ten times its length. Where that could be more than a file may
take to be refused, this goes ahead: it holds one window of the text, one entry, and 24 bytes for
each entry that it has seen.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator
from typing import Any

import taeda

from .budget import is_long
from .safetensors import LENGTH_BYTES, Entry, FormatError, entry_of, load_json
from .source import Source

__all__ = ["check_long_header"]

#: found here, for a codec is a module: reading a stranger's file imports nothing
_HALVES = codecs.getencoder("utf-16-le")
_WINDOW = 1 << 20
_FACTOR = 20  # bytes that the objects of a header take, for each of its own
_LONGEST = 1 << 16  # bytes of one entry, or of a name that is taken at once
# In a repeated group the alternative that fails at its first byte stands last: Python before 3.11.5
# goes on where the last alternative stopped, though it failed.
_TEXT = rb'"(?:\\.|[^"\\\x00-\x1f]++)*+"'
_MEMBER = re.compile(rb"\s*+(" + _TEXT + rb")\s*+:\s*+")
_ENTRY = re.compile(rb"\{(?:" + _TEXT + rb"|[^{}\"]++)*+\}")
_METADATA = re.compile(rb"\{\s*+")
_PART_OF_TEXT = re.compile(rb'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[^"\\\x00-\x1f]++)*+')
_NEXT = re.compile(rb"\s*+([,}])")


def check_long_header(source: Source, length: int) -> None:
    """If its objects could take more than a file of this size may take: FormatError for what
    reading them would find.

    What stands in the texts of the metadata is not looked into.
    """
    if not is_long(length, source.size, _FACTOR):
        return
    text = _Text(source, LENGTH_BYTES, LENGTH_BYTES + length)
    seen = _Seen()
    for name, number, entry in _entries(text):
        seen.add(name, number, entry)
    if text.rest().strip():
        raise FormatError("the header is no valid JSON: something follows its end")
    if (twice := seen.twice()) is not None:
        again = _entries(_Text(source, LENGTH_BYTES, LENGTH_BYTES + length))
        raise FormatError(
            f"the key {next(n for n, h, _ in again if h == twice)!r:.200} stands twice in one object"
        )
    seen.check_layout(source.size - LENGTH_BYTES - length)


class _Text:
    """The header's text, of which one window is held."""

    def __init__(self, source: Source, begin: int, end: int) -> None:
        self.source, self.next, self.end = source, begin, end
        self.window, self.at = b"", 0
        self.decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")

    def take(self, pattern: re.Pattern[bytes], what: str) -> re.Match[bytes]:
        """What the text goes on with; FormatError if it is not `what`."""
        found = self.look(pattern)
        if found is None:
            shown = self.window[self.at : self.at + 40]
            raise FormatError(f"the header has no {what} where one is wanted, but {shown!r}")
        return found

    def look(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """What the text goes on with, if it is of this pattern."""
        if len(self.window) - self.at < _LONGEST and self.next < self.end:
            self._refill()
        found = pattern.match(self.window, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def name(self, what: str = "name") -> tuple[str, int]:
        """A name and the colon behind it: its text, of a long one the beginning, and its hash."""
        if (found := self.look(_MEMBER)) is not None:
            text = load_json(found[1], "the header")
            return text, hash(text) if len(text) < _LONG else _digest([text])
        self.take(_BEFORE_NAME, what)
        begin: list[str] = []
        number = _digest(self.decoded(begin))
        self.take(_COLON, "colon")
        return begin[0], number

    def decoded(self, begin: list[str]) -> Iterator[str]:
        """The pieces of a text as they are read; the beginning of the first is left in `begin`."""
        for piece in self.pieces():
            text = load_json(b'"%b"' % piece, "the header")
            begin.append(text[: 0 if begin else _SHOWN])
            yield text

    def _refill(self) -> None:
        more = self.source.read(self.next, min(_WINDOW, self.end - self.next))
        self.next += len(more)
        try:
            self.decoder.decode(more, self.next == self.end)
        except UnicodeDecodeError as error:
            raise FormatError(f"the header is no valid JSON: {error.reason}") from None
        self.window, self.at = self.window[self.at :] + more, 0

    def skip_text(self) -> None:
        """A text of any length."""
        self.take(_QUOTE, "text")
        for _ in self.pieces():
            pass

    def pieces(self) -> Iterator[bytes]:
        """The rest of a text, and its end, a window at a time."""
        more = True
        while more:
            piece = self.take(_PART_OF_TEXT, "text")
            more = piece.end() > len(self.window) - 8 and self.next < self.end
            yield piece[0]
        self.take(_QUOTE, "end of a text")

    def rest(self) -> bytes:
        """What has not been taken: at the end, some spaces at most."""
        return self.window[self.at :] + self.source.read(
            self.next, min(self.end - self.next, _WINDOW)
        )


_QUOTE = re.compile(b'"')
_BEFORE_NAME = re.compile(rb'\s*+"')
_COLON = re.compile(rb"\s*+:\s*+")
_SHOWN = 1000  # characters of a long name
_LONG = 5000  # characters: one that is longer in the file than a window holds has more, however it is written


def _digest(pieces: Iterable[str]) -> int:
    """The hash of a long text, wherever it is cut."""
    digest = hashlib.blake2b(digest_size=8)
    for piece in pieces:
        digest.update(_HALVES(piece, "surrogatepass")[0])  # pairs may lie in two pieces
    return hash(digest.digest())


_BEGIN = re.compile(rb"\{(\s*+\})?")


def _entries(text: _Text) -> Iterator[tuple[str, int, Entry]]:
    """Each entry behind its name and that one's hash; the metadata is looked through."""
    if text.take(_BEGIN, "object")[1]:
        return
    described = False
    while True:
        name, number = text.name()
        if name != "__metadata__":
            yield name, number, entry_of(name, _fields(text))
        elif described:
            raise FormatError("the key '__metadata__' stands twice in one object")
        else:
            described = True
            _skip_metadata(text)
        if text.take(_NEXT, "comma or end")[1] == b"}":
            return


def _fields(text: _Text) -> Any:
    return load_json(text.take(_ENTRY, "entry with dtype, shape and data_offsets")[0], "the header")


def _skip_metadata(text: _Text) -> None:
    if text.take(_BEGIN, "object of metadata")[1]:
        return
    while True:
        text.name("name in the metadata")
        text.skip_text()
        if text.take(_NEXT, "comma or end")[1] == b"}":
            return


class _Seen:
    """Of each entry the hash of its name, and where it lies."""

    def __init__(self) -> None:
        self.names = array("q")
        self.begins, self.ends, self.empty = array("q"), array("q"), array("q")

    def add(self, name: str, number: int, entry: Entry) -> None:
        self.names.append(number)
        if entry.end >= 1 << 62:
            raise FormatError(f"entry {name!r:.200} is said to reach to byte {entry.end}")
        if entry.nbytes:
            self.begins.append(entry.begin)
            self.ends.append(entry.end)
        else:
            if not self.empty or self.empty[-1] != entry.begin:  # often all lie in one place
                self.empty.append(entry.begin)

    def twice(self) -> int | None:
        """The hash of a name that stands twice."""
        ordered = _ordered(self.names)
        same = ordered[1:] == ordered[:-1]
        return int(ordered[1:][same][0]) if bool(same.any()) else None

    def check_layout(self, data_bytes: int) -> None:
        """Ordered by where they begin, each must begin where the one before it ends."""
        begins, ends = _ordered(self.begins), _ordered(self.ends)
        edges = taeda.cat([taeda.zeros(1, dtype=taeda.int64), ends])
        fits = bool((begins == edges[:-1]).all()) and int(edges[-1]) == data_bytes
        empty = _ordered(self.empty)
        places = taeda.searchsorted(edges, empty).clamp_(max=edges.numel() - 1)
        if not fits or not bool((edges[places] == empty).all()):
            raise FormatError(
                f"the entries overlap, leave a hole or do not end with the data, which have {data_bytes} "
                "bytes: the file is truncated or damaged"
            )


def _ordered(numbers: array[int]) -> taeda.Tensor:
    if not numbers:
        return taeda.empty(0, dtype=taeda.int64)
    return taeda.frombuffer(numbers, dtype=taeda.int64).sort().values
