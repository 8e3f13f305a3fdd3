"""How pruning chooses: methods that make masks, and the hook that applies them."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
]


class BasePruningMethod(ABC):
    """A way to choose what is pruned. Subclasses say so in `compute_mask`, and what they see of a tensor that
    is pruned already: all of it ("global"), the elements left ("unstructured"), or the channels left
    ("structured").

    >>> class Small(taeda.nn.utils.prune.BasePruningMethod):
    ...     def compute_mask(self, t, default_mask):
    ...         return default_mask * (t.abs() > 0.5)
    >>> layer = taeda.nn.Linear(2, 1, bias=False)
    >>> with taeda.no_grad():
    ...     _ = layer.weight.copy_(taeda.tensor([[0.25, 2.0]]))
    >>> _ = Small.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[0., 1.]])
    """

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    @property
    def _computes(self) -> str:
        return self._tensor_name

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask of ones and zeros for importances `t`, on top of `default_mask`."""

    def apply_mask(self, module: Any) -> Tensor:
        """The parameter with its mask. Raises AssertionError if it is not pruned."""
        name = getattr(self, "_tensor_name", None)
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, f"{name}_mask")
        original = getattr(module, f"{name}_orig")
        return mask.to(original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: Any,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prune `module.<name>`, and register the hook. Further arguments make the method."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        before = _hook_of(module, name)
        if before is not None:
            key, hook = before
            del module._forward_pre_hooks[key]
            container = hook if isinstance(hook, PruningContainer) else PruningContainer(hook)
            container.add_pruning_method(method)
            method = container
        original = getattr(module, f"{name}_orig" if before else name)
        default = getattr(module, f"{name}_mask") if before else taeda.ones_like(original)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                "importance_scores should have the same shape as parameter "
                f"{name} of {module}: {tuple(importance_scores.shape)} and {tuple(original.shape)}"
            )
        with taeda.no_grad():
            mask = method.compute_mask(importance_scores.detach(), default_mask=default.detach())
        if before is None:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", original)
        module.register_buffer(f"{name}_mask", mask.detach())
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """A pruned copy of a tensor, without any module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        default = taeda.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default)

    def remove(self, module: Any) -> None:
        """Make the pruned value the parameter. Does not undo the pruning."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        original.data = weight.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


def _hook_of(module: Any, name: str) -> tuple[int, BasePruningMethod] | None:
    for key, hook in module.__dict__.get("_forward_pre_hooks", {}).items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


class PruningContainer(BasePruningMethod):
    """Several methods for one parameter, in the order of their application.

    Args:
        *args: methods for one parameter, or one iterable of them.

    >>> from taeda.nn.utils import prune
    >>> layer = taeda.nn.Linear(4, 2)
    >>> for amount in (2, 1):
    ...     _ = prune.l1_unstructured(layer, "weight", amount)
    >>> (hook,) = layer._forward_pre_hooks.values()
    >>> type(hook).__name__, len(hook), int(layer.weight_mask.sum())
    ('PruningContainer', 2, 5)
    """

    def __init__(self, *args: Any) -> None:
        self._methods: tuple[BasePruningMethod, ...] = ()
        methods = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        for i, method in enumerate(methods):
            if i == 0 and isinstance(method, BasePruningMethod):
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add one for the same parameter. Raises TypeError or ValueError for something else."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._methods += (method,)

    def __len__(self) -> int:
        return len(self._methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The last method's mask, applied to what the ones before left."""
        method, mask = self._methods[-1], default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            part: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = getattr(method, "dim", 0) % t.dim()
            others = [d for d in range(t.dim()) if d != dim]
            left = (mask.sum(others) if others else mask) != 0
            part = (*(slice(None) for _ in range(dim)), left)
        elif method.PRUNING_TYPE == "global":
            part = ...
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = mask.clone()
        mask[part] = method.compute_mask(t[part], default_mask=mask[part]).to(mask.dtype)
        return mask


# ---- methods ----


class Identity(BasePruningMethod):
    """Prunes nothing, and brings the parameter into the pruned form.

    >>> Identity().prune(taeda.ones(2))
    tensor([1., 1.])
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask as it is."""
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> BasePruningMethod:  # type: ignore[override]
        """Add the form to `module.<name>`."""
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    """Prunes a number of elements, or a fraction in [0, 1]."""

    amount: float

    def __init__(self, amount: float) -> None:
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        whole = isinstance(amount, int)
        if (whole and amount < 0) or (not whole and not 0.0 <= amount <= 1.0):
            raise ValueError(
                f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
            )
        self.amount = amount

    def _count(self, size: int) -> int:
        """How many of `size` to prune. Raises ValueError for more than there are."""
        if not isinstance(self.amount, int):
            return round(self.amount * size)
        if self.amount > size:
            raise ValueError(
                f"amount={self.amount} should be smaller than the number of parameters to prune={size}"
            )
        return self.amount

    def _without(self, scores: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without the elements of the lowest scores."""
        count = self._count(scores.numel())
        mask = default_mask.clone()
        if count:
            lowest = scores.reshape(-1).topk(count, largest=False).indices
            mask.view(-1)[lowest] = 0
        return mask


class RandomUnstructured(_Amount):
    """Prunes elements at random.

    Args:
        amount: what is pruned: a float in [0, 1] is a fraction, an int of at least 0 a number.

    >>> RandomUnstructured(0.5).prune(taeda.ones(4)).sum()
    tensor(2.)
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Random elements set to 0."""
        return self._without(taeda.rand(t.shape, device=t.device), default_mask)


class L1Unstructured(_Amount):
    """Prunes the elements of the smallest absolute value.

    Args:
        amount: what is pruned: a float in [0, 1] is a fraction, an int of at least 0 a number.

    >>> L1Unstructured(1).prune(taeda.tensor([3.0, -1.0]))
    tensor([3., -0.])
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The smallest elements set to 0."""
        return self._without(t.abs(), default_mask)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: float, importance_scores: Tensor | None = None
    ) -> BasePruningMethod:
        """Prune `module.<name>`."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(_Amount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _without_channels(self, scores: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without the channels, along `dim`, of the lowest scores."""
        count = self._count(scores.numel())
        keep = taeda.ones_like(scores)
        if count:
            keep[scores.topk(count, largest=False).indices] = 0
        shape = [1] * default_mask.dim()
        shape[self.dim] = -1
        return default_mask * keep.reshape(shape).to(default_mask.dtype)

    def _check(self, t: Tensor) -> None:
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")


class RandomStructured(_Structured):
    """Prunes whole channels at random.

    Args:
        amount: how many channels are pruned: a float in [0, 1] is a fraction, an int of at least 0
            a number.
        dim: the dimension of the channels (-1).

    >>> RandomStructured(1, dim=0).prune(taeda.ones(2, 3)).sum()
    tensor(3.)
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Random channels set to 0."""
        self._check(t)
        return self._without_channels(taeda.rand(t.shape[self.dim], device=t.device), default_mask)


class LnStructured(_Structured):
    """Prunes the channels of the smallest n-norm.

    Args:
        amount: how many channels are pruned: a float in [0, 1] is a fraction, an int of at least 0
            a number.
        n: order of the norm, as `norm` takes it (2, inf, "fro", ...).
        dim: the dimension of the channels (-1).

    >>> LnStructured(1, n=2, dim=0).prune(taeda.tensor([[3.0], [-1.0]]))
    tensor([[3.],
            [-0.]])
    """

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The smallest channels set to 0."""
        self._check(t)
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return self._without_channels(taeda.norm(t, p=self.n, dim=others), default_mask)

    @classmethod
    def apply(  # type: ignore[override]
        cls,
        module: Any,
        name: str,
        amount: float,
        n: Any,
        dim: int,
        importance_scores: Tensor | None = None,
    ) -> BasePruningMethod:
        """Prune `module.<name>`."""
        more = {"amount": amount, "n": n, "dim": dim}
        return super().apply(module, name, importance_scores=importance_scores, **more)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask of one's own.

    Args:
        mask: tensor of the parameter's shape: 1 keeps an element, 0 prunes it.

    >>> CustomFromMask(taeda.tensor([1.0, 0.0])).prune(taeda.ones(2))
    tensor([1., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks together."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"mask has shape {tuple(self.mask.shape)}, the parameter {tuple(default_mask.shape)}"
            )
        return default_mask * self.mask.to(default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Tensor) -> BasePruningMethod:  # type: ignore[override]
        """Prune `module.<name>`."""
        return super().apply(module, name, mask=mask)
