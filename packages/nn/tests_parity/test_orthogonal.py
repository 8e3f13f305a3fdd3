"""Orthogonal parametrizations against torch's: first values, values of a given matrix, gradients,
names of what is saved.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

import taeda


def facts(library, shape, name, trivial):
    class Holder(library.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = library.nn.Parameter(
                library.tensor(np.random.default_rng(0).normal(size=shape))
            )

    free = library.tensor(np.random.default_rng(1).normal(size=shape)) * 0.3
    module = library.nn.utils.parametrizations.orthogonal(
        Holder(), "weight", name, use_trivialization=trivial
    )
    behind, random = module.parametrizations.weight, trivial and shape[-1] != shape[-2]
    first = None if random else module.weight.detach().tolist()
    with library.no_grad():
        if name != "householder":
            behind.original.copy_(free)
        if random:
            base = behind[0].base
            base.copy_(library.eye(base.shape[-1], dtype=base.dtype).expand(base.shape))
    (module.weight * free).sum().backward()
    return first, module.weight.tolist(), behind.original.grad.tolist(), sorted(module.state_dict())


@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("name", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (2, 5, 3)], ids=str)
def test_as_torch_does(shape, name, trivial):
    theirs, ours = (facts(library, shape, name, trivial) for library in (torch, taeda))
    assert ours[3] == theirs[3]
    for got, wanted in zip(ours[:3], theirs[:3], strict=True):
        if wanted is not None:
            assert np.allclose(got, wanted, atol=1e-12)
