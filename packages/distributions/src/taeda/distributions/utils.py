"""What distributions share: broadcasting of parameters, logits and probabilities, attributes
computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import taeda
from taeda import Tensor
from taeda._core_api.foreign import named

from ._shapes import sum_rightmost as _sum_rightmost  # noqa: F401 - distributions written elsewhere import it from here

__all__ = [
    "broadcast_all", "clamp_probs", "euler_constant", "lazy_property", "logits_to_probs",
    "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060
T = TypeVar("T")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape. Numbers take the dtype and device of the tensors, or the default ones.

    >>> from taeda.distributions.utils import broadcast_all
    >>> [x.shape for x in broadcast_all(taeda.zeros(3), 1.0)]
    [taeda.Size([3]), taeda.Size([3])]

    ValueError for a value that is neither a number nor a tensor.
    """
    for value in values:
        if not isinstance(value, (Tensor, int, float, complex)):
            raise ValueError(f"parameters are numbers or tensors, got {named(value)}")
    like = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = taeda.get_default_dtype() if like is None else like.dtype
    device = None if like is None else like.device
    made = [
        v if isinstance(v, Tensor) else taeda.tensor(v, dtype=dtype, device=device) for v in values
    ]
    return tuple(taeda.broadcast_tensors(*made))


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities moved from 0 and 1 by the smallest step of their dtype, so that their logits
    are finite.

    Args:
        probs: the probabilities, from 0 to 1, a number or a float tensor. Either these or logits

    >>> taeda.distributions.utils.clamp_probs(taeda.tensor([0.0, 0.5])) > 0
    tensor([True, True])
    """
    eps = taeda.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log odds (`is_binary`), or of unnormalised logarithms along the last dimension.

    Args:
        logits: the logarithms of the odds, any number or a float tensor. Either these or probs
        is_binary: whether there are two outcomes, so that the sigmoid takes the place of softmax
            (default: False)

    >>> taeda.distributions.utils.logits_to_probs(taeda.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """
    return taeda.sigmoid(logits) if is_binary else taeda.softmax(logits, dim=-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log odds (`is_binary`) or logarithms of probabilities, finite at 0 and 1.

    Args:
        probs: the probabilities, from 0 to 1, a number or a float tensor. Either these or logits
        is_binary: whether there are two outcomes, so that the sigmoid takes the place of softmax
            (default: False)

    >>> taeda.distributions.utils.probs_to_logits(taeda.tensor([0.5, 0.9]), is_binary=True)
    tensor([0.0000, 2.1972])
    """
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Normal noise of mean 0 and deviation 1: distributions written elsewhere draw from it."""
    return taeda.normal(
        taeda.zeros(shape, dtype=dtype, device=device),
        taeda.ones(shape, dtype=dtype, device=device),
    )


class lazy_property(Generic[T]):
    """A method that becomes an attribute of its object when it is first asked for.

    >>> class Square:
    ...     side = 3
    ...     @taeda.distributions.utils.lazy_property
    ...     def area(self):
    ...         print("computed")
    ...         return taeda.tensor(self.side**2)
    >>> square = Square()
    >>> square.area, square.area
    computed
    (tensor(9), tensor(9))
    """

    def __init__(self, wrapped: Callable[[Any], T]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    @overload
    def __get__(self, instance: None, owner: Any = None) -> lazy_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> T: ...
    def __get__(self, instance: object | None, owner: Any = None) -> Any:
        if instance is None:
            return self
        with taeda.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        # a copy in another type (`_short_floats.py`) leaves these out, and computes them anew
        instance.__dict__.setdefault("_computed", set()).add(self.wrapped.__name__)
        return value


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The last dimension row by row as a lower triangle, of matrices whose size it determines.

    Args:
        vec: the elements of the triangle, row by row, in the last dimension
        diag: which diagonal bounds the triangle: 0 the main one (default: 0)

    >>> taeda.distributions.utils.vec_to_tril_matrix(taeda.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    n = (
        -(1 + 2 * diag)
        + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5
    ) / 2
    if n != int(n):
        raise ValueError(f"{vec.shape[-1]} numbers do not fill a triangle below diagonal {diag}")
    size = int(n)
    matrix = vec.new_zeros((*vec.shape[:-1], size, size))
    rows, columns = taeda.tril_indices(size, size, diag)
    matrix[..., rows, columns] = vec
    return matrix


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangle of matrices, row by row, as one dimension.

    Args:
        mat: matrices of shape (*, n, n)
        diag: which diagonal bounds the triangle: 0 the main one (default: 0)

    >>> taeda.distributions.utils.tril_matrix_to_vec(taeda.tensor([[1, 0], [2, 3]]))
    tensor([1, 2, 3])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diagonal {diag} lies outside of matrices of {n} rows")
    rows, columns = taeda.tril_indices(n, n, diag)
    return mat[..., rows, columns]
