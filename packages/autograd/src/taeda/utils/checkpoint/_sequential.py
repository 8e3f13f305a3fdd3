"""Checkpoints over a chain of modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from taeda._core_api import warn

__all__ = ["checkpoint_sequential"]


def checkpoint_sequential(
    functions: Iterable[Callable[[Any], Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Run a chain (a Sequential, or functions of one argument) in `segments` pieces, all but the
    last checkpointed.

    Memory is that of the inputs of the pieces and of the inside of one piece. ValueError for words
    that `checkpoint` does not take here, or for fewer than one segment.

    Args:
        functions: a Sequential, or an iterable of functions of one argument.
        segments: number of pieces, at least 1.
        input: what the first function gets.
        use_reentrant: as of `checkpoint` (None: True, with a warning).
        **kwargs: `preserve_rng_state` (True) alone.

    >>> import taeda
    >>> x = taeda.ones(1, requires_grad=True)
    >>> checkpoint_sequential([taeda.exp, taeda.log, taeda.neg], 2, x, use_reentrant=False)
    tensor([-1.], grad_fn=<NegBackward0>)
    """
    from . import checkpoint  # late: the package names this module

    if use_reentrant is None:
        use_reentrant = True
        warn(
            "checkpoint_sequential: the use_reentrant parameter should be passed explicitly. "
            "use_reentrant=False is "
            "recommended; without it the reentrant variant is used.",
        )
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    chain = list(functions)
    if segments < 1:
        raise ValueError(f"checkpoint_sequential: wanted at least one segment, got {segments}")
    pieces = min(segments, len(chain))
    size = len(chain) // max(pieces, 1)
    last = size * max(pieces - 1, 0)  # the last piece is longer where the chain does not divide
    for begin in range(0, last, size or 1):
        piece = _chained(chain[begin : begin + size])
        input = checkpoint(piece, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _chained(chain[last:])(input)


def _chained(functions: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run
