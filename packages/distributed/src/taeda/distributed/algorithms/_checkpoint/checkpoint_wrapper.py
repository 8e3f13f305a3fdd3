"""A module around another one: its activations are computed again in backward, or kept in the host's memory.

`state_dict`, names of parameters and attributes are those of the module inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any

from taeda import nn
from taeda.autograd.graph import save_on_cpu
from taeda.utils.checkpoint import checkpoint

__all__ = [
    "ActivationWrapper", "CheckpointImpl", "CheckpointWrapper", "OffloadWrapper",
    "apply_activation_checkpointing", "checkpoint_wrapper", "offload_wrapper",
]  # fmt: skip

_INSIDE = "_checkpoint_wrapped_module"
_PREFIX = f"{_INSIDE}."


class CheckpointImpl(Enum):
    """How `checkpoint` computes again: by a second backward (reentrant), or by saved tensors' hooks."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(nn.Module):
    """What both wrappers share: names and attributes are those of the module inside."""

    def __init__(self, mod: nn.Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(_without_prefix)
        self.register_load_state_dict_pre_hook(_with_prefix)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What a subclass does."""
        raise ValueError("Subclasses should implement forward().")

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__(_INSIDE), name)

    def __getitem__(self, key: int) -> Any:
        """An entry of a container inside."""
        return self._checkpoint_wrapped_module[key]  # type: ignore[index] # a container

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, nn.Parameter]]:
        """Parameters by their names in the module inside."""
        for name, param in super().named_parameters(*args, **kwargs):
            yield name.replace(_PREFIX, ""), param


def _without_prefix(module: nn.Module, state: dict[str, Any], prefix: str, *args: Any) -> None:
    for key in [key for key in state if key.startswith(f"{prefix}{_PREFIX}")]:
        state[prefix + key[len(prefix) + len(_PREFIX) :]] = state.pop(key)


def _with_prefix(module: nn.Module, state: dict[str, Any], prefix: str, *args: Any) -> None:
    for key in [key for key in state if key.startswith(prefix)]:
        if not key.startswith(f"{prefix}{_PREFIX}"):
            state[f"{prefix}{_PREFIX}{key[len(prefix) :]}"] = state.pop(key)


class CheckpointWrapper(ActivationWrapper):
    """A module whose activations are computed again in backward.

    Args:
        mod: the module inside.
        checkpoint_impl: how; `NO_REENTRANT` allows keyword arguments, `autograd.grad` and nested
            checkpoints.
        checkpoint_fn: called as checkpoint_fn(module, *args, **kwargs) instead of
            `utils.checkpoint.checkpoint`.
        checkpoint_fn_kwargs: more arguments of that function.
    """

    def __init__(
        self,
        mod: nn.Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., Any] | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        self._function, self._options = checkpoint_fn or checkpoint, dict(checkpoint_fn_kwargs)
        if checkpoint_fn is None:
            self._options["use_reentrant"] = checkpoint_impl is CheckpointImpl.REENTRANT

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module inside gives."""
        inside = self._checkpoint_wrapped_module
        if kwargs and self._options.get("use_reentrant"):
            names = list(kwargs)

            def by_position(*given: Any) -> Any:
                count = len(given) - len(names)
                return inside(*given[:count], **dict(zip(names, given[count:], strict=True)))

            return self._function(by_position, *args, *kwargs.values(), **self._options)
        return self._function(inside, *args, **self._options, **kwargs)


class OffloadWrapper(ActivationWrapper):
    """A module whose saved tensors stay in the host's memory until backward, in pinned pages."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module inside gives."""
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


def checkpoint_wrapper(
    module: nn.Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None,
    **checkpoint_fn_kwargs: Any,
) -> nn.Module:
    """`module` in a CheckpointWrapper with these arguments.

    >>> import taeda
    >>> layer = checkpoint_wrapper(taeda.nn.Linear(2, 2))
    >>> list(layer.state_dict())
    ['weight', 'bias']
    """
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def offload_wrapper(module: nn.Module) -> nn.Module:
    """`module` in an OffloadWrapper."""
    return OffloadWrapper(module)


def apply_activation_checkpointing(
    model: nn.Module,
    checkpoint_wrapper_fn: Callable[[nn.Module], nn.Module] = checkpoint_wrapper,
    check_fn: Callable[[nn.Module], bool] = lambda _: True,
    auto_wrap_policy: Callable[..., Any] | None = None,
) -> None:
    """Wrap the submodules of `model` for which `check_fn` says True, innermost first, in place.

    NotImplementedError for an `auto_wrap_policy`: say it by `check_fn`. `model` itself stays as it is.
    """
    if auto_wrap_policy is not None:
        raise NotImplementedError(
            "apply_activation_checkpointing: auto_wrap_policy is not supported; name the modules by check_fn"
        )
    for name, child in list(model.named_children()):
        apply_activation_checkpointing(child, checkpoint_wrapper_fn, check_fn)
        if check_fn(child):
            setattr(model, name, checkpoint_wrapper_fn(child))
