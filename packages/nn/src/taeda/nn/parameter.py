"""Parameter and Buffer, the tensors a module owns, and their forms without a shape for lazy modules."""

from __future__ import annotations

from collections import OrderedDict
from types import MethodWrapperType
from typing import Any, ClassVar

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.calls import disabled_torch_function
from taeda._core_api.doors import exact
from taeda._core_api.foreign import refuse

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class _ParameterMeta(type):
    """Also counts tensors of other classes that were marked as parameters."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        marked = cls is Parameter and isinstance(instance, Tensor)
        return marked and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a module trains: assigned to an attribute, it appears in `Module.parameters()`.

    It shares the memory of `data` and is a leaf. What is computed from it is a plain Tensor. Data of a
    tensor subclass stays of that subclass and is only marked.

    Args:
        data: the values (None: an empty tensor).
        requires_grad: whether it is trained (True).

    >>> Parameter(taeda.zeros(2)).requires_grad
    True
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = taeda.empty(0)
        refuse(cls, (data,))
        if type(data) is Tensor or isinstance(data, cls):
            return Tensor._make_subclass(cls, data, requires_grad)
        marked = data.detach().requires_grad_(requires_grad)
        if type(marked) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that "
                f"detach() returns an instance of the same type, but return type {type(marked).__name__} "
                "was found instead. To use the type as a Parameter, correct the detach() semantics."
            )
        made: Any = marked
        made._is_param = True
        return made

    # what is computed from a parameter, or from one of a subclass, is a plain tensor
    __torch_function__ = staticmethod(disabled_torch_function)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            data = self.data.clone(memory_format=taeda.preserve_format)
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]

    def __repr__(self, *args: Any, **kwargs: Any) -> str:
        return "Parameter containing:\n" + super().__repr__(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _rebuild_parameter, (self.data, self.requires_grad, OrderedDict(), self.__dict__)


def _rebuild_parameter(
    data: Tensor, requires_grad: bool, backward_hooks: Any, state: dict[str, Any] | None = None
) -> Parameter:
    """Parameter of a pickle."""
    made = Parameter(data, requires_grad)
    made.__dict__.update(state or {})
    return made


core.register_parameter_type(Parameter)  # operations treat it as a plain tensor


# ---- without a shape ----


exact.add(Parameter)


class UninitializedTensorMixin:
    """What waits for its shape: has a dtype and a device, refuses every operation, and can be made real."""

    cls_to_become: ClassVar[Any] = None
    _kwargs: dict[str, Any]

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter or buffer of `shape`, in place, with arbitrary values."""
        mine: Any = self  # a Tensor, which this is mixed into
        data = mine.data
        mine.data = taeda.empty(shape, device=device or data.device, dtype=dtype or data.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Raises RuntimeError: there is none yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens "
            "in `load_state_dict` when trying to load an uninitialized parameter into an initialized one. "
            "Call `forward` to initialize the parameters before accessing their attributes."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def _arguments(self) -> tuple[Any, ...]:
        """What another one of the same kind is made from."""
        mine: Any = self
        return mine.requires_grad, mine.data.device, mine.data.dtype

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), self._arguments()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(*self._arguments())
        return memo[id(self)]

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        attribute = isinstance(func, MethodWrapperType)  # Tensor.<name>.__get__ or __set__
        if attribute or getattr(func, "__name__", "") in _METHODS:
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are "
            "using a `LazyModule` or explicitly manipulating "
            f"`taeda.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` with a "
            "dummy batch to initialize the parameters before calling taeda functions"
        )


_METHODS = frozenset(
    {"half", "float", "double", "char", "short", "int", "long", "bool", "bfloat16", "cuda", "cpu", "to",
     "get_device", "_has_compatible_shallow_copy_type", "requires_grad_", "detach", "detach_",
     "empty_like", "is_floating_point", "is_complex", "_to_copy"}
)  # fmt: skip


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[override]  # no shape
    """A Parameter whose shape the first forward of a lazy module will tell.

    Args:
        requires_grad: whether it will be trained (True).
        device: where it will be made (None: the default device).
        dtype: its floating-point dtype (None: the default dtype).

    >>> weight = UninitializedParameter()
    >>> weight.materialize((2, 3))
    >>> weight.shape
    taeda.Size([2, 3])
    """

    cls_to_become = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> UninitializedParameter:
        data = taeda.empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to do: `__new__` did it."""


class _BufferMeta(type):
    """A Buffer is any tensor that was marked as one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        marked = cls is Buffer and isinstance(instance, Tensor)
        return marked and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that, assigned to an attribute of a module, is kept and moved but not trained.

    The result is a tensor of the class of `data`, marked. One that is not `persistent` stays out of
    the state dict.

    Args:
        data: the values (None: an empty tensor).
        persistent: whether it belongs to the state dict (True).

    >>> Buffer(taeda.zeros(2)).requires_grad
    False
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = taeda.empty(0)
        made: Any = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[override]  # no shape
    """A buffer whose shape the first forward of a lazy module will tell.

    Args:
        requires_grad: whether it takes gradients (False).
        device: where it will be made (None: the default device).
        dtype: its dtype (None: the default dtype).
        persistent: whether it belongs to the state dict (True).

    >>> mean = UninitializedBuffer()
    >>> mean.materialize((3,))
    >>> mean.shape
    taeda.Size([3])
    """

    cls_to_become = Tensor
    persistent: bool

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        data = taeda.empty(0, device=device, dtype=dtype)
        made: Any = Tensor._make_subclass(cls, data, requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to do: `__new__` did it."""

    def _arguments(self) -> tuple[Any, ...]:
        return *super()._arguments(), self.persistent


def is_lazy(param: Any) -> bool:
    """Does the tensor still wait for its shape?

    Args:
        param: a tensor.

    >>> is_lazy(UninitializedParameter())
    True
    """
    return isinstance(param, UninitializedTensorMixin)
