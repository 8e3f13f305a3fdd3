"""What the algorithms share: checks of options, and a step that visits one parameter after another.

An algorithm derives from `Algorithm` and says two things: `_start`, the first state of a parameter,
and `_update`, the formula for one parameter. One with a fused operation adds `_fused_update`, which
takes all parameters of a group in a single call and agrees with `_update` up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar, TypeAlias, cast

import taeda
from taeda import Tensor

from .optimizer import Optimizer

__all__ = [
    "COMMON_OPTIONS",
    "Algorithm",
    "check_betas",
    "check_implementation",
    "check_lr",
    "check_not_negative",
    "count_step",
    "count_steps",
    "evaluate",
    "next_step",
    "number",
    "scalar_dtype",
    "sparse",
    "step_counter",
    "uncount_steps",
]

Group: TypeAlias = dict[str, Any]
State: TypeAlias = dict[str, Any]


# ---- options ----

# options that most algorithms got later than their first release, and what they were before
COMMON_OPTIONS: dict[str, Any] = {
    "foreach": None,
    "maximize": False,
    "differentiable": False,
    "capturable": False,
}


def check_lr(lr: float | Tensor, *, foreach: bool | None = None, capturable: bool = False) -> None:
    """Refuse negative learning rates, and tensors that are no single number."""
    if isinstance(lr, Tensor):
        if foreach and not capturable:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        if lr.numel() != 1:
            raise ValueError(f"Tensor lr must be 1-element, got shape {tuple(lr.shape)}")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}, it must be at least 0")


def check_not_negative(**options: Any) -> None:
    """Refuse negative (or nan) options; their names are how the message calls them."""
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}, it must be at least 0")


def check_betas(betas: Any) -> None:
    """Both decay rates lie in [0, 1)."""
    for i, beta in enumerate((betas[0], betas[1])):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}, it must lie in [0, 1)")


def check_implementation(
    foreach: bool | None, fused: bool | None = None, differentiable: bool = False
) -> None:
    """Refuse implementation flags that exclude one another."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


# ---- small arithmetic ----


def number(value: Any) -> float:
    """A Python number of a number or of a tensor with one element."""
    return value.item() if isinstance(value, Tensor) else value


def scalar_dtype(fused: bool | None = None) -> Any:
    """The dtype of step counts and the like: float64 if that is the default dtype, else float32."""
    if fused or taeda.get_default_dtype() != taeda.float64:
        return taeda.float32
    return taeda.float64


def step_counter(param: Tensor, group: Group) -> Tensor:
    """A step count of 0, beside the parameter if the group asks for capturable or fused steps."""
    fused = group.get("fused")
    beside = group.get("capturable") or fused
    return taeda.zeros((), dtype=scalar_dtype(fused), device=param.device if beside else "cpu")


def count_step(state: State) -> Any:
    """Count one step more, and return the count: nobody asks for its value."""
    step = state["step"]
    if isinstance(step, Tensor):
        step += 1
        return step
    state["step"] = step + 1
    return state["step"]


def next_step(state: State, group: Group) -> Any:
    """Count one step more, and return the count as a number.

    In a capturable group it is a tensor beside the parameter, as is all that is computed from it, so
    that the host never waits; in float64, for means are corrected by small differences.
    """
    step = count_step(state)
    if isinstance(step, Tensor):
        return step.double() if group.get("capturable") else step.item()
    return step


def count_steps(steps: list[Tensor], change: float = 1.0) -> None:
    """Add to all step counts in one call."""
    taeda._flat_number_(steps, change, "add")


def sparse(places: Tensor, values: Tensor, shape: Any) -> Tensor:
    """A sparse tensor with `values` at `places`."""
    library: Any = taeda  # has sparse tensors where there are sparse gradients
    return library.sparse_coo_tensor(places, values, shape)


def evaluate(closure: Callable[[], Any] | None) -> Any:
    """What the closure returns, called with gradients on; None without one."""
    if closure is None:
        return None
    with taeda.enable_grad():
        return closure()


def uncount_steps(steps: list[Tensor], found_inf: Tensor) -> None:
    """Take back a count of all where an infinity was found; on their own device without a wait."""
    if steps and steps[0].device == found_inf.device and found_inf.device.type != "cpu":
        for step in steps:
            step.sub_(found_inf)
    else:
        count_steps(steps, -found_inf.item())


# ---- the step ----

_FUSED_DTYPES = ({taeda.float32}, {taeda.float64})
_CPU, _STRIDED = {taeda.device("cpu")}, {taeda.strided}
_NO_DISPATCH: Any = Tensor.__torch_dispatch__
_dtype, _device, _layout = attrgetter("dtype"), attrgetter("device"), attrgetter("layout")


class Algorithm(Optimizer):
    """An optimizer whose update of a parameter depends on this parameter alone."""

    # options that a state saved by an earlier version may lack
    _later_options: ClassVar[dict[str, Any]] = {}
    _takes_complex_as_pairs = True  # complex numbers are updated as pairs of real ones
    _sparse_advice = ""  # what to say about sparse gradients, besides that they are refused

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; return what `closure` returned, or None.

        A closure evaluates the loss anew: it clears the gradients, computes the loss, calls
        backward and returns the loss.
        """
        with taeda.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            loss = evaluate(closure)
            for group in self.param_groups:
                self._step_group(group)
        return loss

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._later_options.items():
                group.setdefault(name, value)
        for entry in self.state.values():
            if isinstance(entry, dict) and isinstance(entry.get("step"), (int, float)):
                entry["step"] = taeda.tensor(float(entry["step"]), dtype=scalar_dtype())

    # for algorithms

    def _start(self, param: Tensor, group: Group) -> State:
        """The state of a parameter that was never stepped."""
        raise NotImplementedError

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Step one parameter: the formula itself, in place."""
        raise NotImplementedError

    def _update_sparse(self, param: Tensor, grad: Any, state: State, group: Group) -> None:
        """Step one parameter with a sparse gradient."""
        name = type(self).__name__
        raise RuntimeError(f"{name} does not support sparse gradients{self._sparse_advice}")

    def _fused_update(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> bool:
        """Step all parameters in one call; False if there is no such call for them."""
        return False

    # the machinery

    def _step_group(self, group: Group) -> None:
        params = [p for p in group["params"] if p.grad is not None]
        if not params:
            return
        grads = [p.grad for p in params]
        known = self.state.get
        states: list[Any] = [known(param) for param in params]
        if not all(states):
            states = [self._state_of(param, group) for param in params]
        if group.get("capturable"):
            _check_capturable(params)
        if _may_fuse(group) and self._fuse(params, grads, states, group):
            return
        if self._saw_infinity():
            return
        scale = getattr(self, "grad_scale", None)
        for param, grad, state in zip(params, grads, states, strict=True):
            self._step_one(param, grad if scale is None else grad / scale, state, group)

    def _state_of(self, param: Tensor, group: Group) -> State:
        state = self.state.get(param)
        if not state:
            state = self._start(param, group)
            if state:  # a parameter without any state has no entry either
                self.state[param] = state
        return cast(State, state)

    def _fuse(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> bool:
        if _any_dispatches({*map(type, params), *map(type, grads)}) and not (
            group.get("fused") and {*map(_layout, grads)} == _STRIDED
        ):
            return False  # their classes know the operators of the plain formula, and their layouts
        if not _all_plain(params, grads):
            return False
        return self._fused_update(params, grads, states, group)

    def _saw_infinity(self) -> bool:
        """Whether a gradient scaler found that this step must be left out."""
        found_inf = getattr(self, "found_inf", None)
        return found_inf is not None and bool(found_inf.item())

    def _step_one(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        if grad.layout not in _STRIDED:
            self._update_sparse(param, -grad if group.get("maximize") else grad, state, group)
            return
        if group.get("maximize"):
            grad = -grad
        if group.get("differentiable"):  # earlier steps of the graph keep what they saved
            state.update({k: v.clone() for k, v in state.items() if isinstance(v, Tensor)})
        if self._takes_complex_as_pairs and param.is_complex():
            param, grad = taeda.view_as_real(param), taeda.view_as_real(grad)
            state = _as_pairs(state)
        self._update(param, grad, state, group)


class _as_pairs(dict[str, Any]):
    """A state with real views of its complex tensors, which are updated in place."""

    def __init__(self, state: State) -> None:
        super().__init__(
            (k, taeda.view_as_real(v) if isinstance(v, Tensor) and v.is_complex() else v)
            for k, v in state.items()
        )


def _may_fuse(group: Group) -> bool:
    """Whether no option of the group asks for the plain formula."""
    if group.get("differentiable"):
        return False
    fused, foreach = group.get("fused"), group.get("foreach")
    return bool(fused or foreach or (fused is None and foreach is None))


def _all_plain(params: list[Tensor], grads: list[Tensor]) -> bool:
    """Whether these are tensors of one native dtype on one device that has fused steps."""
    dtypes = {*map(_dtype, params)}
    if dtypes not in _FUSED_DTYPES or {*map(_dtype, grads)} != dtypes:
        return False
    if {*map(_layout, grads)} != _STRIDED:
        return False
    devices = {*map(_device, params)}
    return devices == _CPU or (len(devices) == 1 and next(iter(devices)).type == "cuda")


def _any_dispatches(kinds: set[type]) -> bool:
    """Whether one of these classes of tensors computes by a `__torch_dispatch__` of its own."""
    kind: Any
    for kind in kinds:  # noqa: SIM110 - every step asks, and a generator costs as much as the rest
        if kind is not Tensor and kind.__torch_dispatch__ is not _NO_DISPATCH:
            return True
    return False


def _check_capturable(params: list[Tensor]) -> None:
    for param in params:
        if param.device.type != "cuda":
            raise AssertionError(
                "If capturable=True, params and state_steps must be on supported devices: "
                f"['cuda'], got {param.device}"
            )
