"""Sparse tensors: values at places, by coordinates (COO), or by compressed rows or columns, of numbers (CSR,
CSC) or of blocks (BSR, BSC).

>>> import taeda
>>> graph = taeda.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 1.0, 1.0], (3, 3))
>>> graph @ taeda.tensor([[1.0], [2.0], [3.0]])
tensor([[2.],
        [3.],
        [1.]])
"""

from . import _methods as _methods
from . import rules as _rules
from ._diagonals import spdiags
from ._gradcheck import as_sparse_gradcheck
from ._invariants import check_sparse_tensor_invariants
from ._make import sparse_coo_tensor
from ._make_compressed import (
    sparse_bsc_tensor,
    sparse_bsr_tensor,
    sparse_compressed_tensor,
    sparse_csc_tensor,
    sparse_csr_tensor,
)
from ._more_products import hspmm, sampled_addmm, smm, spsolve, sspaddmm
from ._products import addmm, mm
from ._semi_structured import SparseSemiStructuredTensor, to_sparse_semi_structured
from ._softmax import log_softmax, softmax
from ._sums import sum

_rules.load()

__all__ = [
    "SparseSemiStructuredTensor", "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants",
    "hspmm", "log_softmax", "mm", "sampled_addmm", "smm", "softmax", "sparse_bsc_tensor",
    "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor",
    "sparse_csr_tensor", "spdiags", "spsolve", "sspaddmm", "sum", "to_sparse_semi_structured",
]  # fmt: skip
