"""`backward` and `grad`: check what was asked, then let the engine walk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import FUNCTION_MODE, TRANSFORM
from taeda._core_api.doors import call_others, is_for_others
from taeda._core_api.layouts import check_source

from . import _function_maps

__all__ = ["backward", "grad"]

Tensors: TypeAlias = Tensor | Sequence[Any]
"""A tensor, a GradientEdge (a tuple itself), or several of them."""


def _tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Tensor) or _is_edge(value) or hasattr(type(value), "__torch_function__"):
        return (value,)
    return tuple(value)


def _kept(value: Any) -> Any:
    """The value, of a generator a tuple: it is read more than once."""
    if value is None or isinstance(value, (Tensor, tuple, list)):
        return value  # told without the question of an abstract class, which takes a microsecond
    return tuple(value) if isinstance(value, Iterator) else value


def _is_edge(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], _core.Node)


def _behind(edge: Any) -> Tensor:
    """A tensor with the shape, dtype and device of the one that a GradientEdge stands for."""
    shape, dtype, device = edge[0]._output_facts(edge[1])
    return taeda.empty((), dtype=dtype, device=device).expand(shape)


def _root_gradient(root: Tensor, gradient: Tensor | None) -> Tensor:
    """The gradient to start from: ones for a scalar, else the given one, checked against the root."""
    if gradient is None:
        if root.numel() != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs, this one has shape "
                f"{list(root.shape)}: "
                "pass gradient= of that shape, or reduce it with sum() or mean()"
            )
        if root.is_complex():
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got a complex one"
            )
        return taeda.ones_like(root)
    if not isinstance(gradient, Tensor):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
        )
    if _shape(gradient) != _shape(root):
        raise RuntimeError(
            f"Mismatch in shape: grad_output has a shape of {_shape(gradient)} and output has a "
            f"shape of {_shape(root)}."
        )
    if gradient.is_complex() and not root.is_complex():
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype: "
            f"the output is {root.dtype}, its gradient {gradient.dtype}"
        )
    return gradient if gradient.dtype is root.dtype else gradient.to(root.dtype)


def _shape(x: Tensor) -> Any:
    """The shape; of a batch of tensors that differ in every size, which has none, that of each."""
    shapes = getattr(_core.parts_of(x), "shapes", None)
    return x.shape if shapes is None else shapes()


def _roots(tensors: Tensors, gradients: Any) -> tuple[tuple[Any, ...], tuple[Tensor, ...]]:
    """The roots as a tuple, and the gradient that each starts from."""
    roots = _tuple(tensors)
    given = _for_each(roots, gradients)
    made = []
    for number, root in enumerate(roots):
        if isinstance(root, tuple):
            if not _is_edge(root):
                raise TypeError(
                    f"element {number} of tensors is a tuple; wanted a tensor or a GradientEdge"
                )
            root = _behind(root)
        elif not root.requires_grad:
            raise RuntimeError(
                f"element {number} of tensors does not require grad and does not have a grad_fn: "
                "nothing that requires grad led to it, or it was computed under no_grad() or detach()ed"
            )
        elif (parts := _core.parts_of(root)) is not None:
            check_source(root, parts)  # its memory may have been written into since
        made.append(_root_gradient(root, given[number]))
    return roots, tuple(made)


def _for_each(roots: tuple[Any, ...], gradients: Any) -> tuple[Any, ...]:
    """For each root, the gradient that the caller gave, or None."""
    if gradients is None:
        return (None,) * len(roots)
    given = (gradients,) if isinstance(gradients, Tensor) else tuple(gradients)
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    return given


def _walk(*given: Any) -> Any:
    """The engine. What it meets has no samples, also inside of a map: `refuse_samples` saw to it."""
    with _function_maps.all_apart():
        return _core.run_backward(*given)


def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` with respect to the leaves (or `inputs`) into their `.grad`.

    grad_tensors: one per tensor; may be None for scalars (then 1). retain_graph defaults to create_graph.
    RuntimeError for roots that need no gradient, for shape mismatches, and for a graph that was freed.

    Args:
        tensors: a tensor, or several, to differentiate.
        grad_tensors: their gradients, of their shapes (None: 1 for a scalar).
        retain_graph: whether the graph stays usable for another walk (None: as `create_graph`).
        create_graph: whether the walk is recorded, so that gradients can be differentiated (False).
        grad_variables: older name of `grad_tensors` (None: not given).
        inputs: tensors whose `.grad` is filled (None: all leaves).

    >>> x = taeda.tensor(3.0, requires_grad=True)
    >>> backward(x * x)
    >>> x.grad
    tensor(6.)
    """
    if type(tensors) is not Tensor or inputs is not None or _core.get_layers() & FUNCTION_MODE:
        tensors, inputs = _kept(tensors), _kept(inputs)
        given = (*_tuple(tensors), *(() if inputs is None else _tuple(inputs)))
        if is_for_others(given):
            call_others(backward, given)
            return
    wanted = None
    if _core.get_layers() & TRANSFORM:
        _function_maps.refuse_samples((tensors, grad_tensors, grad_variables, inputs))
    if inputs is not None:
        wanted = _tuple(inputs)
        if not wanted:
            raise RuntimeError("`inputs` argument to `backward` cannot be empty.")
        _check_inputs(wanted)
    roots, gradients = _roots(tensors, grad_tensors if grad_variables is None else grad_variables)
    keep = create_graph if retain_graph is None else retain_graph
    captured = _walk(roots, gradients, wanted, bool(keep), bool(create_graph), True)
    if wanted is not None:
        _accumulate_into_nonleaves(wanted, captured)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    for number, tensor in enumerate(inputs):
        if not _is_edge(tensor) and not tensor.requires_grad:
            raise RuntimeError(
                f"One of the differentiated Tensors does not require grad: input {number}"
            )


def _accumulate_into_nonleaves(inputs: tuple[Any, ...], captured: tuple[Any, ...]) -> None:
    for tensor, gradient in zip(inputs, captured, strict=True):
        if not _is_edge(tensor) and not tensor.is_leaf and gradient is not None:
            tensor._set_retains_grad(True)
            tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient


def grad(
    outputs: Tensors,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of `outputs` with respect to `inputs`, one per input; no `.grad` is touched.

    allow_unused: an input that no output depends on gives None instead of RuntimeError;
    materialize_grads: it gives zeros.

    Args:
        outputs: a tensor, or several, to differentiate.
        inputs: a tensor, or several, to differentiate by.
        grad_outputs: gradients of the outputs, of their shapes (None: 1 for a scalar).
        retain_graph: whether the graph stays usable for another walk (None: as `create_graph`).
        create_graph: whether the walk is recorded, so that gradients can be differentiated (False).
        only_inputs: older option; only gradients of `inputs` are computed (True).
        allow_unused: whether an input without influence gives None (None: as `materialize_grads`).
        is_grads_batched: whether `grad_outputs` have a first dimension more, along which the walk
            is mapped (False).
        materialize_grads: whether such an input gives zeros (False).

    >>> x = taeda.tensor(3.0, requires_grad=True)
    >>> grad(x ** 2, x)
    (tensor(6.),)
    """
    outputs, inputs = _kept(outputs), _kept(inputs)
    if is_for_others(given := (*_tuple(outputs), *_tuple(inputs))):
        return call_others(grad, given)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if _core.get_layers() & TRANSFORM:
        _function_maps.refuse_samples((outputs, inputs))
        if (
            level := _function_maps.level_of(_tuple(() if grad_outputs is None else grad_outputs))
        ) is not None:
            rest = (
                True,
                create_graph,
                only_inputs,
                allow_unused,
                is_grads_batched,
                materialize_grads,
            )
            return tuple(
                _function_maps.each(
                    level, lambda g: list(grad(outputs, inputs, g, *rest)), grad_outputs
                )
            )
    wanted = _tuple(inputs)
    if not wanted:
        raise RuntimeError(
            "`inputs` of grad() are empty: name at least one tensor to differentiate by"
        )
    if is_grads_batched:
        return _batched(
            outputs, wanted, grad_outputs, create_graph, allow_unused, materialize_grads
        )
    roots, gradients = _roots(outputs, grad_outputs)
    _check_inputs(wanted)
    keep = create_graph if retain_graph is None else retain_graph
    found = _walk(roots, gradients, wanted, bool(keep), bool(create_graph), False)
    return tuple(
        _result(i, t, g, allow_unused, materialize_grads)
        for i, (t, g) in enumerate(zip(wanted, found, strict=True))
    )


def _result(
    number: int, tensor: Any, gradient: Any, allow_unused: bool | None, materialize: bool
) -> Any:
    if gradient is not None:
        return gradient
    if materialize:
        return taeda.zeros_like(tensor)
    if allow_unused:
        return None
    raise RuntimeError(
        f"One of the differentiated Tensors appears to not have been used in the graph (input {number}). "
        "Set allow_unused=True if this is the desired behavior."
    )


def _batched(
    outputs: Tensors,
    inputs: tuple[Any, ...],
    grad_outputs: Any,
    create_graph: bool,
    allow_unused: bool | None,
    materialize: bool,
) -> tuple[Any, ...]:
    """One walk per entry of the leading dimension of `grad_outputs`."""
    batches = _tuple(grad_outputs)
    walks = [
        grad(
            outputs,
            inputs,
            tuple(b[i] for b in batches),
            True,
            create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize,
        )
        for i in range(batches[0].shape[0])
    ]
    return tuple(
        None if column[0] is None else taeda.stack(list(column))
        for column in zip(*walks, strict=True)
    )
