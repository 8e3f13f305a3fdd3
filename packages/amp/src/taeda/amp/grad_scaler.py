"""Loss scaling: gradients of a scaled loss are scaled too, so small ones survive float16; the scale
follows what overflows.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn

__all__ = ["GradScaler", "OptState"]

_COMPRESSED = (taeda.sparse_csr, taeda.sparse_csc, taeda.sparse_bsr, taeda.sparse_bsc)


class OptState(enum.Enum):
    """Where an optimizer is between two updates of the scale.

    >>> [state.name for state in taeda.amp.grad_scaler.OptState]
    ['READY', 'UNSCALED', 'STEPPED']
    """

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Progress:
    """What is known of one optimizer since the last update."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer  # held, so that its id stays its own
        self.stage = OptState.READY
        self.found: list[Tensor] = []  # from each device of gradients: 1.0 if one overflowed

    def found_on_one_device(self) -> Tensor | None:
        """The answer, unread; None if several devices gave one, or the cpu, where it is no wait."""
        one = self.found[0] if len(self.found) == 1 else None
        return one if one is not None and not one.is_cpu else None


class GradScaler:
    """Scales losses, takes the scale off gradients, and leaves out steps whose gradients overflowed.

    scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()

    `update` multiplies the scale by `backoff_factor` after an overflow, and by `growth_factor`
    after `growth_interval` steps in a row without. With `enabled=False` everything passes through.
    `device` is "cpu" or "cuda"; for one that is not available it warns and is disabled.
    AssertionError for a growth factor of at most 1 or a backoff factor of at least 1.

    Args:
        device: "cuda" (default) or "cpu".
        init_scale: the first scale (65536).
        growth_factor: factor after good steps, above 1 (2).
        backoff_factor: factor after an overflow, below 1 (0.5).
        growth_interval: good steps in a row before the scale grows (2000).
        enabled: whether anything is done (True).

    >>> scaler = GradScaler("cpu", init_scale=8.0)
    >>> w = taeda.ones(1, requires_grad=True)
    >>> scaler.scale(w * 2).backward()
    >>> w.grad
    tensor([16.])
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = bool(enabled) and _there(device)
        if not self._enabled:
            return
        if not growth_factor > 1.0:
            raise AssertionError(f"The growth factor must be > 1.0, got {growth_factor}")
        if not backoff_factor < 1.0:
            raise AssertionError(f"The backoff factor must be < 1.0, got {backoff_factor}")
        self._init_scale = init_scale
        self._scale: Tensor | None = None  # on the device of the first loss, from then on
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._good_steps = growth_interval, 0
        self._growth_tracker: Tensor | None = None  # good steps, beside the scale
        self._progress: dict[int, _Progress] = {}

    # ---- the loss ----

    def scale(self, outputs: Any) -> Any:
        """A tensor times the scale, or all tensors of an iterable. ValueError for anything else."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._started(outputs.device).to(outputs.device)
        if isinstance(outputs, Iterable):
            scaled = [self.scale(entry) for entry in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else iter(scaled)
        raise ValueError(
            f"outputs must be a Tensor or an iterable of Tensors, got {type(outputs).__name__}"
        )

    def _started(self, device: taeda.device) -> Tensor:
        if self._scale is None:
            self._scale = taeda.full((), self._init_scale, dtype=taeda.float32, device=device)
            self._growth_tracker = taeda.full(
                (), self._good_steps, dtype=taeda.int32, device=device
            )
        return self._scale

    def _lazy_init_scale_growth_tracker(self, dev: taeda.device) -> None:
        """What libraries call to have the scale before the first loss."""
        self._started(dev)

    def _checked(self, wants: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {wants} but _scale is None. This may indicate your script did not use "
                "scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )
        return self._scale

    # ---- the gradients ----

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, once between two updates,
        and look for overflow.

        RuntimeError the second time and after `step`; ValueError for float16 gradients, which have
        no room for it.
        """
        if not self._enabled:
            return
        scale, progress = self._checked("unscale_"), self._of(optimizer)
        if progress.stage is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if progress.stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._unscale(optimizer, scale, progress)
        progress.stage = OptState.UNSCALED

    @staticmethod
    def _unscale(optimizer: Any, scale: Tensor, progress: _Progress) -> None:
        inverse = scale.double().reciprocal().float()
        with taeda.no_grad():
            for device, gradients in _gradients(optimizer).items():
                finite = [_numbers(gradient).isfinite().all() for gradient in gradients]
                progress.found.append(taeda.stack(finite).all().logical_not().float())
                by = inverse.to(device)
                for gradient in gradients:
                    gradient.mul_(by)

    def _of(self, optimizer: Any) -> _Progress:
        return self._progress.setdefault(id(optimizer), _Progress(optimizer))

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step(*args)` with gradients unscaled, and what it returns; None where a
        gradient overflowed: no step then.

        Waits once for a device, to learn of an overflow; not at all for an optimizer with
        `fused=True`, whose kernels read it, and whose `step` then returns whatever happened.
        RuntimeError for a closure and for a second step before `update`; AssertionError before the
        first `scale`, and if no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._checked("step")
        progress = self._of(optimizer)
        if progress.stage is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if progress.stage is OptState.READY:
            self.unscale_(optimizer)
        if not progress.found:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        unread = progress.found_on_one_device()
        if unread is not None and getattr(optimizer, "_step_supports_amp_scaling", False):
            result = _step_unread(optimizer, unread, args, kwargs)
        else:
            overflowed = any(bool(found) for found in progress.found)
            result = None if overflowed else optimizer.step(*args, **kwargs)
        progress.stage = OptState.STEPPED
        return result

    # ---- the scale ----

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapt the scale to what the steps since the last update met, or set it.

        AssertionError if there was no loss, or nothing was checked.
        """
        if not self._enabled:
            return
        scale = self._checked("update")
        if new_scale is not None:
            scale.fill_(_number(new_scale))
        else:
            self._adapt(scale)
        self._progress.clear()

    def _adapt(self, scale: Tensor) -> None:
        """By the rule of the class's text; read nowhere, so nothing waits for a device."""
        found = [one.to(scale.device) for p in self._progress.values() for one in p.found]
        if not found:
            raise AssertionError("No inf checks were recorded prior to update.")
        steps = self._growth_tracker
        assert steps is not None
        overflowed, good = taeda.stack(found).any(), steps + 1
        full = good == self._growth_interval
        grown = scale * self._growth_factor
        kept = taeda.where(full & grown.isfinite(), grown, scale)
        scale.copy_(taeda.where(overflowed, scale * self._backoff_factor, kept))
        steps.copy_(good.masked_fill(overflowed | full, 0))

    def get_scale(self) -> float:
        """The scale in use; 1 if disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Choose what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Choose what the scale shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Steps without overflow before the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Choose how many steps without overflow make the scale grow."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether anything is scaled."""
        return self._enabled

    # ---- keeping it ----

    def state_dict(self) -> dict[str, Any]:
        """Scale, factors and count, for a checkpoint; empty if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._steps(),
        }

    def _steps(self) -> int:
        """Good steps since the scale changed."""
        return self._good_steps if self._growth_tracker is None else int(self._growth_tracker)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a `state_dict`. RuntimeError for an empty one, which a disabled scaler gives."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._good_steps = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(self._good_steps)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._progress:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, "
                    "or at the end after scaler.update()."
                )
            state.update(_init_scale=self.get_scale(), _scale=None)
            state.update(_good_steps=self._steps(), _growth_tracker=None)
        return state


def _there(device: str) -> bool:
    kind = str(device).partition(":")[0]
    if kind == "cpu" or (kind == "cuda" and taeda.cuda.is_available()):
        return True
    warn(f"GradScaler is enabled for '{device}', but that is not available. Disabling.")
    return False


def _number(new_scale: float | Tensor) -> float:
    if isinstance(new_scale, float):
        return new_scale
    if not isinstance(new_scale, Tensor) or new_scale.numel() != 1 or new_scale.requires_grad:
        raise AssertionError(
            f"new_scale should be a float or a 1-element tensor with requires_grad=False, got {new_scale!r}"
        )
    return new_scale.item()


def _step_unread(optimizer: Any, found: Tensor, args: Any, kwargs: Any) -> Any:
    """A step whose kernels leave everything as it is where `found` is 1."""
    optimizer.found_inf, optimizer.grad_scale = found, None  # they were divided already
    try:
        return optimizer.step(*args, **kwargs)
    finally:
        del optimizer.found_inf, optimizer.grad_scale


def _numbers(gradient: Tensor) -> Tensor:
    """The numbers that a gradient stores, strided: the values of a sparse one, whose repeated places
    are added up after the scale is gone.
    """
    if gradient.layout is taeda.sparse_coo:
        return gradient._values()
    return gradient.values() if gradient.layout in _COMPRESSED else gradient


def _gradients(optimizer: Any) -> dict[taeda.device, list[Tensor]]:
    """Those of each device. ValueError for float16 ones."""
    found: dict[taeda.device, list[Tensor]] = defaultdict(list)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            gradient = parameter.grad
            if gradient is None:
                continue
            if gradient.dtype is taeda.float16:
                raise ValueError(
                    "Attempting to unscale FP16 gradients: keep the parameters in float32 and "
                    "let autocast cast them"
                )
            found[gradient.device].append(gradient)
    return found
