"""Sparse tensors: values at places, by coordinates (COO) or by compressed rows (CSR).

>>> import taeda
>>> graph = taeda.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 1.0, 1.0], (3, 3))
>>> graph @ taeda.tensor([[1.0], [2.0], [3.0]])
tensor([[2.],
        [3.],
        [1.]])
"""

from . import _methods as _methods
from . import rules as _rules
from ._make import sparse_coo_tensor, sparse_csr_tensor
from ._products import addmm, mm

_rules.load()

__all__ = ["addmm", "mm", "sparse_coo_tensor", "sparse_csr_tensor"]
