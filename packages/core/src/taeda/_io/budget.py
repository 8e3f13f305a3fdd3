"""How much memory a description may ask for: in proportion to its own length."""

from __future__ import annotations

from .safetensors import FormatError

__all__ = ["Budget"]

_FACTOR = 20  # a list of small dicts takes 18 times its pickle; a bomb takes more, up to thousands
_LEAST = 16 << 20


class Budget:
    """20 bytes for each byte of the description, and 16 MiB at least."""

    def __init__(self, description_bytes: int) -> None:
        self.limit = self.left = max(_FACTOR * description_bytes, _LEAST)

    def spend(self, count: int) -> None:
        """Take `count` bytes. FormatError when no more are left."""
        self.left -= count
        if self.left < 0:
            raise FormatError(
                f"the file asks for more than {self.limit} bytes of memory, {_FACTOR} times what "
                "describes it: refused as a bomb"
            )
