"""The base of every optimizer: parameter groups and their options. Knows no formula."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, cast

from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.foreign import named

from ._hooks import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from ._saving import Group, Saved, StateDict

__all__ = [
    "Optimizer",
    "ParamsT",
    "StateDict",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _Required:
    """Marks an option that every group must give; see `required`."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer(Saved):
    """Holds parameters in groups, each with its options, and the state of every parameter.

    `params` is an iterable of tensors, of `(name, tensor)` pairs, or of dicts with the key
    "params" and options of their own; `defaults` are the options of groups that do not say. A
    subclass defines `step`, which may take a closure that evaluates the loss again.

    Args:
        params: the tensors to optimise, in one of these forms; not empty.
        defaults: options by name.

    >>> class Plain(taeda.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...     @taeda.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p -= group["lr"] * p.grad
    >>> x = taeda.ones(1, requires_grad=True)
    >>> x.square().sum().backward()
    >>> Plain([x], lr=0.1).step()
    >>> x
    tensor([0.8000], requires_grad=True)
    """

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._make_hook_tables()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {params.type()}: put the tensor into a list"
            )
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(cast(Group, group))

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [""] * (i > 0)
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    # ---- groups ----

    def add_param_group(self, param_group: Group) -> None:
        """Add a group: a dict with "params" and the options in which it differs from the defaults.

        Refuses sets, tensors that have a history (only leaves can be stepped), parameters that
        another group holds already, and names for some parameters but not for others.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params, names = _split_names(_as_list(param_group["params"]))
        for param in params:
            self._check_param(param)
        self._check_names(names)
        for name, value in self.defaults.items():
            if value is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization "
                    f"parameter {name}"
                )
        self._check_disjoint(params)
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        self.param_groups.append(param_group)

    def _check_param(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(
                "optimizer can only optimize Tensors, but one of the params is " + named(param)
            )
        if self.defaults.get("differentiable"):
            return
        if not (param.is_leaf or param.retains_grad):
            raise ValueError(
                f"can't optimize a non-leaf Tensor: one of shape {tuple(param.shape)} was computed "
                "from others; give the leaves it was computed from, or detach it"
            )

    def _check_names(self, names: list[str]) -> None:
        if not self.param_groups:
            return
        named = "param_names" in self.param_groups[0]
        if named != bool(names):
            have = "without" if named else "with"
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{have} names to the optimizer"
            )

    def _check_disjoint(self, params: list[Tensor]) -> None:
        ids = {id(p) for p in params}
        if len(ids) != len(params):
            warn(
                "optimizer contains a parameter group with duplicate parameters; each of them "
                "is stepped once for every time it is listed",
            )
        for group in self.param_groups:
            if not ids.isdisjoint(map(id, group["params"])):
                raise ValueError("some parameters appear in more than one parameter group")

    # ---- gradients and steps ----

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or with `set_to_none=False` fill them with 0."""
        for group in self.param_groups:
            if set_to_none:
                for param in group["params"]:
                    param.grad = None
                continue
            for param in group["params"]:
                if param.grad is not None:
                    _clear(param.grad)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once, and return what `closure` returned. For subclasses."""
        raise NotImplementedError(f"{type(self).__name__} defines no step()")


def _as_list(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, (set, frozenset)):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering "
            "of tensors in sets will change between runs. Please use a list instead."
        )
    return list(params)


def _split_names(params: list[Any]) -> tuple[list[Any], list[str]]:
    """Parameters and names of a list of either tensors or (name, tensor) pairs."""
    named = [isinstance(p, tuple) for p in params]
    if not any(named):
        return params, []
    if not all(named):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    return [p for _, p in params], [name for name, _ in params]


def _clear(grad: Tensor) -> None:
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()
