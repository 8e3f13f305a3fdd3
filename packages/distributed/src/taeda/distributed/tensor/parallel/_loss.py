"""The loss of scores whose classes lie on several ranks, without gathering them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .._settings import replicating

__all__ = ["loss_parallel"]


@contextlib.contextmanager
def loss_parallel() -> Iterator[None]:
    """Inside, `cross_entropy` of a DTensor whose classes are cut takes plain targets and weights.

    They are taken to be the same on all ranks. The scores stay where they are: the largest, the sum
    of exponentials and the target's score travel, three numbers a row. Backward belongs inside too.
    Label smoothing and targets that are probabilities are right as well, but gather.
    """
    with replicating():
        yield
