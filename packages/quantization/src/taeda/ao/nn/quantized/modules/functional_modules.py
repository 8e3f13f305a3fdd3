"""Operations of two tensors as modules, so that each has an observer: sums, products, joins."""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.quantization import _arithmetic

from ..._weights import activation_parameters

__all__ = ["FXFloatFunctional", "FloatFunctional", "QFunctional"]


class _Floats(nn.Module):
    """The operations on floats; results pass `_seen`."""

    def _seen(self, x: Tensor) -> Tensor:
        return x

    def forward(self, x: Any) -> Any:
        raise RuntimeError(
            f"{type(self).__name__} is not called itself: use its add, mul, cat and other methods"
        )

    def add(self, x: Any, y: Any) -> Tensor:
        """x + y."""
        return self._seen(taeda.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """x + y of a number y; not observed, as the scale of x serves."""
        return taeda.add(x, y)

    def mul(self, x: Any, y: Any) -> Tensor:
        """x * y."""
        return self._seen(taeda.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """x * y of a number y; not observed, as the scale of x serves."""
        return taeda.mul(x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """Tensors one after the other along `dim`."""
        return self._seen(taeda.cat(x, dim))

    def add_relu(self, x: Any, y: Any) -> Tensor:
        """max(x + y, 0)."""
        return self._seen(taeda.relu(taeda.add(x, y)))

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """x @ y."""
        return self._seen(taeda.matmul(x, y))


class FloatFunctional(_Floats):
    """Operations of two tensors, observed once a model is prepared.

    >>> import taeda
    >>> FloatFunctional().add(taeda.ones(1), taeda.ones(1)).tolist()
    [2.0]
    """

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = nn.Identity()

    def _seen(self, x: Tensor) -> Tensor:
        made: Tensor = self.activation_post_process(x)
        return made


class FXFloatFunctional(_Floats):
    """The same operations without observers.

    >>> FXFloatFunctional().add_relu(taeda.tensor([1.0, -3.0]), taeda.tensor([1.0, 1.0])).tolist()
    [2.0, 0.0]
    """


class QFunctional(nn.Module):
    """The operations of `FloatFunctional` on integers, with a scale of their own; `convert` makes it.

    >>> import taeda
    >>> made = QFunctional()
    >>> made.scale = 0.5
    >>> q = taeda.quantize_per_tensor(taeda.ones(1), 0.25, 0, taeda.quint8)
    >>> made.add(q, q).dequantize().tolist()
    [2.0]
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.zero_point = 1.0, 0
        self.activation_post_process = nn.Identity()

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = taeda.tensor(self.scale)
        destination[prefix + "zero_point"] = taeda.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name, kind in (("scale", float), ("zero_point", int)):
            if (key := prefix + name) in state_dict:
                setattr(self, name, kind(state_dict.pop(key)))
            else:
                rest[2].append(key)
        super()._load_from_state_dict(state_dict, prefix, rest[0], False, *rest[2:])

    def _get_name(self) -> str:
        return "QFunctional"

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def forward(self, x: Any) -> Any:
        raise RuntimeError(
            "QFunctional is not called itself: use its add, mul, cat and other methods"
        )

    def _facts(self) -> tuple[float, int]:
        return self.scale, self.zero_point

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """x + y with the module's scale."""
        return _arithmetic.add(x, y, *self._facts())

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """x + y of a number y, with another zero point."""
        return _arithmetic.add_scalar(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """x * y with the module's scale."""
        return _arithmetic.mul(x, y, *self._facts())

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """x * y of a number y, with another scale."""
        return _arithmetic.mul_scalar(x, y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """Tensors one after the other along `dim`, with the module's scale."""
        return _arithmetic.cat(x, dim, *self._facts())

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """max(x + y, 0) with the module's scale."""
        return _arithmetic.add(x, y, *self._facts(), relu=True)

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """x @ y with the module's scale."""
        return _arithmetic.matmul(x, y, *self._facts())

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The module of an observed `FloatFunctional`. AssertionError for another class, RuntimeError if its
        observer saw nothing.
        """
        if type(mod) is not FloatFunctional:
            raise AssertionError(
                f"QFunctional.from_float wants a FloatFunctional, but got {type(mod).__name__}"
            )
        made = cls()
        made.scale, made.zero_point = activation_parameters(mod, "QFunctional")
        return made
