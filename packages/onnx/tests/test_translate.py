"""Nodes of a program become operators, also where ONNX has no such dimension."""

from __future__ import annotations

import pytest
from scalar_samples import SCALARS

from taeda import nn, onnx


class Of(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *args):
        return self.f(*args)


@pytest.mark.parametrize("row", ["flip.default", "linalg_vector_norm.default", "topk.default"])
def test_a_row_along_a_scalar_gives_outputs_of_its_ranks(row):
    f, args = SCALARS[row]
    made = onnx.export(Of(f).eval(), args, verify=False)
    wanted = f(*args)
    parts = wanted if isinstance(wanted, tuple | list) else (wanted,)
    assert [port.sizes for port in made.model.outputs] == [list(t.shape) for t in parts]
    assert [port.dtype for port in made.model.outputs] == [t.dtype for t in parts]
