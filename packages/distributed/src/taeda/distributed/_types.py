"""Reductions and the names of backends."""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["Backend", "RedOpType", "ReduceOp", "reduce_op", "supports_complex"]


class RedOpType(enum.Enum):
    """The kinds of reduction.

    >>> from taeda import distributed as dist
    >>> dist.ReduceOp.MAX.op is dist.RedOpType.MAX
    True
    """

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    # By identity: Enum's own hash is Python, and every small sum looks its kind up several times.
    __hash__ = object.__hash__


class ReduceOp:
    """How the values of all ranks become one: SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM.

    AVG is the sum over the number of ranks; PREMUL_SUM comes from `ReduceOp.premul_sum(factor)` and
    multiplies before it adds.

    Args:
        op: a kind of `RedOpType`, or another ReduceOp.
        factor: a number or tensor that multiplies before a PREMUL_SUM adds; None for the others.

    >>> ReduceOp.SUM == ReduceOp(RedOpType.SUM)
    True
    """

    RedOpType = RedOpType
    SUM: ReduceOp
    AVG: ReduceOp
    PRODUCT: ReduceOp
    MIN: ReduceOp
    MAX: ReduceOp
    BAND: ReduceOp
    BOR: ReduceOp
    BXOR: ReduceOp
    PREMUL_SUM: ReduceOp

    def __init__(self, op: Any, factor: Any = None) -> None:
        self.op: Any = op.op if isinstance(op, ReduceOp) else RedOpType(op)
        self.name: str = self.op.name  # the kind in words
        self.factor = factor

    @staticmethod
    def premul_sum(factor: Any) -> ReduceOp:
        """A sum of values that are multiplied by `factor`, a number or a tensor of one, first."""
        return ReduceOp(RedOpType.PREMUL_SUM, factor)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RedOpType):
            return self.op is other
        return isinstance(other, ReduceOp) and self.op is other.op

    def __hash__(self) -> int:
        return hash(self.op)

    def __repr__(self) -> str:
        return f"<ReduceOp.{self.op.name}>"


for _kind in RedOpType:
    setattr(ReduceOp, _kind.name, ReduceOp(_kind))


class reduce_op:
    """The older name of the reductions: `reduce_op.SUM`. Use ReduceOp.

    >>> from taeda import distributed as dist
    >>> dist.reduce_op.SUM == dist.ReduceOp.SUM
    True
    """

    SUM = ReduceOp.SUM
    PRODUCT = ReduceOp.PRODUCT
    MIN = ReduceOp.MIN
    MAX = ReduceOp.MAX


def supports_complex(reduceOp: ReduceOp) -> bool:
    """Has the reduction a meaning for complex numbers? Orders and bits have none.

    Args:
        reduceOp: the reduction.

    >>> from taeda import distributed as dist
    >>> dist.supports_complex(dist.ReduceOp.SUM), dist.supports_complex(dist.ReduceOp.MAX)
    (True, False)
    """
    return reduceOp.op in (RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT, RedOpType.PREMUL_SUM)


class Backend(str):
    """The name of a backend in lower case. ValueError for a name that nobody registered.

    Args:
        name: its name, in any case.

    >>> Backend("GLOO")
    'gloo'
    """

    UNDEFINED = "undefined"
    MPI = "mpi"
    GLOO = "gloo"
    NCCL = "nccl"
    FAKE = "fake"
    INPROC = "inproc"
    backend_list = [UNDEFINED, MPI, GLOO, NCCL, FAKE, INPROC]  # noqa: RUF012 - it grows by register_backend
    _makers: dict[str, Any] = {}  # noqa: RUF012 - it grows by register_backend

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"a backend is named by a str, not by {type(name).__name__}")
        word = name.lower()
        if word not in cls.backend_list:
            known = ", ".join(repr(known) for known in cls.backend_list[1:])
            raise ValueError(f"unknown backend {name!r}; there are {known}")
        return str.__new__(cls, word)

    @classmethod
    def register_backend(
        cls,
        name: str,
        func: Any,
        extended_api: bool = False,
        devices: str | list[str] | None = None,
    ) -> None:
        """Let `func(store, rank, size, timeout)` make the engine of groups with the backend `name`.

        With `extended_api` it is called as `func(options, pg_options)`, and the options have those four as
        attributes, with `group_id` and `global_ranks_in_group`. RuntimeError for a name that is taken.
        """
        word = name.lower()
        if word in cls.backend_list:
            raise RuntimeError(f"the backend {name!r} is registered already")
        if not callable(func):
            raise TypeError(f"func must be callable, not {type(func).__name__}")
        cls.backend_list.append(word)
        setattr(cls, name.upper(), word)
        cls._makers[word] = (func, extended_api, devices)
