"""How much memory the objects in a file may take: in proportion to what describes them."""

from __future__ import annotations

from .safetensors import FormatError

__all__ = ["Budget", "is_long"]

#: small containers are counted as 27 to 37.4 times what a pickle has for them, a tensor as 25; a bomb
#: takes more (lists that are only nested 40, others up to thousands)
_FACTOR = 38
_LEAST = 16 << 20


def is_long(description_bytes: int, file_bytes: int, factor: int = _FACTOR) -> bool:
    """Whether what a description may ask for, `factor` bytes for each of its own, is more than its
    file's size and 16 MiB: then it is looked through first.
    """
    return factor * description_bytes > file_bytes + _LEAST


class Budget:
    """As many bytes as the file has, and 16 MiB or 38 times the description, whichever is more: what
    `save` writes is read, however small its parts are. Numbers that are read are spent as well.
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
