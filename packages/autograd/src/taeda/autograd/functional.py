"""Jacobians, Hessians and their products with vectors, of functions from tensors to tensors.

A function takes one tensor or several and returns a tensor or a tuple of tensors. What depends on
nothing counts as zero, unless `strict`; results are detached, unless `create_graph`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor

from ._backward import grad as _grad
from ._places import without_graph
from .forward_ad import dual_level, make_dual, unpack_dual

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]
Tensors = tuple[Tensor, ...]
Maybe = Sequence[Tensor | None]


# ---- what goes in and comes out ----


def _as_tuple(given: Any, what: str, name: str) -> tuple[Tensors, bool]:
    """The tensors, and whether they came as a tuple."""
    items = given if isinstance(given, tuple) else (given,)
    for number, item in enumerate(items):
        if isinstance(item, Tensor):
            continue
        where = f" at index {number}" if isinstance(given, tuple) else ""
        raise TypeError(
            f"The {what} given to {name} must be either a Tensor or a tuple of Tensors "
            f"but the given {what}{where} has type {type(item)}."
        )
    return items, isinstance(given, tuple)


_OUTPUTS = "outputs of the user-provided function"


def _as_given(tensors: Tensors, was_tuple: bool, create_graph: bool) -> Any:
    shown = tensors if create_graph else tuple(map(without_graph, tensors))
    return shown if was_tuple else shown[0]


def _fresh(tensors: Tensors, create_graph: bool, wanted: bool) -> Tensors:
    """New objects: in the callers' graph where that is asked for, else leaves."""
    return tuple(
        taeda.alias(t)
        if create_graph and t.requires_grad
        else without_graph(t).requires_grad_(wanted)
        for t in tensors
    )


def _vector(
    v: Any, like: Tensors, was_tuple: bool, create_graph: bool, name: str, missing: str
) -> Tensors | None:
    """`v` checked against what it is multiplied with; None where it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {missing} with a single element.")
        return None
    made, _ = _as_tuple(v, "v", name)
    if len(made) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(made)}."
        )
    for number, (entry, other) in enumerate(zip(made, like, strict=True)):
        if entry.shape != other.shape:
            which = f"Entry {number} in v" if was_tuple else "v"
            raise RuntimeError(
                f"{which} has invalid size: should be {other.shape} but got {entry.shape}."
            )
    return _fresh(made, create_graph, False)


_OF_OUTPUT = "the user-provided function returns a single Tensor"
_OF_INPUT = "the input to the user-provided function is a single Tensor"


# ---- derivatives, and zeros where there are none ----


def _gradients(
    outputs: Sequence[Tensor | None], inputs: Sequence[Tensor], v: Maybe | None, create_graph: bool
) -> tuple[Tensor | None, ...]:
    """Gradients of those outputs that require one; the graph stays."""
    given = v if v is not None else [None] * len(outputs)
    pairs = [
        (o, g) for o, g in zip(outputs, given, strict=True) if o is not None and o.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    roots, cotangents = zip(*pairs, strict=True)
    return _grad(
        roots, inputs, cotangents, create_graph=create_graph, retain_graph=True, allow_unused=True
    )


def _strict(message: str) -> RuntimeError:
    return RuntimeError(f"{message} This is not allowed in strict mode.")


def _filled(
    found: Maybe, like: Sequence[Tensor], strict: bool, create_graph: bool, what: str, of: str
) -> Tensors:
    """Zeros for None. strict: `what` must depend on every `of`, and with create_graph do so
    differentiably.
    """
    for number, gradient in enumerate(found if strict else ()):
        if gradient is None:
            raise _strict(f"{what} is independent of {of} {number}.")
        if create_graph and not gradient.requires_grad:
            raise _strict(f"The derivative of {what} is independent of {of} {number}.")
    return tuple(taeda.zeros_like(x) if g is None else g for g, x in zip(found, like, strict=True))


_FUNCTION, _JACOBIAN = (
    "The output of the user-provided function",
    "The jacobian of the user-provided function",
)
_INPUT, _PULL = "input", "the entry of grad_outputs of number"


def _call(function: Function, inputs: Tensors, name: str, strict: bool) -> tuple[Tensors, bool]:
    outputs, was_tuple = _as_tuple(function(*inputs), _OUTPUTS, name)
    for number, output in enumerate(outputs if strict else ()):
        if not output.requires_grad:
            raise _strict(
                f"Output {number} of the user-provided function does not require gradients. "
                "The outputs must be computed in a differentiable manner from the input."
            )
    return outputs, was_tuple


def _scalar(function: Function, inputs: Tensors, name: str, strict: bool) -> Tensors:
    outputs, was_tuple = _call(function, inputs, name, strict)
    if was_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return outputs if outputs[0].dim() == 0 else (outputs[0].squeeze(),)


def _slope(function: Function, inputs: Tensors, name: str, strict: bool) -> tuple[Tensors, Maybe]:
    """(the one output, its gradients in a graph)"""
    outputs = _scalar(function, inputs, name, strict)
    slopes = _gradients(outputs, inputs, None, True)
    for number, slope in enumerate(slopes if strict else ()):
        if slope is None or not slope.requires_grad:
            raise _strict(
                f"{_JACOBIAN} with respect to input {number} is independent of the input."
            )
    return outputs, slopes


def _pulls(like: Sequence[Tensor]) -> Tensors:
    """Cotangents to differentiate by: what is linear in them has one derivative everywhere."""
    return tuple(taeda.ones_like(x).requires_grad_() for x in like)


def _mode(create_graph: bool) -> Any:
    return taeda.set_grad_enabled(create_graph or taeda.is_grad_enabled())


# ---- products with the Jacobian ----


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), vᵀ·Jacobian): one vector of the shape of the outputs, one product per input.

    v may be left out for a function to one number. RuntimeError for a v of another shape.

    Args:
        func: takes the tensors of `inputs` and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors, of a floating-point or complex dtype.
        v: of the shapes of the outputs; may be left out for an output of one element (default:
            None).
        create_graph: whether the results can be differentiated again; False by default.
        strict: raise RuntimeError where an output does not depend on an input, instead of giving
            zeros; False by default.

    >>> vjp(lambda x: x ** 2, taeda.tensor([1.0, 3.0]), taeda.ones(2))[1]
    tensor([2., 6.])
    """
    with taeda.enable_grad():
        given, was_tuple = _as_tuple(inputs, "inputs", "vjp")
        own = _fresh(given, create_graph, True)
        outputs, outputs_tuple = _call(func, own, "vjp", strict)
        pull = _vector(v, outputs, outputs_tuple, create_graph, "vjp", _OF_OUTPUT)
    with _mode(create_graph):
        found = _gradients(outputs, own, pull, create_graph)
        product = _filled(found, own, strict, create_graph, _FUNCTION, _INPUT)
    return _as_given(outputs, outputs_tuple, create_graph), _as_given(
        product, was_tuple, create_graph
    )


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), Jacobian·v): v has the shape of the inputs, there is one product per output.

    Goes through backward twice, so `func` needs no forward mode; `forward_ad` takes one pass where
    there is one.

    Args:
        func: takes the tensors of `inputs` and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors, of a floating-point or complex dtype.
        v: of the shapes of `inputs`; may be left out for an input of one element (default:
            None).
        create_graph: whether the results can be differentiated again; False by default.
        strict: raise RuntimeError where an output does not depend on an input, instead of giving
            zeros; False by default.

    >>> jvp(lambda x: x.prod(), taeda.tensor([2.0, 3.0]), taeda.tensor([1.0, 0.0]))[1]
    tensor(3.)
    """
    with taeda.enable_grad():
        given, was_tuple = _as_tuple(inputs, "inputs", "jvp")
        own = _fresh(given, create_graph, True)
        push = _vector(v, own, was_tuple, create_graph, "jvp", _OF_INPUT)
        outputs, outputs_tuple = _call(func, own, "jvp", strict)
        pulls = _pulls(outputs)
        pulled = _gradients(outputs, own, pulls, True)
    push = push or tuple(taeda.ones_like(x) for x in own)
    with _mode(create_graph):
        found = _gradients(pulled, pulls, push, create_graph)
        product = _filled(found, outputs, strict, create_graph, "The gradient of the input", _PULL)
    shown = tuple(_as_given(part, outputs_tuple, create_graph) for part in (outputs, product))
    return shown[0], shown[1]


# ---- the Jacobian ----


def _unit_vectors(x: Tensor) -> Iterator[Tensor]:
    for element in range(x.numel()):
        unit = taeda.zeros(x.numel(), dtype=x.dtype, device=x.device)
        unit[element] = 1
        yield unit.view(x.shape)


def _rows(output: Tensor, inputs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """For one output its Jacobian with respect to each input."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    for element in output.reshape(-1):
        found = _gradients((element,), inputs, None, create_graph)
        filled = _filled(found, inputs, strict, create_graph, _FUNCTION, _INPUT)
        for column, row in zip(columns, filled, strict=True):
            column.append(row)
    return tuple(
        taeda.stack(column).view(output.shape + x.shape)
        if column
        else taeda.zeros(output.shape + x.shape, dtype=x.dtype, device=x.device)
        for column, x in zip(columns, inputs, strict=True)
    )


def _along(func: Function, inputs: Tensors, number: int, tangent: Tensor) -> tuple[Tensors, bool]:
    """The derivatives of the outputs along a tangent of one input."""
    with dual_level():
        dual = make_dual(inputs[number], tangent)
        made = func(*inputs[:number], dual, *inputs[number + 1 :])
        outputs, was_tuple = _as_tuple(made, _OUTPUTS, "jacobian")
        slopes = (unpack_dual(o).tangent for o in outputs)
        found = tuple(
            taeda.zeros_like(o) if s is None else s for o, s in zip(outputs, slopes, strict=True)
        )
        return tuple(map(without_graph, found)), was_tuple


def _by_columns(func: Function, inputs: Tensors, was_tuple: bool) -> Any:
    blocks: list[Tensors] = []
    outputs, outputs_tuple = _as_tuple(func(*inputs), _OUTPUTS, "jacobian")
    for number, x in enumerate(inputs):
        columns = [_along(func, inputs, number, unit)[0] for unit in _unit_vectors(x)]
        blocks.append(
            tuple(
                taeda.stack(parts, -1).view(o.shape + x.shape)
                for o, parts in zip(outputs, zip(*columns, strict=True), strict=True)
            )
            if columns
            else tuple(o.new_zeros(o.shape + x.shape) for o in outputs)
        )
    per_output = tuple(_as_given(tuple(row), was_tuple, False) for row in zip(*blocks, strict=True))
    return per_output if outputs_tuple else per_output[0]


def _check_strategy(strategy: str, vectorize: bool, strict: bool, create_graph: bool) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode", got {strategy!r}. '
            "Forward mode runs once per element of the inputs, reverse mode once per element of the outputs."
        )
    if vectorize and strict:
        raise RuntimeError(
            "`strict=True` and `vectorize=True` are not supported together: set one of them to False"
        )
    if strategy == "reverse-mode":
        return
    if create_graph:
        raise NotImplementedError(
            '`create_graph=True` and `strategy="forward-mode"` are not supported together: use reverse mode'
        )
    if not vectorize:
        raise NotImplementedError(
            "the strategy forward-mode is only implemented for `vectorize=True`"
        )


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian, of shape output.shape + input.shape; a tuple for several outputs, of tuples for
    several inputs.

    Args:
        func: takes the tensors of `inputs` and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors, of a floating-point or complex dtype.
        create_graph: whether the results can be differentiated again; False by default.
        strict: raise RuntimeError where an output does not depend on an input, instead of giving
            zeros; False by default.
        vectorize: the same values; here it saves no time; False by default.
        strategy: "reverse-mode", the default, takes one walk per element of the outputs,
            "forward-mode" (with vectorize) one call of `func` per element of the inputs.

    >>> jacobian(lambda x: x ** 2, taeda.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    _check_strategy(strategy, vectorize, strict, create_graph)
    given, was_tuple = _as_tuple(inputs, "inputs", "jacobian")
    if strategy == "forward-mode":
        return _by_columns(func, given, was_tuple)
    with taeda.enable_grad():
        own = _fresh(given, create_graph, True)
        outputs, outputs_tuple = _call(func, own, "jacobian", strict)
        per_output = tuple(
            _as_given(_rows(o, own, create_graph, strict), was_tuple, create_graph) for o in outputs
        )
    return per_output if outputs_tuple else per_output[0]


# ---- second derivatives of functions to one number ----


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function to one number: of shape input.shape + input.shape, a tuple of
    tuples for several inputs.

    Args:
        func: takes the tensors of `inputs` and returns a tensor of one element.
        inputs: a tensor or a tuple of tensors, of a floating-point or complex dtype.
        create_graph: whether the results can be differentiated again; False by default.
        strict: raise RuntimeError where an output does not depend on an input, instead of giving
            zeros; False by default.
        vectorize: the same values; here it saves no time; False by default.
        outer_jacobian_strategy: "reverse-mode", the default, or "forward-mode" (with vectorize), which
            takes forward mode over backward.

    >>> hessian(lambda x: (x ** 3).sum(), taeda.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    given, was_tuple = _as_tuple(inputs, "inputs", "hessian")
    forward = outer_jacobian_strategy == "forward-mode"

    def slopes(*own: Tensor) -> Tensors:
        watched = tuple(x if x.requires_grad else x.requires_grad_() for x in own)
        with taeda.enable_grad():
            _, found = _slope(func, watched, "hessian", strict)
            return _filled(found, watched, False, True, _FUNCTION, _INPUT)

    if forward:
        given = _fresh(given, False, False)
    found = jacobian(
        slopes, given, create_graph, strict, vectorize, strategy=outer_jacobian_strategy
    )
    return found if was_tuple else found[0][0]


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), vᵀ·Hessian) of a function to one number; v has the shape of the inputs.

    Args:
        func: takes the tensors of `inputs` and returns a tensor of one element.
        inputs: a tensor or a tuple of tensors, of a floating-point or complex dtype.
        v: of the shapes of `inputs`; may be left out for an input of one element (default:
            None).
        create_graph: whether the results can be differentiated again; False by default.
        strict: raise RuntimeError where an output does not depend on an input, instead of giving
            zeros; False by default.

    >>> vhp(lambda x: (x ** 3).sum(), taeda.tensor([1.0, 2.0]), taeda.ones(2))[1]
    tensor([ 6., 12.])
    """
    with taeda.enable_grad():
        given, was_tuple = _as_tuple(inputs, "inputs", "vhp")
        own = _fresh(given, create_graph, True)
        pull = _vector(v, own, was_tuple, create_graph, "vhp", _OF_INPUT)
        outputs, slopes = _slope(func, own, "vhp", strict)
    with _mode(create_graph):
        found = _gradients(slopes, own, pull, create_graph)
        product = _filled(found, own, strict, create_graph, _JACOBIAN, _INPUT)
    return _as_given(outputs, False, create_graph), _as_given(product, was_tuple, create_graph)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), Hessian·v) of a function to one number.
    Where the Hessian is symmetric `vhp` is the same and cheaper.

    Args:
        func: takes the tensors of `inputs` and returns a tensor of one element.
        inputs: a tensor or a tuple of tensors, of a floating-point or complex dtype.
        v: of the shapes of `inputs`; may be left out for an input of one element (default:
            None).
        create_graph: whether the results can be differentiated again; False by default.
        strict: raise RuntimeError where an output does not depend on an input, instead of giving
            zeros; False by default.

    >>> hvp(lambda x: (x ** 3).sum(), taeda.tensor([1.0, 2.0]), taeda.ones(2))[1]
    tensor([ 6., 12.])
    """
    with taeda.enable_grad():
        given, was_tuple = _as_tuple(inputs, "inputs", "hvp")
        own = _fresh(given, create_graph, True)
        push = _vector(v, own, was_tuple, create_graph, "hvp", _OF_INPUT)
        outputs, slopes = _slope(func, own, "hvp", strict)
        pulls = _pulls(own)
        pulled = _gradients(slopes, own, pulls, True)
        _filled(pulled, own, strict, False, _JACOBIAN, _INPUT)
    push = push or tuple(taeda.ones_like(x) for x in own)
    with _mode(create_graph):
        found = _gradients(pulled, pulls, push, create_graph)
        product = _filled(found, own, strict, create_graph, "The hessian", _PULL)
    return _as_given(outputs, False, create_graph), _as_given(product, was_tuple, create_graph)
