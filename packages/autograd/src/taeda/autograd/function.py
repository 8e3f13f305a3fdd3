"""Custom Functions: a forward and a backward written by the user, as one node of the graph."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import DUAL, TRANSFORM, call_user

from . import _forward_function as forward_function
from . import _function_maps
from ._function_ctx import BackwardCFunction, FunctionCtx

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]


class Function:
    """Base of custom Functions: subclass it with static methods `forward` and `backward`, and call `apply`.

    Args:
        *args, **kwargs: none: making an instance raises RuntimeError, since `apply` makes the call.

    >>> class Double(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> x = taeda.ones(1, requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"{type(self).__name__} should not be instantiated. Methods on autograd functions are "
            f"all static: call {type(self).__name__}.apply(...)"
        )

    @classmethod
    def _own(cls, name: str) -> bool:
        return getattr(cls, name) is not getattr(Function, name)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; first argument is ctx unless `setup_context` is defined."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
        """(output, out_dims) of all samples, which lie along `in_dims` of the arguments (None: shared)."""
        raise NotImplementedError(
            "implement the vmap staticmethod, or set generate_vmap_rule = True"
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill ctx after a forward without ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    # with `**_` a type checker takes any parameters after ctx as those of an override; nothing is
    # ever passed there
    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any, **_: Any) -> Any:
        """Gradients of the inputs, one per argument of forward, None where there is none."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any, **_: Any) -> Any:
        """Another name of backward."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any, **_: Any) -> Any:
        """Tangents of the outputs, from one tangent per argument of forward; it runs right after forward."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward, and record one node for it.
        Inside of vmap the class says how (`vmap`, `generate_vmap_rule`).
        """
        if _core.get_layers() & TRANSFORM and (level := _function_maps.level_of(args)) is not None:
            return _function_maps.apply(cls, level, args, kwargs)
        ctx = BackwardCFunction()
        ctx._function = cls
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        record = taeda.is_grad_enabled() and any(ctx.needs_input_grad)
        tangents = forward_function.tangents_of(args)
        derived = record or tangents is not None
        with _core.Switches(grad=False, hide=DUAL), _function_maps.all_apart(derived):
            output = _run_forward(cls, ctx, args, kwargs)
        if derived:
            _function_maps.refuse_made(output)
        made = _wrap_outputs(ctx, args, output, record)
        if tangents is not None:
            forward_function.set_tangents(ctx, cls.jvp, args, tangents, made)
        ctx._for_forward = None
        return made


def _run_forward(
    cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if cls._own("setup_context"):
        output = call_user(cls, cls.forward, *args, **kwargs)
        call_user(cls, cls.setup_context, ctx, args, output)
        return output
    return call_user(cls, cls.forward, ctx, *args, **kwargs)


def _wrap_outputs(ctx: FunctionCtx, args: tuple[Any, ...], output: Any, record: bool) -> Any:
    outputs = output if isinstance(output, tuple) else (output,)
    for dirty in ctx._dirty:
        if not any(o is dirty for o in outputs):
            raise RuntimeError(
                "A tensor that was marked dirty (modified in-place) must be returned from forward()"
            )
        if record:
            _core.check_inplace(dirty, ctx._name())
        dirty._bump_version()
    made = tuple(_fresh(ctx, args, o, record) for o in outputs)
    if record:
        _set_graph(ctx, args, made, outputs)
    return made if isinstance(output, tuple) else made[0]


def _fresh(ctx: FunctionCtx, args: tuple[Any, ...], output: Any, record: bool) -> Any:
    """The object to return: an input that came back unchanged, or a view of one, gets an object of
    its own.
    """
    if not isinstance(output, Tensor) or any(output is d for d in ctx._dirty):
        return output
    if any(output is a for a in args) and record:
        return output.detach()
    return output


def _differentiable(ctx: FunctionCtx, made: Any, original: Any) -> bool:
    if not isinstance(made, Tensor) or any(original is f for f in ctx._fixed):
        return False
    return made.is_floating_point() or made.is_complex()


def _facts(output: Tensor) -> tuple[Any, Any, Any]:
    """Shape, dtype and device; the shape that the handle claims, as nested tensors may refuse theirs."""
    shape: Any = Tensor.shape
    return shape.__get__(output), output.dtype, output.device


def _set_graph(
    ctx: FunctionCtx, args: tuple[Any, ...], made: tuple[Any, ...], originals: tuple[Any, ...]
) -> None:
    import weakref

    node = _core.python_node(ctx, args, len(made))
    ctx._node = weakref.ref(node)  # the node owns the context
    ctx._outputs = [_facts(o) if isinstance(o, Tensor) else None for o in made]
    for number, (out, original) in enumerate(zip(made, originals, strict=True)):
        if not _differentiable(ctx, out, original):
            if isinstance(out, Tensor):
                _core.set_output_meta(node, number, out)
                if out.requires_grad and out.is_leaf:
                    out.requires_grad_(False)
            continue
        if any(original is d for d in ctx._dirty) and out._is_view():
            place = next(i for i, a in enumerate(args) if a is original)
            _core.rebase_history(node, place, out, number)
            continue
        _core.set_history(node, number, out)
    _save(ctx, node, made, originals)


def _save(ctx: FunctionCtx, node: Any, made: tuple[Any, ...], originals: tuple[Any, ...]) -> None:
    for tensor in ctx._to_save or ():
        place = next(
            (i for i, o in enumerate(originals) if o is tensor and tensor is not None), None
        )
        if tensor is None:
            ctx._saved.append(None)
        elif place is not None and _differentiable(ctx, made[place], originals[place]):
            ctx._saved.append(_core.save_for_node(made[place], True))
        else:
            ctx._saved.append(_core.save_for_node(tensor, False))
    ctx._to_save = None


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a backward whose own derivative does not exist: a second differentiation through it is
    an error.

    >>> class Double(taeda.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @taeda.autograd.function.once_differentiable
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> x = taeda.ones(2, requires_grad=True)
    >>> Double.apply(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """

    @functools.wraps(function)
    def run(ctx: Any, *gradients: Any) -> Any:
        with taeda.no_grad():
            made = call_user(None, function, ctx, *gradients)
        if not taeda.is_grad_enabled() or not any(
            isinstance(g, Tensor) and g.requires_grad for g in gradients
        ):
            return made
        outputs = made if isinstance(made, tuple) else (made,)
        guarded = tuple(
            _Refuse.apply(o, *gradients) if isinstance(o, Tensor) else o for o in outputs
        )
        return guarded if isinstance(made, tuple) else guarded[0]

    return run


class _Refuse(Function):
    """Passes a value on, and refuses to be differentiated."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, *sources: Any) -> Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


# ---- older bases ----


class InplaceFunction(Function, FunctionCtx):
    """A Function of older programs, whose instances say whether they write in place.

    >>> class AddOne(InplaceFunction):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.mark_dirty(x)
    ...         return x.add_(1)
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad
    >>> AddOne(inplace=True).inplace
    True
    >>> x = taeda.zeros(2)
    >>> AddOne.apply(x) is x
    True
    """

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


class NestedIOFunction(Function, FunctionCtx):
    """A Function whose arguments and results are lists, tuples and dicts of tensors, nested.

    A subclass has `forward_extended(ctx, *args)` and `backward_extended(ctx, *gradients)`, which
    see the nested forms; gradients come and go in the forms of the results and of the arguments.

    >>> class Swap(NestedIOFunction):
    ...     @staticmethod
    ...     def forward_extended(ctx, pair):
    ...         return {"a": pair[1] * 2, "b": pair[0]}
    ...     @staticmethod
    ...     def backward_extended(ctx, gradients):
    ...         return ((gradients["b"], gradients["a"] * 2),)
    >>> x = taeda.ones(1, requires_grad=True)
    >>> out = Swap.apply((x, x))
    >>> (out["a"] + out["b"]).backward()
    >>> x.grad
    tensor([3.])
    """

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """`forward_extended` on the arguments, as one node of the graph."""
        flat, inputs = _leaves(args)
        form: list[Any] = []
        made = _Nested.apply(cls, inputs, form, kwargs, *flat)
        return _filled(form[0], iter(made))

    @staticmethod
    def forward_extended(*args: Any, **kwargs: Any) -> Any:
        """The results, from the arguments as they were given."""
        raise NotImplementedError("a NestedIOFunction needs forward_extended")

    @staticmethod
    def backward_extended(ctx: Any, *gradients: Any) -> Any:
        """The gradients of the arguments, in their forms, from those of the result, in its form."""
        raise NotImplementedError("a NestedIOFunction needs backward_extended")


class _Leaf:
    """Where a tensor stood in a nested form."""


_LEAF = _Leaf()


def _leaves(value: Any) -> tuple[list[Any], Any]:
    """The tensors of a nested value in order, and its form without them."""
    if isinstance(value, Tensor):
        return [value], _LEAF
    if isinstance(value, dict):
        parts = [_leaves(each) for each in value.values()]
        form: Any = dict(zip(value, (p[1] for p in parts), strict=True))
    elif isinstance(value, (list, tuple)):
        parts = [_leaves(each) for each in value]
        form = type(value)(p[1] for p in parts)
    else:
        return [], value
    return [leaf for p in parts for leaf in p[0]], form


def _filled(form: Any, leaves: Any) -> Any:
    if form is _LEAF:
        return next(leaves)
    if isinstance(form, dict):
        return {key: _filled(each, leaves) for key, each in form.items()}
    if isinstance(form, (list, tuple)):
        return type(form)(_filled(each, leaves) for each in form)
    return form


def _gradients(form: Any, made: Any) -> list[Any]:
    """Gradients in the form of the arguments, one for each tensor there; None stands for none below it."""
    if form is _LEAF:
        return [made]
    if isinstance(form, dict):
        return [g for k, each in form.items() for g in _gradients(each, made and made[k])]
    if isinstance(form, (list, tuple)):
        given = made if made is not None else [None] * len(form)
        return [g for each, one in zip(form, given, strict=True) for g in _gradients(each, one)]
    return []


class _Nested(Function):
    """The node of a NestedIOFunction: flat tensors in, flat tensors out."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        cls, inputs, form, kwargs, *flat = args
        made = call_user(cls, cls.forward_extended, ctx, *_filled(inputs, iter(flat)), **kwargs)
        leaves, outputs = _leaves(made)
        form.append(outputs)
        ctx._nested = cls, inputs, outputs
        return tuple(leaves)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        cls, inputs, outputs = ctx._nested
        made = call_user(cls, cls.backward_extended, ctx, _filled(outputs, iter(gradients)))
        made = made if isinstance(made, tuple) else (made,)
        return (None, None, None, None, *_gradients(inputs, made))
