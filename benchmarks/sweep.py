"""The cases of `builds.py`: every kind of kernel, on about a million elements.
`cases(lib)` gives name -> call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

Table = dict[str, Callable[[], object]]
N = 1 << 20
SIDE = 1024

UNARY = """
    abs neg exp log sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh atanh erf erfc erfinv
    lgamma digamma sigmoid floor ceil round trunc frac sign reciprocal log1p log2 log10 expm1 exp2
    square isnan isfinite logical_not relu i0 sinc deg2rad
""".split()
UNARY_SHORT = "abs neg relu sigmoid exp tanh sqrt square".split()
BINARY_FLOAT = "atan2 hypot copysign logaddexp xlogy pow div".split()
BINARY = """add sub mul maximum minimum fmax fmin fmod remainder eq ne lt le gt ge floor_divide""".split()
LOGIC = "bitwise_and bitwise_or bitwise_xor logical_and".split()
ACTIVATIONS = """
    gelu silu softplus elu selu leaky_relu hardtanh hardswish hardsigmoid mish logsigmoid softsign
    tanhshrink relu6 celu
""".split()
REDUCTIONS = """sum mean prod amax amin argmax argmin all any logsumexp std var median max min
cumsum cumprod cummax logcumsumexp softmax log_softmax sort argsort nansum count_nonzero""".split()
DTYPES = "float32 float64 int64 int32 uint8 bfloat16 float16 bool complex64".split()
OPTIMIZERS: dict[str, list[dict[str, Any]]] = {
    "SGD": [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}],
    "Adam": [{}, {"weight_decay": 0.1}, {"amsgrad": True}],
    "RMSprop": [{}, {"momentum": 0.9, "centered": True}],
    **{name: [{}] for name in "AdamW NAdam RAdam Adagrad Adadelta Adamax Rprop ASGD".split()},
}


def cases(lib: Any) -> Table:
    """Every case of every group below, with its numbers drawn."""
    lib.manual_seed(0)
    data = draw(lib)
    table: Table = {}
    for group in (
        pointwise,
        casts,
        reductions,
        copies,
        indexing,
        layers,
        losses,
        drawn,
        optim,
        other,
    ):
        group(lib, data, table)
    return table


def draw(lib: Any) -> SimpleNamespace:
    x, y = lib.rand(N) * 0.9 + 0.05, lib.rand(N) + 0.5
    m, k = x.view(SIDE, SIDE), y.view(SIDE, SIDE)
    return SimpleNamespace(
        x=x,
        y=y,
        m=m,
        k=k,
        ints=(x * 100).long(),
        more=(y * 10).long() + 1,
        bools=x > 0.5,
        cube=x.view(64, 128, 128),
        rows=lib.randint(0, SIDE, (SIDE,)),
        complex=lib.complex(x, y),
        places=lib.randint(0, SIDE, (SIDE, SIDE)),
    )


def call(function: Callable[..., object], *args: Any, **options: Any) -> Callable[[], object]:
    return functools.partial(function, *args, **options)


def slope(lib: Any, function: Callable[[], Any], leaf: Any) -> Callable[[], object]:
    return lambda: lib.autograd.grad(function().sum(), leaf)


def pointwise(lib: Any, d: Any, table: Table) -> None:
    for name in UNARY:
        f = getattr(lib, name)
        table[name], table[f"{name} float64"] = call(f, d.x), call(f, d.x.double())
    for name in UNARY_SHORT:
        f = getattr(lib, name)
        table[f"{name} bfloat16"] = call(f, d.x.bfloat16())
        table[f"{name} float16"] = call(f, d.x.half())
        table[f"{name} transposed"] = call(f, d.m.t())
    for name in BINARY_FLOAT + BINARY:
        f = getattr(lib, name, None) or getattr(lib.special, name)
        table[name], table[f"{name} float64"] = (
            call(f, d.x, d.y),
            call(f, d.x.double(), d.y.double()),
        )
        table[f"{name} row"], table[f"{name} column"] = (
            call(f, d.m, d.k[0]),
            call(f, d.m, d.k[:, :1]),
        )
        table[f"{name} transposed"] = call(f, d.m, d.k.t())
    for name in BINARY:
        f = getattr(lib, name)
        table[f"{name} int64"] = call(f, d.ints, d.more)
        table[f"{name} int32"] = call(f, d.ints.int(), d.more.int())
        table[f"{name} bfloat16"] = call(f, d.x.bfloat16(), d.y.bfloat16())
    for name in LOGIC:
        table[name] = call(getattr(lib, name), d.ints, d.more)
        table[f"{name} bool"] = call(getattr(lib, name), d.bools, d.bools)
    for name in ACTIVATIONS:
        f, leaf = getattr(lib.nn.functional, name), (d.x - 0.5).requires_grad_()
        table[name], table[f"{name} slope"] = call(f, d.x - 0.5), slope(lib, call(f, leaf), leaf)
    table["addcmul"], table["addcdiv"] = (
        call(lib.addcmul, d.x, d.x, d.y),
        call(lib.addcdiv, d.x, d.x, d.y),
    )
    table["lerp"], table["clamp"] = call(lib.lerp, d.x, d.y, 0.3), call(lib.clamp, d.x, 0.2, 0.7)
    table["where"] = call(lib.where, d.bools, d.x, d.y)
    table["cross"] = call(lib.linalg.cross, d.x[: N - 1].view(-1, 3), d.y[: N - 1].view(-1, 3))
    for name in "abs exp conj_physical mul".split():
        args = (d.complex,) * (1 + (name == "mul"))
        table[f"{name} complex64"] = call(getattr(lib, name), *args)


def casts(lib: Any, d: Any, table: Table) -> None:
    for source in DTYPES:
        given = (d.ints if source in ("int64", "int32", "uint8") else d.x).to(getattr(lib, source))
        for target in DTYPES:
            if source != "complex64" or target == source:
                to = getattr(lib, target)
                table[f"{source} to {target}"] = functools.partial(given.to, to, copy=True)


def reductions(lib: Any, d: Any, table: Table) -> None:
    for name in REDUCTIONS:
        f = getattr(lib, name)
        for dim in (0, 1):
            table[f"{name} dim {dim}"] = call(f, d.m, dim=dim)
            if name in "sum mean amax argmax prod cumsum softmax std".split():
                table[f"{name} dim {dim} float64"] = call(f, d.m.double(), dim=dim)
                table[f"{name} dim {dim} bfloat16"] = call(f, d.m.bfloat16(), dim=dim)
            if name in "sum prod amax argmax sort cumsum".split():
                table[f"{name} dim {dim} int64"] = call(f, d.ints.view(SIDE, SIDE), dim=dim)
    for name in "sum amax mean argmax softmax cumsum std".split():
        table[f"{name} of the middle"] = call(getattr(lib, name), d.cube, dim=1)
    for dim in (0, 1):
        table[f"aminmax dim {dim}"] = call(lib.aminmax, d.m, dim=dim)
        table[f"norm dim {dim}"] = call(lib.norm, d.m, dim=dim)
    leaf = d.m.clone().requires_grad_()
    for name in "cumsum cumprod prod amax std norm softmax log_softmax".split():
        table[f"{name} slope"] = slope(lib, call(getattr(lib, name), leaf, dim=1), leaf)
    table["sort slope"] = slope(lib, lambda: lib.sort(leaf, 1)[0], leaf)


def copies(lib: Any, d: Any, table: Table) -> None:
    for dtype in "float32 bfloat16 float64 uint8".split():
        table[f"transpose {dtype}"] = d.m.to(getattr(lib, dtype)).t().contiguous
    table["permute 2 0 1"] = d.cube.permute(2, 0, 1).contiguous
    table["permute 1 0 2"] = d.cube.permute(1, 0, 2).contiguous
    table["every second"] = d.m[:, ::2].contiguous
    for dim in (0, 1):
        table[f"flip {dim}"], table[f"roll {dim}"] = call(d.m.flip, dim), call(d.m.roll, 3, dim)
    table["cat"], table["stack"] = call(lib.cat, [d.m, d.k], 1), call(lib.stack, [d.m, d.k], -1)
    table["repeat"], table["tril"] = call(d.m.repeat, 1, 2), call(lib.tril, d.m)
    table["repeat_interleave"] = call(lib.repeat_interleave, d.m, 2, 1)
    for mode in "constant reflect replicate circular".split():
        table[f"pad {mode}"] = call(lib.nn.functional.pad, d.cube, (1, 1), mode=mode)
    table["clone"], table["zeros"], table["full"] = (
        d.x.clone,
        call(lib.zeros, N),
        call(lib.full, (N,), 2.0),
    )
    table["arange"], table["linspace"] = call(lib.arange, N), call(lib.linspace, 0, 1, N)


def indexing(lib: Any, d: Any, table: Table) -> None:
    for dim in (0, 1):
        table[f"gather {dim}"] = call(lib.gather, d.m, dim, d.places)
        table[f"index_select {dim}"] = call(d.m.index_select, dim, d.rows)
    table["m[rows]"] = lambda: d.m[d.rows]
    table["m[mask]"], table["masked_fill"] = (
        lambda: d.x[d.bools],
        call(d.x.masked_fill, d.bools, 0.0),
    )
    table["scatter_add"] = lambda: lib.zeros(SIDE, SIDE).scatter_add_(1, d.places, d.m)
    table["index_add"] = lambda: lib.zeros(SIDE, SIDE).index_add_(0, d.rows, d.m)
    table["nonzero"], table["take"] = d.bools.nonzero, call(lib.take, d.x, d.places)
    table["embedding"] = call(lib.nn.functional.embedding, d.rows, d.m)
    table["bincount"], table["histc"] = call(lib.bincount, d.ints), call(lib.histc, d.x, 64)
    sorted_row = d.m[0].sort()[0]
    table["searchsorted"], table["unique"] = (
        call(lib.searchsorted, sorted_row, d.x),
        call(lib.unique, d.ints),
    )
    table["topk"], table["kthvalue"] = call(d.m.topk, 10, 1), call(d.m.kthvalue, 10, 1)


def layers(lib: Any, d: Any, table: Table) -> None:
    f, w = lib.nn.functional, lib.ones(SIDE, requires_grad=True)
    m, image = d.m.clone().requires_grad_(), d.x.view(16, 16, 64, 64).clone().requires_grad_()
    w16, mean, var = lib.ones(16, requires_grad=True), lib.zeros(16), lib.ones(16)
    over_rows = {
        "layer_norm": lambda: f.layer_norm(m, (SIDE,), w, w),
        "rms_norm": lambda: f.rms_norm(m, (SIDE,), w),
        "glu": lambda: f.glu(m, 1),
    }
    over_images = {
        "batch_norm": lambda: f.batch_norm(image, mean, var, w16, w16, True),
        "batch_norm eval": lambda: f.batch_norm(image, mean, var, w16, w16, False),
        "group_norm": lambda: f.group_norm(image, 4, w16, w16),
        "instance_norm": lambda: f.instance_norm(image),
        "max_pool2d 2": lambda: f.max_pool2d(image, 2),
        "max_pool2d 3": lambda: f.max_pool2d(image, 3, 2, 1),
        "avg_pool2d 2": lambda: f.avg_pool2d(image, 2),
        "avg_pool2d 3": lambda: f.avg_pool2d(image, 3, 1, 1),
        "adaptive_avg_pool2d": lambda: f.adaptive_avg_pool2d(image, 7),
        "adaptive_max_pool2d": lambda: f.adaptive_max_pool2d(image, 7),
        "lp_pool2d": lambda: f.lp_pool2d(image, 2, 2),
        "local_response_norm": lambda: f.local_response_norm(image, 5),
        "interpolate bilinear": lambda: f.interpolate(image, scale_factor=2, mode="bilinear"),
        "interpolate nearest": lambda: f.interpolate(image, scale_factor=2),
        "unfold": lambda: f.unfold(image, 3),
        "pixel_shuffle": lambda: f.pixel_shuffle(image, 2),
        "prelu": lambda: f.prelu(image - 0.5, w16),
    }
    for leaf, group in ((m, over_rows), (image, over_images)):
        for name, run in group.items():
            table[name], table[f"{name} slope"] = run, slope(lib, run, leaf)
    q = d.cube.view(1, 64, 128, 128).clone().requires_grad_()
    attention = call(f.scaled_dot_product_attention, q, q, q)
    table["attention"], table["attention slope"] = attention, slope(lib, attention, q)


def losses(lib: Any, d: Any, table: Table) -> None:
    f, m = lib.nn.functional, d.m.clone().requires_grad_()
    for name in "mse_loss l1_loss smooth_l1_loss huber_loss kl_div cosine_similarity".split():
        run = call(getattr(f, name), m, d.k)
        table[name], table[f"{name} slope"] = run, slope(lib, run, m)
    for name in "binary_cross_entropy binary_cross_entropy_with_logits".split():
        run = call(getattr(f, name), m, d.m)
        table[name], table[f"{name} slope"] = run, slope(lib, run, m)
    run = call(f.cross_entropy, m, d.rows)
    table["cross_entropy"], table["cross_entropy slope"] = run, slope(lib, run, m)


def drawn(lib: Any, d: Any, table: Table) -> None:
    table["rand"], table["randn"] = call(lib.rand, N), call(lib.randn, N)
    table["randint"], table["randperm"] = call(lib.randint, 0, 10, (N,)), call(lib.randperm, N)
    table["bernoulli"], table["dropout"] = (
        call(lib.bernoulli, d.x),
        call(lib.nn.functional.dropout, d.x, 0.5),
    )
    table["multinomial"] = call(lib.multinomial, d.m, 10, True)
    table["exponential_"] = lib.empty(N).exponential_


def optim(lib: Any, d: Any, table: Table) -> None:
    for name, forms in OPTIMIZERS.items():
        for options in forms:
            p = lib.rand(N).requires_grad_()
            p.grad = lib.rand(N) - 0.5
            optimizer = getattr(lib.optim, name)([p], lr=0.01, **options)
            optimizer.step()
            table[" ".join([name, *options])] = optimizer.step
    p = lib.rand(N).requires_grad_()
    p.grad = lib.rand(N)
    table["clip_grad_norm_"] = call(lib.nn.utils.clip_grad_norm_, [p], 1e9)


def other(lib: Any, d: Any, table: Table) -> None:
    table["fft"] = call(lib.fft.fft, d.complex.view(SIDE, SIDE))
    table["rfft"] = call(lib.fft.rfft, d.m)
    table["cdist"], table["pdist"] = (
        call(lib.cdist, d.m[:, :64], d.k[:, :64]),
        call(lib.nn.functional.pdist, d.m[:300, :64]),
    )
    table["outer"], table["kron"] = (
        call(lib.outer, d.m[0], d.k[0]),
        call(lib.kron, d.m[:32, :32], d.k[:32, :32]),
    )
    table["trace"], table["dot"] = call(lib.trace, d.m), call(lib.dot, d.x, d.y)
    table["mv"], table["mv transposed"] = call(lib.mv, d.m, d.k[0]), call(lib.mv, d.m.t(), d.k[0])
    table["mm bfloat16"] = call(lib.mm, d.m.bfloat16(), d.k.bfloat16()[:, :64])
    table["mm int64"] = call(lib.mm, d.ints.view(SIDE, SIDE)[:64], d.more.view(SIDE, SIDE)[:, :64])
