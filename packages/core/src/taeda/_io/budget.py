"""How much memory the objects in a file may take: in proportion to what describes them."""

from __future__ import annotations

from .safetensors import FormatError

__all__ = ["Budget", "is_long"]

_FACTOR = 20  # a list of small dicts takes 18 times its pickle; a bomb takes more, up to thousands
_LEAST = 16 << 20


def is_long(description_bytes: int, file_bytes: int) -> bool:
    """Whether what a description may ask for is more than its file's size and 16 MiB: then it is
    looked through first.
    """
    return _FACTOR * description_bytes > file_bytes + _LEAST


class Budget:
    """As many bytes as the file has, and 16 MiB or 20 times the description, whichever is more.

    A tensor takes some 1,800 bytes besides its numbers: 20 times the 85 that a pickle has for it,
    and its part of the directory. Numbers that are read are spent as well.
    """

    def __init__(self, file_bytes: int, description_bytes: int = 0) -> None:
        self.file, self.description, self.spent = file_bytes, 0, 0
        self.describe(description_bytes)

    def describe(self, count: int) -> None:
        """Know of `count` more bytes of description."""
        self.description += count
        self.limit = self.file + max(_LEAST, _FACTOR * self.description)

    def spend(self, count: int) -> None:
        """Take `count` bytes. FormatError when no more are left."""
        self.spent += count
        if self.spent > self.limit:
            raise FormatError(
                f"the file asks for more than {self.limit} bytes of memory; it has {self.file}, of which "
                f"{self.description} describe objects: refused as a bomb"
            )
