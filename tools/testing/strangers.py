"""What kernels of users return, right or not: forms of results in schemas, kinds of kernels, values, and
which value fits which form.
"""

from __future__ import annotations

from typing import Any

import taeda

__all__ = [
    "KINDS",
    "ONE",
    "RESULTS",
    "VIEWS",
    "WRITTEN",
    "Turning",
    "fits",
    "inputs",
    "outcome",
    "values",
]

RESULTS = (
    *("Tensor", "Tensor?", "Tensor[]", "Tensor?[]", "Tensor[]?", "int", "float", "bool", "str"),
    *("Scalar", "int[]", "float?", "SymInt", "ScalarType", "Device", "bool[]"),
)
WRITTEN = ("Tensor(a!)", "Tensor(a!)?", "Tensor(a!)[]")  # of an argument
VIEWS = ("Tensor(a)", "Tensor(a)[]", "Tensor(a)?")
KINDS = {
    "cpu": "CPU",
    "meta": "Meta",
    "any": "CompositeExplicitAutograd",
    "composite": "CompositeImplicitAutograd",
}


class Endless(list[Any]):
    """A list that holds itself, and lies about its length."""

    def __init__(self) -> None:
        super().__init__()
        self.append(self)

    def __len__(self) -> int:
        return 3


class Turning(tuple[Any, ...]):
    """A tuple that gives other items than it holds."""

    __slots__ = ()

    def __iter__(self) -> Any:
        return iter([None, 5])


def values(x: Any) -> dict[str, Any]:
    """What kernels return, by name."""
    yourself: list[Any] = []
    yourself.append(yourself)
    return {
        "None": None,
        "tensor": x + 1,
        "empty list": [],
        "list": [x + 1, x + 2],
        "tuple": (x + 1, x + 2),
        "list of None": [None],
        "tensor and None": [x + 1, None],
        "odd list": [5, None, "a"],
        "list of lists": [[x + 1]],
        "itself": yourself,
        "endless": Endless(),
        "turning": Turning((x + 1, x + 2)),
        "int": 3,
        "float": 1.5,
        "complex": 1j,
        "True": True,
        "str": "a",
        "huge": 2**200,
        "ints": [1, 2],
        "floats": [1.5],
        "bools": [True, False],
        "dtype": taeda.float32,
        "device": taeda.device("cpu"),
        "kernel": values,
        "type": taeda.Tensor,
        "dict": {"x": x},
        "generator": (t for t in (x,)),
        "set": {1},
    }


def is_number(v: Any, *kinds: type) -> bool:
    return type(v) in kinds and (type(v) is not int or abs(v) < 2**64)


ONE = {
    "Tensor": lambda v: isinstance(v, taeda.Tensor),
    "int": lambda v: is_number(v, int, bool),
    "SymInt": lambda v: is_number(v, int, bool),
    "float": lambda v: is_number(v, int, bool, float),
    "bool": lambda v: is_number(v, bool),
    "Scalar": lambda v: is_number(v, int, bool, float, complex),
    "str": lambda v: isinstance(v, str),
    "ScalarType": lambda v: isinstance(v, taeda.dtype),
    "Device": lambda v: isinstance(v, taeda.device),
}


def fits(declared: str, value: Any) -> bool:
    """Does a value have the type that a schema declares?"""
    plain = declared.replace("(a!)", "").replace("(a)", "")
    optional, plain = plain.endswith("?"), plain.removesuffix("?")
    if value is None:
        return optional
    if not plain.endswith("[]"):
        return ONE[plain](value)
    item = plain.removesuffix("[]")
    none, item = item.endswith("?"), item.removesuffix("?")
    if isinstance(value, (Endless, Turning)):
        return False
    return isinstance(value, (list, tuple)) and all(
        none if v is None else ONE[item](v) for v in value
    )


def outcome(op: Any, *arguments: Any) -> bool:
    """True if a call gives something; False if it is refused as it ought to be."""
    said = ""
    try:
        op(*arguments)
    except RuntimeError as error:
        said = str(error)
    assert not said or ("strangers::f" in said and "schema says" in said), said
    return not said


def inputs(kind: str) -> Any:
    return taeda.ones(3, device="meta" if kind == "meta" else "cpu")
