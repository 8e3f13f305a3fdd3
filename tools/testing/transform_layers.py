"""Layers of compositions of transforms: each takes a function of a vector to a vector of that length and
gives another one, once by a transform and once by plain steps (`autograd.grad`, loops) with its result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["LAYERS", "LENGTH", "Function", "Layer"]

Function = Callable[[Any], Any]
# of the library, what is transformed, a constant vector
Layer = Callable[[Any, Function, Any], Function]
LENGTH = 3
FACTORS = (1.0, 0.5, -0.75)


# ---- plain steps ----


def _leaf(x: Any) -> Any:
    """What to differentiate by. It has the tangent of x, and its graph."""
    z = x * 1
    return z if z.requires_grad else z.requires_grad_()


def _back(lib: Any, f: Function, x: Any, c: Any) -> Any:
    """The gradient of <f(x), c>, with a derivative of its own."""
    with lib.enable_grad():
        z = _leaf(x)
        y = f(z)
        if not y.requires_grad:
            return lib.zeros_like(z)
        (g,) = lib.autograd.grad(y, z, c, create_graph=True, allow_unused=True)
    return lib.zeros_like(z) if g is None else g


def _ahead(lib: Any, f: Function, x: Any, t: Any) -> Any:
    """The slope of f at x along t: the gradient is linear in its cotangent."""
    with lib.enable_grad():
        z = _leaf(x)
        v = lib.zeros_like(z).requires_grad_()
        g = _back(lib, f, z, v)
        if not g.requires_grad:
            return lib.zeros_like(z)
        (s,) = lib.autograd.grad(g, v, t, create_graph=True, allow_unused=True)
    return lib.zeros_like(z) if s is None else s


def _vjp_plain(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: _back(lib, f, x, c)


def _jvp_plain(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: _ahead(lib, f, x, c)


def _hessian_plain(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: _ahead(lib, lambda z: _back(lib, f, z, c), x, c)


def _captured_plain(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: _back(lib, f, x, x * c)


def _captured_ahead_plain(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: _ahead(lib, f, x, c) * x


def _mapped_plain(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: sum(f(x * a) * a for a in FACTORS)


def _same(lib: Any, f: Function, c: Any) -> Function:
    return f


def _times(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: f(x) * c


# ---- transforms ----


def _grad(lib: Any, f: Function, c: Any) -> Function:
    return lib.func.grad(lambda z: (f(z) * c).sum())


def _grad_of_a_dict(lib: Any, f: Function, c: Any) -> Function:
    g = lib.func.grad(lambda d, k: (f(d["x"][0]) * d["c"]).sum() * k)
    return lambda x: g({"x": [x], "c": c}, 1.0)["x"][0]


def _grad_and_value(lib: Any, f: Function, c: Any) -> Function:
    g = lib.func.grad_and_value(lambda k, z: ((f(z) * c).sum() * k, z), argnums=1, has_aux=True)
    return lambda x: g(1.0, x)[0]


def _vjp(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.vjp(f, x)[1](c)[0]


def _jvp(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.jvp(f, (x,), (c,))[1]


def _linearize(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.linearize(f, x)[1](c)


def _jacrev(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.jacrev(f)(x) @ c


def _jacrev_chunked(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.jacrev(f, chunk_size=2)(x) @ c


def _jacfwd(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.jacfwd(f, randomness="same")(x).mT @ c


def _hessian(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.hessian(lambda z: (f(z) * c).sum())(x) @ c


def _captured(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.grad(lambda z: (f(z) * x * c).sum())(x)


def _captured_ahead(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.jvp(lambda z: f(z) * x, (x,), (c,))[1]


def _factors(lib: Any, x: Any) -> Any:
    return lib.tensor(FACTORS, dtype=x.dtype)


def _vmap(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: _factors(lib, x) @ lib.func.vmap(f)(lib.outer(_factors(lib, x), x))


def _vmap_across(lib: Any, f: Function, c: Any) -> Function:
    mapped = lib.func.vmap(f, in_dims=1, out_dims=-1)
    return lambda x: mapped(lib.outer(x, _factors(lib, x))) @ _factors(lib, x)


def _vmap_chunked(lib: Any, f: Function, c: Any) -> Function:
    mapped = lib.func.vmap(lambda z, a: f(z) * a, chunk_size=2)
    return lambda x: mapped(lib.outer(_factors(lib, x), x), _factors(lib, x)).sum(0)


def _vmap_captured(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.vmap(lambda a: f(a * x) * a)(_factors(lib, x)).sum(0)


def _vmap_of_a_dict(lib: Any, f: Function, c: Any) -> Function:
    mapped = lib.func.vmap(
        lambda d: (f(d["a"] * d["x"]) * d["a"], d["a"]), in_dims=({"a": 0, "x": None},)
    )
    return lambda x: mapped({"a": _factors(lib, x), "x": x})[0].sum(0)


def _functionalize(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.func.functionalize(f)(x)


def _checkpoint(lib: Any, f: Function, c: Any) -> Function:
    from_utils = lib.utils.checkpoint.checkpoint
    return lambda x: from_utils(f, x, use_reentrant=False)


def _module(lib: Any, f: Function, c: Any) -> Any:
    class Net(lib.nn.Module):  # type: ignore[misc]  # of either library
        def __init__(self) -> None:
            super().__init__()
            self.w = lib.nn.Parameter(lib.ones(LENGTH, dtype=c.dtype))

        def forward(self, x: Any) -> Any:
            return f(x) * self.w

    return Net()


def _functional_call(lib: Any, f: Function, c: Any) -> Function:
    net = _module(lib, f, c)
    return lambda x: lib.func.functional_call(net, {"w": c}, (x,))


def _grad_of_weights(lib: Any, f: Function, c: Any) -> Function:
    net = _module(lib, f, c)
    loss = lib.func.grad(lambda p, x: (lib.func.functional_call(net, p, (x,)) * c).sum())
    return lambda x: loss({"w": x}, x)["w"]


def _ensemble(lib: Any, f: Function, c: Any) -> Function:
    net = _module(lib, f, c)

    def run(x: Any) -> Any:
        weights = {"w": lib.stack([c * 0.25, c * 0.75])}
        return lib.func.vmap(lambda p: lib.func.functional_call(net, p, (x,)))(weights).sum(0)

    return run


def _function(lib: Any, f: Function, c: Any) -> Function:
    class Own(lib.autograd.Function):  # type: ignore[misc]  # of either library
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return f(x).clone()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return lib.func.vjp(f, ctx.saved_tensors[0])[1](g)[0]

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return lib.func.jvp(f, (ctx.saved_tensors[0],), (t,))[1]

    return lambda x: Own.apply(x)


def _by_hand(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: _back(lib, f, x, c)


def _dual(lib: Any, f: Function, c: Any) -> Function:
    def run(x: Any) -> Any:
        ad = lib.autograd.forward_ad
        with ad.dual_level():
            slope = ad.unpack_dual(f(ad.make_dual(x, c))).tangent
            return lib.zeros_like(x) if slope is None else slope

    return run


def _functional(name: str) -> Layer:
    def layer(lib: Any, f: Function, c: Any) -> Function:
        entry = getattr(lib.autograd.functional, name)
        if name == "jacobian":
            return lambda x: entry(f, x, create_graph=True) @ c
        if name == "hessian":
            return lambda x: entry(lambda z: (f(z) * c).sum(), x, create_graph=True) @ c
        if name in ("hvp", "vhp"):
            return lambda x: entry(lambda z: (f(z) * c).sum(), x, c, create_graph=True)[1]
        return lambda x: entry(f, x, c, create_graph=True)[1]

    return layer


def _compiled(lib: Any, f: Function, c: Any) -> Function:
    return lambda x: lib.compile(f)(x)


#: the transform, plain steps with its result
LAYERS: dict[str, tuple[Layer, Layer]] = {
    "grad": (_grad, _vjp_plain),
    "grad of a dict": (_grad_of_a_dict, _vjp_plain),
    "grad_and_value": (_grad_and_value, _vjp_plain),
    "grad with x captured": (_captured, _captured_plain),
    "vjp": (_vjp, _vjp_plain),
    "jvp": (_jvp, _jvp_plain),
    "jvp with x captured": (_captured_ahead, _captured_ahead_plain),
    "linearize": (_linearize, _jvp_plain),
    "jacrev": (_jacrev, _jvp_plain),
    "jacrev in chunks": (_jacrev_chunked, _jvp_plain),
    "jacfwd": (_jacfwd, _vjp_plain),
    "hessian": (_hessian, _hessian_plain),
    "vmap": (_vmap, _mapped_plain),
    "vmap across": (_vmap_across, _mapped_plain),
    "vmap in chunks": (_vmap_chunked, _mapped_plain),
    "vmap with x captured": (_vmap_captured, _mapped_plain),
    "vmap of a dict": (_vmap_of_a_dict, _mapped_plain),
    "functionalize": (_functionalize, _same),
    "checkpoint": (_checkpoint, _same),
    "functional_call": (_functional_call, _times),
    "grad of weights": (_grad_of_weights, _times),
    "ensemble": (_ensemble, _times),
    "Function": (_function, _same),
    "autograd.grad": (_by_hand, _vjp_plain),
    "dual level": (_dual, _jvp_plain),
    "functional.vjp": (_functional("vjp"), _vjp_plain),
    "functional.jvp": (_functional("jvp"), _jvp_plain),
    "functional.jacobian": (_functional("jacobian"), _jvp_plain),
    "functional.hessian": (_functional("hessian"), _hessian_plain),
    "functional.hvp": (_functional("hvp"), _hessian_plain),
    "functional.vhp": (_functional("vhp"), _hessian_plain),
    "compile": (_compiled, _same),
}
