"""Python objects as JSON and back: containers, numbers, texts; tensors by their place in a list.

JSON's own values stand for themselves (None, bool, int, float, str, list); everything else is an
object with one key, which names the kind: {"tuple": [...]}, {"dict": [[key, value], ...]},
{"tensor": 3}. A container, or a name, that is met again is {"again": n}, the n-th that was complete.
Decoding makes these kinds and nothing else, so a file cannot run code.
"""

from __future__ import annotations

from .decoding import decode, dtype_named, names_in_tree
from .encoding import encode
from .text import dump, parse

__all__ = ["decode", "dtype_named", "dump", "encode", "names_in_tree", "parse"]
