from __future__ import annotations

import pytest

import taeda
import taeda.nn.functional as F
from taeda._core_api import programs
from taeda.compiler._graph import risks
from taeda.compiler._graph.risks import may_raise


@pytest.mark.parametrize(
    "op",
    ["index.Tensor", "gather", "scatter.src", "embedding", "nll_loss_forward", "_cross_entropy",
     "_linalg_cholesky", "_linalg_solve",
     "multinomial", "bernoulli", "normal.Tensor_Tensor", "remainder.Tensor", "div.Tensor", "frexp",
     "repeat_interleave.Tensor"],
)  # fmt: skip
def test_rows_that_say_no_to_some_values(op):
    assert op in {text for text, *_ in programs.op_rows()}
    assert may_raise(op)


@pytest.mark.parametrize("op", ["mm", "add.Tensor", "sin", "convolution", "sum", "view",
    "native_dropout", "_fused_adam_"])  # fmt: skip
def test_rows_that_take_all_values(op):
    assert not may_raise(op)


@pytest.mark.parametrize(
    "op", ["_margin_loss", "searchsorted.Tensor", "_alignments", "a_row_of_tomorrow"]
)
def test_rows_that_nobody_vouches_for(op):
    assert may_raise(op)


def test_what_is_vouched_for_are_rows():
    rows = {text.partition(".")[0] for text, _, kind, *_ in programs.op_rows() if kind == "c"}
    assert risks._TAKE_ALL - rows == set()


@pytest.mark.parametrize("name", ["multi_margin_loss", "multilabel_margin_loss", "searchsorted"])
def test_an_error_of_a_result_that_nobody_reads_is_raised(name):
    def of(x, t):
        if name == "searchsorted":
            return taeda.searchsorted(x, x, sorter=t)
        return getattr(F, name)(x, t)

    f = taeda.compile(lambda x, t: (of(x, t), x * 2)[1])
    x = taeda.rand(2, 3).sort().values
    good = (
        taeda.tensor([0, 1])
        if name == "multi_margin_loss"
        else taeda.arange(3).expand(2, 3).clone()
    )
    for _ in range(4):
        f(x, good)
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        f(x, good + 70)
