"""What libraries take from `torch._tensor_str`: the options of printing, and the parts of a text."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._tensor import printing

__all__ = ["add_suffixes", "options", "str_intern", "tensor_str"]


class _Options:
    """The options in force as attributes, which may be set."""

    def __getattr__(self, name: str) -> Any:
        try:
            return printing.get_printoptions()[name]
        except KeyError:
            raise AttributeError(f"no option of printing is called {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        current = printing.get_printoptions()
        if name not in current:
            raise AttributeError(f"no option of printing is called {name!r}")
        printing.set_printoptions(**{**current, name: value})

    def __repr__(self) -> str:
        return f"options of printing: {printing.get_printoptions()}"


options = _Options()


def tensor_str(self: Tensor, indent: int, summarize: bool | None = None) -> str:
    """The numbers in their brackets, lines after the first moved by `indent`. By default a tensor
    is shortened if it has more elements than the threshold.
    """
    if self.numel() == 0:
        return "[]"
    if summarize is None:
        return printing._contents(self.detach(), indent)
    threshold = 0 if summarize else float("inf")
    kept = {**printing.get_printoptions(), "threshold": threshold}
    with printing.printoptions(**kept):
        return printing._contents(self.detach(), indent)


def str_intern(inp: Tensor, *, tensor_contents: str | None = None) -> str:
    """The text of a tensor; `tensor_contents` in the place of its numbers."""
    return printing.tensor_repr(inp, tensor_contents=tensor_contents)


def add_suffixes(text: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """The text, what is said behind it, and the parenthesis; on a line of its own where it is long."""
    if force_newline and suffixes:
        first, *rest = suffixes
        return printing._close(f"{text},\n{' ' * indent}{first}", rest, indent)
    return printing._close(text, suffixes, indent)
