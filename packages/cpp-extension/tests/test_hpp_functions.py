"""taeda/functions.hpp: operators of C++ and the operations by name give what Python's give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import taeda
from taeda.utils import cpp_extension
from taeda.utils.cpp_extension import load_inline

HEADER = Path(cpp_extension.__file__).parent / "include/taeda/functions.hpp"
# C++ of x (2, 3), y (3), i (int64 below 3) and m (3, 3), beside Python's words for it where they differ
CASES = """
x + y ; x - y ; x * y ; x / y ; x % 2 ; x + 1 ; x - 0.5f ; x * 2LL ; x / 4 ; 1 + x ; 2 - x ; 3 * x
1.0 / y ; -x
x == y ; x != y ; x < 0 ; x <= y ; x > y ; x >= 0 ; (x > 0) & (y > 0) ; (x > 0) | (y > 0)
(x > 0) ^ (y > 0) ; ~(x > 0)
pow(x, 2) ; atan2(x, y) ; maximum(x, y) ; minimum(x, y) ; logical_and(x, y) ; logical_or(x, y)
bitwise_and(i, i) ; bitwise_xor(i, 1)
sum(x, 1) ; sum(x, {0, 1}, true) ; mean(x, -1) ; amax(x, 0) ; amin(x, 1, true) ; logsumexp(x, 1)
argmax(x, 1) ; argmin(x, 0) ; cumsum(x, 1)
cumprod(x, 0) ; softmax(x, -1) ; log_softmax(x, 0) ; matmul(x, y) ; mm(x, m) ; mv(m, y)
dot(y, y) ; outer(y, y) ; addmm(y, x, m)
bmm(unsqueeze(m, 0), unsqueeze(m, 0)) ; reshape(x, {3, -1}) ; permute(x, {1, 0})
transpose(x, 0, 1) ; unsqueeze(x, 1) ; squeeze(unsqueeze(x, 0), 0)
expand(y, {2, 3}) ; select(x, 1, 2) ; narrow(x, 1, 0, 2) ; flip(x, {0}) ; tril(m) ; triu(m, 1)
cat({x, x}, 1) ; stack({y, y}) ; where(x > 0, x, y)
index_select(x, 1, i) ; gather(m, 1, unsqueeze(i, 0)) ; scatter_add(m, 0, unsqueeze(i, 0), x)
index_add(m, 1, i, m) ; masked_select(x, x > 0)
ones({2, 1}) ; full({2}, 3, TAEDA_FLOAT64) ; arange(4) ; to(i, TAEDA_FLOAT64) ; relu(x * 2 + y)
"""
TEXTS = [text.strip() for line in CASES.strip().splitlines() for text in line.split(" ; ")]
UNARY = re.findall(r"TAEDA_UNARY_\((\w+)\)", HEADER.read_text())
UNARY.remove("name")


def python(text):
    """The same in Python."""
    text = (
        re.sub(r"(\d)LL|(\d)f\b", r"\1\2", text)
        .replace("{", "(")
        .replace("}", ",)")
        .replace("true", "True")
    )
    text = (
        text.replace("TAEDA_FLOAT64", "dtype=taeda.float64")
        .replace("(x, x,)", "(x, x)")
        .replace("to(i,", "taeda.Tensor.to(i,")
        .replace("expand(", "taeda.Tensor.expand(")
    )
    return re.sub(r"(?<![\w.])([a-z]\w+)\(", r"taeda.\1(", text).replace("(3, -1,)", "(3, -1)")


@pytest.fixture(scope="module")
def ext(tmp_path_factory):
    lines = [
        f"Tensor f{n}(Tensor x, Tensor y, Tensor i, Tensor m) {{ return taeda::clone({text}); }}"
        for n, text in enumerate(TEXTS)
    ]
    lines += [
        f"Tensor u_{name}(Tensor x) {{ return taeda::clone(taeda::{name}(x)); }}" for name in UNARY
    ]
    source = "using namespace taeda;\n" + "\n".join(lines)
    names = [f"f{n}" for n in range(len(TEXTS))] + [f"u_{name}" for name in UNARY]
    return load_inline(
        "functions_hpp",
        source,
        functions=names,
        build_directory=tmp_path_factory.mktemp("functions"),
    )


def inputs():
    x = taeda.tensor([[0.5, -1.25, 2.0], [3.0, 0.25, -0.75]])
    return {
        "x": x,
        "y": taeda.tensor([1.5, -2.0, 0.5]),
        "i": taeda.tensor([2, 0, 1]),
        "m": taeda.arange(9.0).reshape(3, 3) / 4,
    }


@pytest.mark.parametrize("number", range(len(TEXTS)), ids=TEXTS)
def test_same_as_python(ext, number):
    given = inputs()
    made = getattr(ext, f"f{number}")(*given.values())
    wanted = eval(python(TEXTS[number]), {"taeda": taeda, **given})
    assert made.dtype == wanted.dtype
    assert taeda.equal(made, wanted) or taeda.allclose(made, wanted, rtol=1e-6)


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor(ext, name):
    x = (
        taeda.tensor([[1, 2], [3, 0]])
        if name.startswith("bitwise")
        else taeda.tensor([[0.25, 0.5], [0.75, 0.125]])
    )
    assert taeda.equal(getattr(ext, f"u_{name}")(x), getattr(taeda, name)(x))


def test_errors_are_those_of_python(ext):
    given = inputs()
    with pytest.raises(RuntimeError, match=r"must match the size|broadcast"):
        ext.f0(given["x"], taeda.ones(4), given["i"], given["m"])
