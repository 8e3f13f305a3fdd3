"""Methods and questions of tensors of another layout than strided; taeda-sparse answers them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._native import core as _core
from ._method import Tensor, method, set_property

_DELEGATED = """
    coalesce is_coalesced indices values _indices _values _nnz crow_indices col_indices sparse_mask
    to_sparse to_sparse_coo to_sparse_csr
""".split()


def _methods() -> Any:
    import taeda  # when a method is called: it needs Tensor complete

    sparse: Any = taeda.sparse  # upward: says what to install if it is missing
    return sparse._methods


def _delegate(name: str) -> Callable[..., Any]:
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return getattr(_methods(), name)(self, *args, **kwargs)

    call.__name__, call.__qualname__ = name, f"Tensor.{name}"
    call.__doc__ = f"See `taeda.sparse`: {name.strip('_')} of a sparse tensor."
    return call


for _name in _DELEGATED:
    setattr(Tensor, _name, _delegate(_name))


@method
def dense_dim(self: Tensor) -> int:
    """How many dimensions are dense: of a strided tensor all."""
    if self.layout is _core.strided:
        return self.dim()
    return int(_methods().dense_dim(self))


@method
def sparse_dim(self: Tensor) -> int:
    """How many dimensions are sparse: of a strided tensor 0."""
    return 0 if self.layout is _core.strided else int(_methods().sparse_dim(self))


@method
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    """The strided tensor of the same elements: itself if it is one; in another dtype if one is given."""
    made = self if self.layout is _core.strided else _methods().to_dense(self, masked_grad)
    return made if dtype is None else made.to(dtype)


set_property(
    "is_sparse", lambda self: self.layout is _core.sparse_coo, "True for the layout sparse_coo."
)
set_property(
    "is_sparse_csr", lambda self: self.layout is _core.sparse_csr, "True for the layout sparse_csr."
)
