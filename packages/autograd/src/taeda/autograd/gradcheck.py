"""gradcheck and gradgradcheck: analytical derivatives against central differences.

Complex functions are differentiated in their real and imaginary parts; an analytical gradient of a
real loss is 2·dL/d(conj z), as everywhere in the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn

from ._backward import grad as _grad
from .forward_ad import dual_level, make_dual, unpack_dual

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """The derivatives differ; the message holds both."""


def _tensors(value: Any) -> tuple[Tensor, ...]:
    items = (value,) if isinstance(value, Tensor) else tuple(value)
    return tuple(v for v in items if isinstance(v, Tensor))


def _outputs(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple(o for o in _tensors(fn(*inputs)) if o.is_floating_point() or o.is_complex())


def _steps(x: Tensor, eps: float) -> Iterator[tuple[int, complex]]:
    """(element, step): one real step each, and one imaginary step for complex inputs."""
    for element in range(x.numel()):
        yield element, eps
        if x.is_complex():
            yield element, eps * 1j


@contextmanager
def _moved(x: Tensor, step: Any, element: int | None = None) -> Iterator[None]:
    """`x` itself, or one element of it, moved by `step` meanwhile: functions see it that hold `x` otherwise
    than as an argument, as a module does its parameters.
    """
    place = x.data if element is None else x.data[_place(element, x.shape)]
    kept = place.clone()
    place.add_(step)
    try:
        yield
    finally:
        place.copy_(kept)


def _place(element: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The indices of an element by its number in row-major order."""
    indices = []
    for size in reversed(shape):
        element, index = divmod(element, size)
        indices.append(index)
    return tuple(reversed(indices))


def _values(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Tensor]:
    """The outputs as they are now: one may be a view of an input that moves back."""
    with taeda.no_grad():
        return [o.detach().clone() for o in _outputs(fn, inputs)]


def _numerical(
    fn: Callable[..., Any], inputs: tuple[Any, ...], number: int, eps: float
) -> list[list[tuple[Tensor, complex]]]:
    """Per output a list over steps of the directional derivative and the step's direction (1 or 1j)."""
    columns: list[list[tuple[Tensor, complex]]] = []
    x = inputs[number]
    for element, step in _steps(x, eps):
        by = step if x.is_complex() else step.real
        with _moved(x, by, element):
            after = _values(fn, inputs)
        with _moved(x, -by, element):
            before = _values(fn, inputs)
        pairs = zip(after, before, strict=True)
        columns.append([((a - b) / (2 * eps), step / eps) for a, b in pairs])
    return [list(column) for column in zip(*columns, strict=True)] if columns else []


def _pulls(output: Tensor) -> Iterator[Tensor]:
    """Cotangents that pick one real number of the output each."""
    for element in range(output.numel()):
        for unit in (1.0, 1j) if output.is_complex() else (1.0,):
            picked = taeda.zeros(output.shape, dtype=output.dtype)
            picked.view(-1)[element] = unit
            yield picked


def _real_part(value: Tensor, direction: complex) -> Tensor:
    return (value.real if direction == 1 else value.imag) if value.is_complex() else value


def _real_rows(value: Tensor) -> Tensor:
    """A tensor as the vector of its real numbers."""
    flat = (
        value.resolve_conj().resolve_neg().reshape(-1) if value.is_complex() else value.reshape(-1)
    )
    return taeda.view_as_real(flat).reshape(-1) if value.is_complex() else flat


def _analytical(output: Tensor, inputs: tuple[Any, ...], number: int) -> Tensor:
    """Rows: real numbers of the output; columns: real numbers of the input."""
    rows = []
    for pull in _pulls(output):
        found = _grad(output, inputs[number], pull, retain_graph=True, allow_unused=True)[0]
        found = taeda.zeros_like(inputs[number]) if found is None else found
        if found.shape != inputs[number].shape:
            raise GradcheckError(
                f"gradient of input {number} has shape {list(found.shape)}, the input "
                f"{list(inputs[number].shape)}"
            )
        rows.append(_real_rows(found.detach()))
    width = inputs[number].numel() * (2 if inputs[number].is_complex() else 1)
    return taeda.stack(rows) if rows else taeda.zeros(0, width, dtype=taeda.float64)


def _along(fn: Callable[..., Any], inputs: tuple[Any, ...], number: int, tangent: Tensor) -> Any:
    """Per output its derivative along a tangent of one input, in forward mode."""
    with dual_level():
        dual = make_dual(inputs[number], tangent)
        made = _outputs(fn, (*inputs[:number], dual, *inputs[number + 1 :]))
        found = [unpack_dual(o).tangent for o in made]
        return [taeda.zeros_like(o) if t is None else t for o, t in zip(made, found, strict=True)]


def _forward_columns(
    fn: Callable[..., Any], inputs: tuple[Any, ...], number: int
) -> list[list[Tensor]]:
    """Per output the columns of its Jacobian, as `_analytical` counts them."""
    columns = []
    for element, step in _steps(inputs[number], 1.0):
        tangent = taeda.zeros(inputs[number].shape, dtype=inputs[number].dtype)
        tangent.view(-1)[element] = step
        columns.append([_real_rows(t.detach()) for t in _along(fn, inputs, number, tangent)])
    return [list(column) for column in zip(*columns, strict=True)]


def _require_close(
    found: Tensor, expected: Tensor, place: int, number: int, mode: str, atol: float, rtol: float
) -> None:
    if taeda.allclose(found.to(expected.dtype), expected, rtol=rtol, atol=atol, equal_nan=True):
        return
    how = " computed with forward mode" if mode == "forward" else ""
    raise GradcheckError(
        f"Jacobian{how} mismatch for output {place} with respect to input {number},\n"
        f"numerical:{expected}\nanalytical:{found}\n"
    )


def _compare(
    fn: Callable[..., Any],
    inputs: tuple[Any, ...],
    eps: float,
    atol: float,
    rtol: float,
    modes: tuple[bool, bool],
) -> None:
    """`modes` says whether backward mode is compared, and whether forward mode is."""
    backward, forward = modes
    outputs = _outputs(fn, inputs)
    for number, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        numerical = _numerical(fn, inputs, number, eps)
        columns = _forward_columns(fn, inputs, number) if forward else []
        for place, output in enumerate(outputs):
            if not x.numel() or not output.numel():
                continue
            expected = taeda.stack([_real_rows(column) for column, _ in numerical[place]], 1)
            if backward and output.requires_grad:
                found = _analytical(output, inputs, number)
                _require_close(found, expected, place, number, "reverse", atol, rtol)
            if forward:
                found = taeda.stack(columns[place], 1)
                _require_close(found, expected, place, number, "forward", atol, rtol)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them "
            "have requires_grad=True."
        )
    for number, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        if x.dtype not in (taeda.float64, taeda.complex128):
            warn(
                f"Input #{number} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision "
                "floating point or complex. ",
            )
        if x.numel() and any(
            stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True)
        ):
            raise RuntimeError(
                f"The {number}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping: clone() it"
            )


def _check_repeatable(fn: Callable[..., Any], inputs: tuple[Any, ...], tolerance: float) -> None:
    first, second = ([o.detach().clone() for o in _outputs(fn, inputs)] for _ in range(2))
    for number, (a, b) in enumerate(zip(first, second, strict=True)):
        if a.shape != b.shape or not taeda.allclose(a, b, rtol=0, atol=tolerance, equal_nan=True):
            raise GradcheckError(
                f"output {number} differs between two calls with the same inputs: the function is "
                "not deterministic"
            )


def _check_undefined(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """A backward must survive outputs that nobody differentiates."""
    outputs = [o for o in _outputs(fn, inputs) if o.requires_grad]
    wanted = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    for output in outputs:
        _grad(output, wanted, taeda.zeros_like(output), retain_graph=True, allow_unused=True)


def _differentiated(
    fn: Callable[..., Any], inputs: tuple[Any, ...]
) -> Iterator[tuple[int, Tensor, list[tuple[int, Tensor]]]]:
    """Each output that can be differentiated, by its number, beside the inputs that ask for gradients."""
    wanted = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    for place, output in enumerate(_outputs(fn, inputs)):
        if output.requires_grad:
            yield place, output, wanted


def _check_dtypes(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Gradients have the dtypes of what they are gradients of."""
    for place, output, wanted in _differentiated(fn, inputs):
        pull = taeda.ones_like(output)
        found = _grad(output, [x for _, x in wanted], pull, retain_graph=True, allow_unused=True)
        for (number, x), gradient in zip(wanted, found, strict=True):
            if gradient is not None and gradient.dtype != x.dtype:
                raise GradcheckError(
                    f"the gradient of input {number} from output {place} has {gradient.dtype}, the input "
                    f"{x.dtype}"
                )


def _check_batched(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Gradients of several cotangents at once are those of one after the other."""
    for place, output, wanted in _differentiated(fn, inputs):
        sources = [x for _, x in wanted]
        pulls = [_unit(output, seed) for seed in (11, 12)]
        alone = [_grad(output, sources, p, retain_graph=True, allow_unused=True) for p in pulls]
        try:
            together = _grad(
                output,
                sources,
                taeda.stack(pulls),
                retain_graph=True,
                allow_unused=True,
                is_grads_batched=True,
            )
        except MemoryError:
            raise
        except RuntimeError as error:
            raise GradcheckError(
                f"the gradient of output {place} cannot be computed for several cotangents at once: {error}"
            ) from error
        for (number, x), batch, *each in zip(wanted, together, *alone, strict=True):
            parts = [taeda.zeros_like(x) if g is None else g for g in each]
            found = taeda.zeros(2, *x.shape, dtype=x.dtype) if batch is None else batch
            _require_same(found, taeda.stack(parts), place, number, "gradients")


def _check_batched_forward(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Derivatives along several tangents at once are those of one after the other."""
    for number, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        tangents = [_unit(x, seed) for seed in (13, 14)]
        alone = [_along(fn, inputs, number, tangent) for tangent in tangents]
        try:
            together = taeda.vmap(lambda t, n=number: tuple(_along(fn, inputs, n, t)))(
                taeda.stack(tangents)
            )
        except MemoryError:
            raise
        except RuntimeError as error:
            raise GradcheckError(
                f"derivatives along input {number} cannot be computed for several tangents at once: {error}"
            ) from error
        for place, (found, *each) in enumerate(zip(together, *alone, strict=True)):
            _require_same(found, taeda.stack(each), place, number, "derivatives")


def _require_same(found: Tensor, expected: Tensor, place: int, number: int, what: str) -> None:
    if not taeda.allclose(found, expected, equal_nan=True):
        raise GradcheckError(
            f"{what} of input {number} from output {place} differ where they are computed at once:\n"
            f"one after the other:{expected}\nat once:{found}\n"
        )


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """True if the derivatives of `func` at `inputs` equal central differences, else GradcheckError.

    Compared are those of backward (check_backward_ad) and of forward mode (check_forward_ad);
    ValueError for neither.

    Inputs that require grad should be float64 or complex128. fast_mode compares one random
    projection instead of the whole Jacobian. raise_exception=False returns False instead of
    raising. Sparse inputs want masked=True: elements without an entry are no inputs then; ValueError without
    it.

    Args:
        func: function of the inputs that returns a tensor or several.
        inputs: one tensor, or a tuple of arguments; those that require grad are checked.
        eps: step of the differences (1e-6).
        atol: absolute tolerance (1e-5).
        rtol: relative tolerance (1e-3).
        raise_exception: whether a difference raises, instead of returning False (True).
        nondet_tol: by how much two walks back may differ (0).
        check_undefined_grad: whether gradients that are not there are tried too (True).
        check_grad_dtypes: whether gradients must have the dtypes of their inputs (False).
        check_batched_grad: whether a walk back for several gradients at once, as `vmap` makes it, must
            agree with one after the other (False).
        check_batched_forward_grad: whether forward mode along several tangents at once, under `vmap`,
            must agree with one after the other; wants check_forward_ad (False).
        check_forward_ad: whether forward mode is compared (False).
        check_backward_ad: whether backward is compared (True).
        fast_mode: whether one random projection is compared (False).
        masked: whether elements without an entry are no inputs (None: no).

    >>> x = taeda.tensor([0.5, 2.0], dtype=taeda.float64, requires_grad=True)
    >>> gradcheck(lambda x: x * x, x)
    True
    """
    if _has_sparse(inputs):
        return _of_sparse(gradcheck, masked)(
            func,
            inputs,
            masked=True,
            eps=eps,
            atol=atol,
            rtol=rtol,
            raise_exception=raise_exception,
            nondet_tol=nondet_tol,
            check_undefined_grad=check_undefined_grad,
            check_grad_dtypes=check_grad_dtypes,
            check_batched_grad=check_batched_grad,
            check_batched_forward_grad=check_batched_forward_grad,
            check_forward_ad=check_forward_ad,
            check_backward_ad=check_backward_ad,
            fast_mode=fast_mode,
        )
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    _check_inputs(given)
    modes = check_backward_ad, check_forward_ad
    if not any(modes):
        raise ValueError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    try:
        _check_repeatable(func, given, nondet_tol)
        if fast_mode:
            _compare_projection(func, given, eps, atol, rtol, modes)
        else:
            _compare(func, given, eps, atol, rtol, modes)
        if check_undefined_grad and check_backward_ad:
            _check_undefined(func, given)
        if check_grad_dtypes and check_backward_ad:
            _check_dtypes(func, given)
        if check_batched_grad and check_backward_ad:
            _check_batched(func, given)
        if check_batched_forward_grad and check_forward_ad:
            _check_batched_forward(func, given)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _has_sparse(inputs: Any) -> bool:
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    return any(isinstance(x, Tensor) and x.layout is not taeda.strided for x in given)


def _of_sparse(check: Callable[..., bool], masked: bool | None) -> Callable[..., bool]:
    """The check for sparse inputs, whose values it moves."""
    if not masked:
        raise ValueError(
            "gradcheck expects strided inputs, unless masked=True: then a sparse input is its entries. For "
            "all elements use taeda.sparse.as_sparse_gradcheck"
        )
    sparse: Any = taeda.sparse  # upward: the inputs come from there
    made: Callable[..., bool] = sparse.as_sparse_gradcheck(check)
    return made


def _unit(like: Tensor, seed: int) -> Tensor:
    generator = taeda.Generator().manual_seed(seed)
    made = taeda.rand(like.shape, dtype=taeda.float64, generator=generator) - 0.5
    if like.is_complex():
        made = taeda.complex(
            made, taeda.rand(like.shape, dtype=taeda.float64, generator=generator) - 0.5
        )
    return made.to(like.dtype)


def _spread(x: Tensor, gaps: bool) -> Tensor:
    """The tensor, or its elements with as many others between them."""
    return taeda.stack([x, taeda.zeros_like(x)], -1)[..., 0] if gaps else x


def _inner(a: Tensor, b: Tensor) -> float:
    return float((_real_rows(a) * _real_rows(b)).sum())


def _compare_projection(
    fn: Callable[..., Any],
    inputs: tuple[Any, ...],
    eps: float,
    atol: float,
    rtol: float,
    modes: tuple[bool, bool],
) -> None:
    """v·(J u) by differences against (Jᵀ v)·u by backward and v·(J u) by forward mode, for random u and v."""
    backward, forward = modes
    for number, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad or not x.numel():
            continue
        u = _unit(x, 2 * number)
        with _moved(x, eps * u):
            after = _values(fn, inputs)
        with _moved(x, -eps * u):
            before = _values(fn, inputs)
        tangents = _along(fn, inputs, number, u) if forward else []
        for place, output in enumerate(_outputs(fn, inputs)):
            v = _unit(output, 2 * place + 1)
            numerical = taeda.tensor(_inner((after[place] - before[place]) / (2 * eps), v))
            if backward and output.requires_grad:
                found = _grad(output, x, v, retain_graph=True, allow_unused=True)[0]
                value = taeda.tensor(0.0 if found is None else _inner(found.detach(), u))
                _require_close(value, numerical, place, number, "reverse", atol, rtol)
            if forward:
                value = taeda.tensor(_inner(tangents[place].detach(), v))
                _require_close(value, numerical, place, number, "forward", atol, rtol)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
) -> bool:
    """True if the second derivatives are right: checks the function (inputs, v) -> vᵀJ with a random v.

    Its derivatives are compared by backward (check_rev_over_rev) and by forward mode (check_fwd_over_rev).

    Args:
        func: function of the inputs that returns a tensor or several.
        inputs: one tensor, or a tuple of arguments; those that require grad are checked.
        grad_outputs: gradients of the outputs to check at (None: random ones).
        eps: step of the differences (1e-6).
        atol: absolute tolerance (1e-5).
        rtol: relative tolerance (1e-3).
        gen_non_contig_grad_outputs: whether random gradients of the outputs have gaps in memory (False).
        raise_exception: whether a difference raises, instead of returning False (True).
        nondet_tol: by how much two walks back may differ (0).
        check_undefined_grad: whether gradients that are not there are tried too (True).
        check_grad_dtypes: whether gradients must have the dtypes of their inputs (False).
        check_batched_grad: whether a walk back for several gradients at once, as `vmap` makes it, must
            agree with one after the other (False).
        check_fwd_over_rev: whether forward mode over backward is compared (False).
        check_rev_over_rev: whether backward over backward is compared (True).
        fast_mode: whether one random projection is compared (False).

    >>> x = taeda.tensor([0.5, 2.0], dtype=taeda.float64, requires_grad=True)
    >>> gradgradcheck(lambda x: x * x * x, x)
    True
    """
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = [o for o in _outputs(func, given) if o.requires_grad]
    if grad_outputs is None:
        pulls: tuple[Tensor, ...] = tuple(
            _spread(_unit(o, 7 + i), gen_non_contig_grad_outputs).requires_grad_()
            for i, o in enumerate(outputs)
        )
    else:
        pulls = _tensors(grad_outputs)
    count = len(given)

    def first(*values: Any) -> tuple[Tensor, ...]:
        own, cotangents = values[:count], values[count:]
        made = [o for o in _outputs(func, own) if o.requires_grad]
        wanted = [x for x in own if isinstance(x, Tensor) and x.requires_grad]
        found = _grad(made, wanted, cotangents, create_graph=True, allow_unused=True)
        return tuple(f for f in found if f is not None)

    differentiable = (*given, *pulls)
    with taeda.enable_grad():
        return gradcheck(
            _keep_grad(first),
            differentiable,
            eps=eps,
            atol=atol,
            rtol=rtol,
            raise_exception=raise_exception,
            nondet_tol=nondet_tol,
            check_undefined_grad=check_undefined_grad,
            check_grad_dtypes=check_grad_dtypes,
            check_batched_grad=check_batched_grad,
            check_forward_ad=check_fwd_over_rev,
            check_backward_ad=check_rev_over_rev,
            fast_mode=fast_mode,
        )


def _keep_grad(fn: Callable[..., Any]) -> Callable[..., Any]:
    """First derivatives need grad mode, also where the check has switched it off."""

    def run(*values: Any) -> Any:
        with taeda.enable_grad():
            return fn(*values)

    return run
