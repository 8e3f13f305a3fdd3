"""Functions are looked up in tables: no name of a file is called."""

from __future__ import annotations

import operator

import pytest

import taeda
from taeda._core_api.files import FormatError
from taeda.export._pt2._reading.targets import part_names, target_of


def test_names_of_operators():
    assert target_of("torch.ops.aten.add.Tensor") is taeda.ops.aten.add.Tensor
    assert target_of("torch.ops.aten.sym_size.int") is taeda.ops.aten.sym_size.int
    assert target_of("_operator.add") is operator.add
    assert callable(target_of("torch.ops.higher_order.cond"))


@pytest.mark.parametrize(
    "text",
    [
        "os.system", "torch.ops.aten.add", "torch.ops.aten.add.Nonsense", "torch.ops.mine.add.Tensor",
        "torch.ops.aten.__class__.default", "torch.ops.aten.add.Tensor\n", "_operator.__import__", "",
        None, 3,
    ],
)  # fmt: skip
def test_others_are_refused(text):
    with pytest.raises(FormatError, match="no operator of taeda"):
        target_of(text)


def test_names_of_results():
    one, two = {"name": "a"}, {"name": "b"}
    assert part_names([("as_tensors", [one, two])]) == ["a", "b"]
    assert part_names([("as_tensor", one), ("as_tensor", two)]) == ["a", "b"]
    with pytest.raises(FormatError, match="as_sym_int"):
        part_names([("as_tensor", one), ("as_sym_int", two)])
