"""`opcheck`: whether an operator does what its schema and its registrations say."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._layers import no_grad
from taeda._layers.trees import tensors_in
from taeda._native import core as _core

from . import table
from .custom_ops import CustomOpDef
from .fake import inventing_sizes
from .operators import OpOverload, OpOverloadPacket, overload
from .tags import Tag

__all__ = ["OpCheckError", "opcheck"]

Arguments = tuple[Any, ...]
Keywords = dict[str, Any]


class OpCheckError(Exception):
    """An operator that does not do what was registered for it."""


def opcheck(
    op: str | OpOverload | OpOverloadPacket | CustomOpDef,
    args: Arguments,
    kwargs: Keywords | None = None,
    *,
    test_utils: str | Sequence[str] | None = None,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Call an operator with sample arguments and hold it to what was registered.
    The arguments are not changed.

    - "test_schema": it writes nothing that the schema does not mark, and its results share no
      undeclared memory.
    - "test_autograd_registration": if an argument requires grad, there is a derivative.
    - "test_faketensor": its fake kernel gives the shapes, strides and dtypes that the kernel gives.
    - "test_aot_dispatch_dynamic": all of the above from fresh copies twice with equal results, and
      the derivative agrees with finite differences, computed in float64 if the operator takes it.
      An operator whose derivative is meant to differ from the mathematical one (a straight-through
      estimator) is checked without it, by `test_utils`.

    Returns "SUCCESS" or the exception for each test; the first failure is raised as OpCheckError
    unless `raise_exception` is False. `rtol` and `atol` are those of `testing.assert_close`, given
    both or none.

    Args:
        op: its name ("mylib::sin"), its OpOverload or its CustomOpDef
        args: positional sample arguments
        kwargs: sample arguments by name (default: None)
        test_utils: one name or several of the tests above; None for all
        raise_exception: raise the first failure (default: True)
        atol: absolute tolerance where results are compared (default: None)
        rtol: relative tolerance where results are compared (default: None)

    >>> from taeda._library.custom_ops import custom_op
    >>> @custom_op("doc::twice", mutates_args=())
    ... def twice(x: Tensor) -> Tensor:
    ...     return x * 2
    >>> opcheck(twice, (taeda.ones(2),), test_utils="test_schema")
    {'test_schema': 'SUCCESS'}
    """
    if (atol is None) != (rtol is None):
        raise ValueError(f"give rtol and atol both or neither, got rtol={rtol} and atol={atol}")
    check = _Check(_resolved(op, args, kwargs or {}), args, kwargs or {}, rtol, atol)
    results: dict[str, Any] = {}
    for name in _chosen(test_utils):
        try:
            _TESTS[name](check)
            results[name] = "SUCCESS"
        except MemoryError:
            raise
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck({check.name}): {name} failed: {error}") from error
            results[name] = error
    return results


def _chosen(test_utils: str | Sequence[str] | None) -> list[str]:
    names = (
        [*_TESTS]
        if test_utils is None
        else [test_utils]
        if isinstance(test_utils, str)
        else [*test_utils]
    )
    odd = [name for name in names if name not in _TESTS]
    if odd:
        raise ValueError(f"test_utils={odd} are none of {', '.join(_TESTS)}")
    return names


def _resolved(op: Any, args: Arguments, kwargs: Keywords) -> OpOverload:
    """The one overload that these arguments call."""
    if isinstance(op, str):
        return overload(op)
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, OpOverload):
        return op
    if not isinstance(op, OpOverloadPacket):
        raise ValueError(f"opcheck: got {type(op)}; wanted a CustomOpDef, an OpOverload or a name")
    for name in op.overloads():
        try:
            taken: OpOverload = getattr(op, name)
            taken(*_copied(args), **_copied(kwargs))
        except TypeError:
            continue
        return taken
    raise ValueError(f"opcheck: no overload of {op} takes these arguments")


# ---- arguments ----


def _mapped(value: Any, change: Callable[[Tensor], Any]) -> Any:
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(v, change) for v in value)
    if isinstance(value, dict):
        return {k: _mapped(v, change) for k, v in value.items()}
    return value


def _copy(tensor: Tensor) -> Tensor:
    """The same values and strides in memory of its own."""
    plain = tensor.detach()
    copy = taeda.empty_strided(plain.shape, plain.stride(), dtype=plain.dtype, device=plain.device)
    return copy.copy_(plain).requires_grad_(tensor.requires_grad)


def _copied(values: Any) -> Any:
    return _mapped(values, _copy)


def _memory(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.numel() else 0


class _Check:
    """One operator with its sample arguments."""

    def __init__(
        self,
        op: OpOverload,
        args: Arguments,
        kwargs: Keywords,
        rtol: float | None,
        atol: float | None,
    ) -> None:
        self.op, self.args, self.kwargs = op, args, kwargs
        self.tolerances: dict[str, Any] = {"rtol": rtol, "atol": atol}
        self.name = op.name()
        self.schema = op._parsed

    def wants_gradient(self) -> bool:
        return any(t.requires_grad for t in tensors_in((self.args, self.kwargs)))

    def called(self, values: tuple[Arguments, Keywords]) -> Any:
        """The results on these arguments, outside the graph."""
        with no_grad():
            return self.op(*values[0], **values[1])

    def named(self, values: tuple[Arguments, Keywords]) -> dict[str, Any]:
        """Arguments by name."""
        names = [a.name for a in self.schema.arguments]
        return {**dict(zip(names, values[0], strict=False)), **values[1]}

    def close(self, actual: Any, expected: Any) -> None:
        taeda.testing.assert_close(actual, expected, equal_nan=True, **self.tolerances)


# ---- the tests ----


def _test_schema(check: _Check) -> None:
    given = _copied((check.args, check.kwargs))
    before = _copied(check.named(given))
    results = check.called(given)
    for argument in check.schema.arguments:
        if argument.mutated or argument.name not in before:
            continue
        pairs = zip(
            tensors_in(check.named(given)[argument.name]),
            tensors_in(before[argument.name]),
            strict=True,
        )
        for now, then in pairs:
            if not _same(now, then):
                raise OpCheckError(
                    f"argument {argument.name} is not defined as mutable but was mutated; name it "
                    "in mutates_args, or write a copy"
                )
    _check_aliases(check, check.named(given), results)


def _same(now: Tensor, then: Tensor) -> bool:
    if now.shape != then.shape or now.dtype != then.dtype:
        return False
    if now.is_meta:
        return True
    return _bytes(now) == _bytes(then)


def _bytes(tensor: Tensor) -> bytes:
    plain = tensor.detach().contiguous()
    return bytes(plain.reshape(-1).view(taeda.uint8).numpy()) if plain.numel() else b""


def _check_aliases(check: _Check, given: dict[str, Any], results: Any) -> None:
    made = results if isinstance(results, tuple) else (results,)
    seen: dict[int, str] = {}
    for number, (declared, result) in enumerate(zip(check.schema.returns, made, strict=False)):
        for tensor in tensors_in(result):
            place = _memory(tensor)
            owners = [
                a
                for a in check.schema.arguments
                if a.name in given and place and place in map(_memory, tensors_in(given[a.name]))
            ]
            odd = [a.name for a in owners if not declared.alias or a.alias != declared.alias]
            if odd:
                raise OpCheckError(
                    f"result {number} shares memory with argument {odd[0]}, which the schema does "
                    "not say; return a clone()"
                )
            if place and place in seen and not declared.alias:
                raise OpCheckError(f"result {number} shares memory with {seen[place]}")
            seen[place] = f"result {number}"


def _test_autograd_registration(check: _Check) -> None:
    if not check.wants_gradient() or _has_derivative(check):
        return
    results = check.op(*_copied(check.args), **_copied(check.kwargs))
    if any(t.requires_grad for t in tensors_in(results)):
        raise OpCheckError(
            f"an argument requires grad, and no autograd formula was registered for {check.name}; "
            "give one with register_autograd"
        )


def _has_derivative(check: _Check) -> bool:
    known = table.entry(check.name)
    return "autograd" in known.rules or "composite" in known.kernels or _core.has_rule(known.text)


def _test_faketensor(check: _Check) -> None:
    given = _copied((check.args, check.kwargs))
    real = check.called(given)
    with inventing_sizes() as ctx:
        fake = check.called(_mapped((check.args, check.kwargs), _as_meta))
    expected, got = [*tensors_in(real)], [*tensors_in(fake)]
    if len(expected) != len(got):
        raise OpCheckError(f"the fake kernel gives {len(got)} tensors, the kernel {len(expected)}")
    for number, (wanted, made) in enumerate(zip(expected, got, strict=True)):
        _check_facts(number, wanted, made, sizes=not ctx.asked)


def _as_meta(tensor: Tensor) -> Tensor:
    return taeda.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def _check_facts(number: int, wanted: Tensor, made: Tensor, *, sizes: bool) -> None:
    facts: list[tuple[str, Any, Any]] = [
        ("dtype", made.dtype, wanted.dtype),
        ("number of dimensions", made.dim(), wanted.dim()),
    ]
    if sizes:
        facts += [("shape", made.shape, wanted.shape), ("strides", made.stride(), wanted.stride())]
    for what, have, want in facts:
        if have != want:
            raise OpCheckError(
                f"result {number} of the fake kernel has {what} {have}, that of the kernel {want}"
            )


def _test_dispatch(check: _Check) -> None:
    _test_faketensor(check)
    first = check.called(_copied((check.args, check.kwargs)))
    again = check.called(_copied((check.args, check.kwargs)))
    if Tag.nondeterministic_seeded not in check.op.tags:
        for now, then in zip(tensors_in(again), tensors_in(first), strict=True):
            check.close(now, then)
    if check.wants_gradient() and _has_derivative(check):
        _check_gradient(check)


def _check_gradient(check: _Check) -> None:
    exact = _mapped((check.args, check.kwargs), _as_double)
    try:
        check.called(_copied(exact))
    except MemoryError:
        raise
    except (TypeError, ValueError, RuntimeError):
        # it refuses the precision: what it takes will do, with less to tell apart
        exact = _copied((check.args, check.kwargs))
    inputs = tuple(t for t in tensors_in(exact) if t.requires_grad)
    double = all(t.dtype in (taeda.float64, taeda.complex128) for t in inputs)
    loose: dict[str, Any] = {} if double else {"eps": 1e-2, "atol": 5e-2, "rtol": 5e-2}
    fast = sum(t.numel() for t in inputs) > 400
    from taeda.autograd import gradcheck  # upward: without it nothing requires grad

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of single precision, which is known here
        gradcheck(
            lambda *values: _differentiable(_with(check, exact, values)),
            inputs,
            fast_mode=fast,
            check_undefined_grad=False,
            **loose,
        )


def _as_double(tensor: Tensor) -> Tensor:
    precise = {taeda.float32: taeda.float64, taeda.complex64: taeda.complex128}
    copy = _copy(tensor).detach().to(precise.get(tensor.dtype, tensor.dtype))
    return copy.requires_grad_(tensor.requires_grad)


def _with(check: _Check, exact: Any, values: tuple[Tensor, ...]) -> Any:
    """The results with `values` in place of the arguments that require grad."""
    rest = iter(values)
    args, kwargs = _mapped(exact, lambda t: next(rest) if t.requires_grad else t)
    return check.op(*args, **kwargs)


def _differentiable(results: Any) -> tuple[Tensor, ...]:
    return tuple(t for t in tensors_in(results) if t.is_floating_point() or t.is_complex())


_TESTS: dict[str, Callable[[_Check], None]] = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd_registration,
    "test_faketensor": _test_faketensor,
    "test_aot_dispatch_dynamic": _test_dispatch,
}
