"""Where a function has no slope, or is written with a quotient that has none, all ways of taking its
derivative agree: backward, forward mode, and backward through backward.
"""

from __future__ import annotations

import math

import pytest

import taeda
from taeda import func

F = pytest.importorskip("taeda.nn.functional")

X = taeda.tensor([1.0, 2.0, 3.0], dtype=taeda.float64)
T = taeda.tensor([1.0, 10.0, 100.0], dtype=taeda.float64)
ONES = taeda.ones(3, dtype=taeda.float64)
PLACES = taeda.tensor([0, 0, 1])


def z(x):
    """Zeros that have the derivative of x."""
    return x - x.detach()


CASES = {
    "std": lambda x: z(x).std(),
    "std of rows": lambda x: z(x).std(0, keepdim=True),
    "std_mean": lambda x: taeda.std_mean(z(x))[0],
    "var": lambda x: z(x).var(),
    **{f"norm {p}": lambda x, p=p: z(x).norm(p) for p in (0, 0.5, 1, 1.5, 2, 2.5, 3, math.inf)},
    "normalize": lambda x: F.normalize(z(x), dim=0),
    "cosine": lambda x: F.cosine_similarity(z(x), x, dim=0),
    "distance": lambda x: F.pairwise_distance(z(x), z(x) * 2, eps=0.0),
    "cdist": lambda x: taeda.cdist(z(x)[None], z(x)[None] * 2),
    "cdist by products": lambda x: taeda.cdist(
        z(x).expand(30, 3), z(x).expand(30, 3), compute_mode="use_mm_for_euclid_dist"
    ),
    "pdist": lambda x: F.pdist(taeda.stack([z(x), z(x) * 2])),
    "hypot": lambda x: taeda.hypot(z(x), z(x)),
    "atan2": lambda x: taeda.atan2(z(x), z(x)),
    "abs": lambda x: z(x).abs(),
    "complex abs": lambda x: taeda.complex(z(x), z(x)).abs(),
    "complex sgn": lambda x: taeda.complex(z(x), z(x)).sgn().real,
    "angle": lambda x: taeda.complex(z(x), z(x)).angle(),
    "renorm": lambda x: z(x)[None].renorm(2, 0, 1.0),
    "xlogy": lambda x: taeda.xlogy(z(x), x),
    "xlogy of zeros": lambda x: taeda.xlogy(z(x), z(x).detach()),
    "xlogy by a number": lambda x: taeda.xlogy(z(x), 0.0),
    "xlog1py": lambda x: taeda.special.xlog1py(z(x), z(x).detach() - 1),
    "pow": lambda x: z(x) ** z(x),
    "pow by numbers": lambda x: z(x) ** ONES.mul(0),
    "pow of a number": lambda x: 0.0 ** z(x),
    "square": lambda x: z(x) ** 2,
    "copysign": lambda x: taeda.copysign(z(x), x),
    "logit": lambda x: taeda.logit(z(x), 0.1),
    "maximum": lambda x: taeda.maximum(z(x), z(x) * 2),
    "amax": lambda x: z(x).amax(),
    "max": lambda x: z(x).max(),
    "median": lambda x: z(x).median(),
    "quantile": lambda x: z(x).quantile(0.5),
    "sort": lambda x: z(x).sort()[0],
    "cummax": lambda x: z(x).cummax(0)[0],
    "clamp": lambda x: z(x).clamp(0, 1),
    **{
        name: lambda x, name=name: getattr(F, name)(z(x))
        for name in ("relu", "relu6", "leaky_relu", "elu", "celu", "gelu", "mish", "softplus")
    },
    "prelu": lambda x: F.prelu(z(x), ONES[:1] / 4),
    "hardshrink": lambda x: F.hardshrink(z(x) + 0.5),
    "smooth_l1": lambda x: F.smooth_l1_loss(z(x) + 1, ONES * 0, reduction="none"),
    "huber": lambda x: F.huber_loss(z(x) + 1, ONES * 0, reduction="none"),
    "bce of logits": lambda x: F.binary_cross_entropy_with_logits(z(x), ONES, pos_weight=ONES * 2),
    "gaussian": lambda x: F.gaussian_nll_loss(z(x), x, z(x)),
    "triplet": lambda x: F.triplet_margin_loss(z(x)[None], z(x)[None] * 2, z(x)[None] * 3),
    "prod": lambda x: z(x).prod(),
    "cumprod": lambda x: (z(x) + taeda.tensor([0.0, 2.0, 3.0])).cumprod(0),
    "sinc": lambda x: taeda.sinc(z(x)),
    "logsumexp": lambda x: taeda.logsumexp(z(x), 0),
    "det": lambda x: taeda.linalg.det(taeda.diag(z(x) + taeda.tensor([0.0, 1.0, 2.0]))),
    "layer_norm": lambda x: F.layer_norm(z(x), (3,)),
    "rms_norm": lambda x: F.rms_norm(z(x), (3,)),
    "batch_norm": lambda x: F.batch_norm(z(x)[:, None], None, None, training=True),
    "lp_pool": lambda x: F.lp_pool1d(z(x)[None], 2, 2),
    "max_pool": lambda x: F.max_pool1d(z(x)[None], 2, 1),
    **{
        f"scatter_reduce {how}": lambda x, how=how: ONES.scatter_reduce(0, PLACES, z(x), how)
        for how in ("sum", "prod", "mean", "amax")
    },
    "where": lambda x: taeda.where(z(x) == 0, z(x) * 2, z(x)),
}


@pytest.mark.parametrize("name", CASES)
def test_all_ways_agree_where_there_is_no_slope(name):
    function = CASES[name]
    forward = func.jvp(function, (X,), (T,))[1]
    x = X.clone().requires_grad_()
    y = function(x)
    weights = taeda.linspace(1, 2, y.numel(), dtype=y.dtype).reshape(y.shape).requires_grad_()
    (grad,) = taeda.autograd.grad(y, x, weights, create_graph=True, materialize_grads=True)
    taeda.testing.assert_close((forward * weights).sum(), (grad * T).sum(), msg=name)
    if grad.requires_grad:  # of the gradient by its weights: the forward derivative again
        (twice,) = taeda.autograd.grad(grad, weights, T, retain_graph=True, materialize_grads=True)
        taeda.testing.assert_close(twice, forward, msg=name)


INPLACE = {
    **{
        name: lambda y, name=name: getattr(y, name)(y)
        for name in ("add_", "sub_", "mul_", "div_", "pow_", "atan2_", "hypot_", "xlogy_", "copy_")
    },
    **{
        f"{name} of a view": lambda y, name=name: getattr(y, name)(y.view(3))
        for name in ("add_", "mul_", "div_", "pow_", "fmod_", "ldexp_", "xlogy_")
    },
    "a view by its base": lambda y: y.view(3, 1).mul_(y.view(3, 1)),
    "a part by another": lambda y: y[:2].mul_(y[1:].clone()),
    "a number by its neighbour": lambda y: y[:1].mul_(y[1:2]),
    "add_ with alpha": lambda y: y.add_(y, alpha=3),
    "lerp_": lambda y: y.lerp_(y * y, y),
    "addcmul_": lambda y: y.addcmul_(y, y.view(3), value=2),
    "addcdiv_": lambda y: y.addcdiv_(y, y.view(3)),
    "addmv_": lambda y: y.addmv_(taeda.eye(3, dtype=taeda.float64) + 1, y),
    "addmm_": lambda y: y.view(1, 3).addmm_(y.view(1, 3), taeda.ones(3, 3, dtype=taeda.float64)),
    "index_add_": lambda y: y.index_add_(0, taeda.tensor([2, 1, 0]), y.clone()),
    "index_put_": lambda y: y.index_put_((taeda.tensor([0]),), y[1:2] * y[0]),
    "clamp_": lambda y: y.clamp_(min=y * 0.5),
}


@pytest.mark.parametrize("name", INPLACE)
def test_a_write_of_a_tensor_by_itself_has_its_tangent(name):
    def function(x):
        y = x * 0.3
        INPLACE[name](y)
        return y + 0

    step = 1e-6
    wanted = (function(X + step * T) - function(X - step * T)) / (2 * step)
    made = func.jvp(function, (X,), (T,))[1]
    taeda.testing.assert_close(made, wanted, rtol=1e-5, atol=1e-5)
