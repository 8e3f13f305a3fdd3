"""Operations equal torch's in values, dtypes, layouts, gradients and refusals."""

from __future__ import annotations

import pytest
from both import FULL
from by_path import load

torch = pytest.importorskip("torch")
from parity import compare  # noqa: E402 - needs torch

cases = load("packages/core/tests_parity/cases.py")
DTYPES = ("float32", "int64") if not FULL else (
    "float32", "float64", "bfloat16", "float16", "int64", "int32", "uint8", "bool", "complex64"
)  # fmt: skip
LAYOUTS = ("plain", "transposed") if not FULL else ("plain", "transposed", "strided", "expanded")


def inputs(dtype, layout):
    """The named tensors, filled with small numbers that no two dtypes disagree about."""
    generator = torch.Generator().manual_seed(0)
    found = {}
    for name, shape in cases.SHAPES.items():
        x = torch.randint(1 if name in "pq" else -3, 4, shape, generator=generator).double()
        if dtype not in ("int64", "int32", "uint8", "bool"):
            x = x + 0.25 * torch.rand(shape, generator=generator, dtype=torch.float64)
        found[name] = lay_out(x.to(getattr(torch, dtype)), layout)
    found["b"] = torch.rand(2, 3, 4, generator=generator) > 0.5
    found["i"] = torch.randint(0, 3, (2, 3), generator=generator)
    return found


def lay_out(x, layout):
    if layout == "transposed" and x.dim() > 1:
        return x.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "strided" and x.dim():
        return x.repeat_interleave(2, -1)[..., ::2]
    if layout == "expanded" and x.dim() and x.shape[0]:
        return x[:1].expand(x.shape)
    return x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "text", cases.expressions(cases.POINTWISE) + cases.expressions(cases.REDUCTION)
)
@pytest.mark.filterwarnings("ignore")
def test_arithmetic(text, layout, dtype):
    check(text, inputs(dtype, layout), dtype)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("text", cases.expressions(cases.VIEW) + cases.expressions(cases.INDEX))
@pytest.mark.filterwarnings("ignore")
def test_movement(text, layout, dtype):
    check(text, inputs(dtype, layout), dtype)


@pytest.mark.parametrize("dtype", ("float32", "float64", "int64") if FULL else ("float32",))
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("text", cases.expressions(cases.MATMUL) + cases.expressions(cases.LAYER))
@pytest.mark.filterwarnings("ignore")
def test_layers(text, layout, dtype):
    check(text, inputs(dtype, layout), dtype)


@pytest.mark.parametrize("dtype", ("float32", "float64", "complex64") if FULL else ("float64",))
@pytest.mark.parametrize("layout", ["plain", "transposed"])
@pytest.mark.parametrize("text", cases.expressions(cases.LINALG))
@pytest.mark.filterwarnings("ignore")
def test_linear_algebra(text, layout, dtype):
    # theirs are column-major always
    check(text, inputs(dtype, layout), dtype, strides=False, loose=8.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("text", cases.expressions(cases.TOP))
@pytest.mark.filterwarnings("ignore")
def test_names_at_the_top(text, dtype):
    check(text, inputs(dtype, "plain"), dtype, strides=False, loose=8.0)


@pytest.mark.parametrize("text", cases.expressions(cases.CREATION))
@pytest.mark.filterwarnings("ignore")
def test_creation(text):
    check(text, inputs("float32", "plain"), "float32")


def check(text, tensors, dtype, strides=True, loose=1.0):
    """Compare with only the inputs that the expression names, so that each gradient has its meaning."""
    torch.manual_seed(0)  # lobpcg begins at random, and its gradient exists or not by that
    words = compile(text, text, "eval").co_names
    used = {name: x for name, x in tensors.items() if name in words}
    compare(
        text,
        used,
        loose=8.0 if "conv" in text or "@" in text else loose,
        strides=strides and text not in cases.LAYOUT_DIFFERS,
        refusals=text not in cases.REFUSAL_DIFFERS,
    )
