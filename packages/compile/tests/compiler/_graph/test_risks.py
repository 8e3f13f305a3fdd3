from __future__ import annotations

import pytest

from taeda._core_api import programs
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
