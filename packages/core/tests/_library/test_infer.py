"""Schemas made of annotations."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import Tensor, library


def everything(
    x: Tensor,
    n: int,
    f: float = 1.5,
    b: bool = True,
    s: str = "a",
    *,
    d: taeda.device | None = None,
    t: taeda.dtype = taeda.float64,
) -> tuple[Tensor, list[Tensor]]: ...


def lists(
    x: list[Tensor], y: list[Tensor | None], n: list[int] | None = None, k: int | float | bool = 2
) -> None: ...


def test_schemas_of_annotations():
    infer = library.infer_schema
    assert infer(everything, mutates_args=()) == (
        '(Tensor x, SymInt n, float f=1.5, bool b=True, str s="a", *, Device? d=None, ScalarType t=float64)'
        " -> (Tensor, Tensor[])"
    )
    assert infer(lists, mutates_args={"y"}, op_name="f") == (
        "f(Tensor[] x, Tensor(a1!)?[] y, SymInt[]? n=None, Scalar k=2) -> ()"
    )
    assert infer(lists, mutates_args="unknown").startswith("(Tensor(a0!)[] x, Tensor(a1!)?[] y,")


def annotated(returns=Tensor, **parameters):
    text = ", ".join(parameters)
    scope: dict[str, Any] = {}
    exec(f"def f({text}): ...", scope)
    scope["f"].__annotations__ = {**{k: v for k, v in parameters.items() if v}, "return": returns}
    return scope["f"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (annotated(x=None), "Parameter x must have a type annotation"),
        (annotated(x=dict), "Parameter x has unsupported type"),
        (annotated(x=tuple[int, int]), "Tuples have no schema"),
        (annotated(x="Nowhere"), "Unsupported type annotation Nowhere"),
        (annotated(x=list[str]), "Parameter x has unsupported type"),
        (annotated(x=int | str), "Parameter x has unsupported type"),
        (annotated(x=Tensor, returns=dict), "Return has unsupported type"),
        (annotated(x=Tensor, returns=tuple[Tensor, ...]), "Return has unsupported type"),
        (lambda *x: x, "varargs"),
    ],
)
def test_annotations_without_a_schema(function, message):
    with pytest.raises(ValueError, match=message):
        library.infer_schema(function, mutates_args=())


def test_mutates_args_that_mean_nothing():
    f = annotated(x=Tensor, n=int)
    for mutates, message in [
        (("y",), "were not found"),
        ("x", "'unknown'"),
        (("n",), "only Tensors"),
    ]:
        with pytest.raises(ValueError, match=message):
            library.infer_schema(f, mutates_args=mutates)


def test_a_function_without_return_annotation():
    def f(x: Tensor): ...

    with pytest.raises(ValueError, match="No return type annotation"):
        library.infer_schema(f, mutates_args=())
