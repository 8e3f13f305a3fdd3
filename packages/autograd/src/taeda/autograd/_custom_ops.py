"""The graph of an operator whose derivative is a pair of Python functions (`library.register_autograd`).

The core calls `record` after the kernel, with the rule that was registered, the arguments and the
results. What follows is the way of a custom Function: one context, one node; lists of tensors among
arguments and results are spread over edges and outputs.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import call_user

from .function import FunctionCtx, _set_graph

__all__ = ["record"]


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value)


def _flat(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(leaf for v in values for leaf in (v if _is_list(v) else (v,)))


def _like(structure: tuple[Any, ...], leaves: tuple[Any, ...]) -> tuple[Any, ...]:
    """`leaves` in the shape of `structure`: a list where that holds a list of tensors."""
    rest = iter(leaves)
    return tuple([next(rest) for _ in v] if _is_list(v) else next(rest) for v in structure)


class _OpCtx(FunctionCtx):
    """The context of one call."""

    def __init__(self, rule: Any, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        super().__init__()
        self._rule = rule
        if not rule.has_lists:
            self._lengths: list[int | None] = [None] * len(inputs)
            self._results: tuple[Any, ...] = (None,) * len(outputs)
            self.needs_input_grad = tuple(
                [isinstance(v, Tensor) and v.requires_grad for v in inputs]
            )
            return
        self._lengths = [len(v) if _is_list(v) else None for v in inputs]
        self._results = tuple([None] * len(v) if _is_list(v) else None for v in outputs)
        needs = tuple(isinstance(v, Tensor) and v.requires_grad for v in _flat(inputs))
        self.needs_input_grad = _like(inputs, needs)

    def _name(self) -> str:
        name: str = self._rule.node_name
        return name

    def _run_backward(self, *gradients: Any) -> tuple[Any, ...]:
        if self._materialize:
            gradients = tuple(self._zeros(i) if g is None else g for i, g in enumerate(gradients))
        rest = iter(gradients)
        shaped = [
            [next(rest) for _ in r] if isinstance(r, list) else next(rest) for r in self._results
        ]
        made = call_user(None, self._rule.backward, self, *shaped)
        return self._spread(made if isinstance(made, tuple) else (made,))

    def _spread(self, made: tuple[Any, ...]) -> tuple[Any, ...]:
        """One gradient per edge of what the backward function returned, one per argument."""
        wanted = len(self._lengths)
        if len(made) < wanted or any(extra is not None for extra in made[wanted:]):
            raise RuntimeError(
                f"{self._name()}: the backward function returned an incorrect number of gradients "
                f"(expected {wanted}, one for "
                f"each positional argument, got {len(made)})"
            )
        flat: list[Any] = []
        for gradient, length in zip(made, self._lengths, strict=False):
            flat += [gradient] if length is None else self._listed(gradient, length)
        return tuple(map(self._checked, flat))

    def _checked(self, gradient: Any) -> Any:
        if gradient is None or isinstance(gradient, Tensor):
            return gradient
        raise RuntimeError(
            f"{self._name()}: the backward function returned a {type(gradient).__name__} as a "
            "gradient, wanted Tensor or None"
        )

    def _listed(self, gradient: Any, length: int) -> list[Any]:
        if gradient is None:
            return [None] * length
        if not isinstance(gradient, (list, tuple)) or len(gradient) != length:
            raise RuntimeError(
                f"{self._name()}: the gradient of a list of {length} tensors is a list as long, "
                f"got {gradient!r}"
            )
        return list(gradient)


def record(rule: Any, args: tuple[Any, ...], results: tuple[Any, ...]) -> None:
    """Note a call whose inputs require grad: run the rule's `setup_context`, and set the history of
    the results.
    """
    count = rule.positional
    inputs, keywords = args[:count], dict(zip(rule.keywords, args[count:], strict=True))
    ctx = _OpCtx(rule, inputs, results)
    if rule.setup_context is not None:
        output = results[0] if len(results) == 1 else results
        with _core.Switches(grad=False):
            if keywords:
                call_user(
                    None,
                    rule.setup_context,
                    ctx=ctx,
                    inputs=inputs,
                    keyword_only_inputs=keywords,
                    output=output,
                )
            else:
                call_user(None, rule.setup_context, ctx=ctx, inputs=inputs, output=output)
    if rule.has_lists:
        inputs, results = _flat(inputs), _flat(results)
    _set_graph(ctx, inputs, results, results)
