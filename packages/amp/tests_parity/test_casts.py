"""The type of every listed operation's result under autocast on the cpu, and of some that are not
listed, against torch's.
"""

from __future__ import annotations

import pytest
import torch

import taeda

KINDS = ("float32", "low", "float64")


class Given:
    """Arguments of one library, the floating-point ones in one type."""

    def __init__(self, library, kind, low):
        self.lib, self.F = library, library.nn.functional
        self.dtype = getattr(library, low if kind == "low" else kind)
        library.manual_seed(0)

    def __call__(self, *shape):
        return self.lib.rand(*shape).to(self.dtype)

    def square(self):
        m = self.lib.rand(4, 4, dtype=self.lib.float64)
        return (m @ m.T + 4 * self.lib.eye(4, dtype=self.lib.float64)).to(self.dtype)

    def single(self, *shape):
        return self.lib.rand(*shape)

    def index(self, *values):
        return self.lib.tensor(values)


def conv(d, name):
    shape = (6,) * d
    return lambda g: getattr(g.F, name)(g(1, 2, *shape), g(2, 2, *(3,) * d))


LISTED = {
    "mm": lambda g: g(2, 3).mm(g(3, 2)),
    "bmm": lambda g: g(2, 3, 4).bmm(g(2, 4, 3)),
    "matmul": lambda g: g(2, 3) @ g(3, 2),
    "matmul vectors": lambda g: g.lib.matmul(g(3), g(3)),
    "mixed types": lambda g: (
        g(2, 3) @ g.single(3, 2) if g.dtype != g.lib.float64 else g(1, 1) @ g(1, 1)
    ),
    "addmm": lambda g: g.lib.addmm(g(2, 2), g(2, 3), g(3, 2)),
    "addbmm": lambda g: g.lib.addbmm(g(3, 3), g(2, 3, 4), g(2, 4, 3)),
    "baddbmm": lambda g: g.lib.baddbmm(g(2, 3, 3), g(2, 3, 4), g(2, 4, 3)),
    "einsum": lambda g: g.lib.einsum("ij,jk->ik", g(2, 3), g(3, 2)),
    "linear": lambda g: g.F.linear(g(2, 3), g(4, 3), g(4)),
    "vecdot": lambda g: g.lib.linalg.vecdot(g(2, 3), g(2, 3)),
    "prelu": lambda g: g.F.prelu(g(2, 3), g(1)),
    "attention": lambda g: g.F.scaled_dot_product_attention(
        g(1, 2, 3, 4), g(1, 2, 3, 4), g(1, 2, 3, 4)
    ),
    **{f"conv{d}d": conv(d, f"conv{d}d") for d in (1, 2, 3)},
    **{f"conv_transpose{d}d": conv(d, f"conv_transpose{d}d") for d in (1, 2, 3)},
    "chain_matmul": lambda g: g.lib.linalg.multi_dot([g(2, 3), g(3, 4), g(4, 2)]),
    "tensordot": lambda g: g.lib.tensordot(g(2, 3), g(3, 2), 1),
    "avg_pool3d": lambda g: g.F.avg_pool3d(g(1, 1, 4, 4, 4), 2),
    "adaptive_avg_pool3d": lambda g: g.F.adaptive_avg_pool3d(g(1, 1, 4, 4, 4), 2),
    "adaptive_max_pool3d": lambda g: g.F.adaptive_max_pool3d(g(1, 1, 4, 4, 4), 2),
    "max_pool3d": lambda g: g.F.max_pool3d(g(1, 1, 4, 4, 4), 2),
    "max_unpool2d": lambda g: g.F.max_unpool2d(g(1, 1, 1, 1), g.index(0).reshape(1, 1, 1, 1), 2),
    "max_unpool3d": lambda g: g.F.max_unpool3d(
        g(1, 1, 1, 1, 1), g.index(0).reshape(1, 1, 1, 1, 1), 2
    ),
    "fractional_max_pool2d": lambda g: g.F.fractional_max_pool2d(
        g(1, 1, 6, 6), 2, output_size=2, _random_samples=g(1, 1, 2)
    ),
    "fractional_max_pool3d": lambda g: g.F.fractional_max_pool3d(
        g(1, 1, 6, 6, 6), 2, output_size=2, _random_samples=g(1, 1, 3)
    ),
    "grid_sample": lambda g: g.F.grid_sample(g(1, 1, 4, 4), g(1, 2, 2, 2), align_corners=False),
    "grid_sample 3d": lambda g: g.F.grid_sample(
        g(1, 1, 4, 4, 4), g(1, 2, 2, 2, 3), align_corners=False
    ),
    **{
        f"pad {mode} {d}": lambda g, mode=mode, d=d: g.F.pad(
            g(1, 1, *(4,) * d), (1, 1) * d, mode=mode
        )
        for mode, d in (
            ("reflect", 1),
            ("reflect", 2),
            ("replicate", 1),
            ("replicate", 2),
            ("replicate", 3),
        )
    },
    "polar": lambda g: g.lib.polar(g(3), g(3)),
    "prod": lambda g: g(3).prod(),
    "prod dim": lambda g: g(3, 2).prod(1),
    "quantile": lambda g: g.lib.quantile(g(5), 0.5),
    "nanquantile": lambda g: g.lib.nanquantile(g(5), 0.5),
    "cdist": lambda g: g.lib.cdist(g(2, 3), g(4, 3)),
    "trace": lambda g: g(3, 3).trace(),
    "view_as_complex": lambda g: g.lib.view_as_complex(g(3, 2)),
    "stft": lambda g: g.lib.stft(g(32), 8, return_complex=True, window=g.lib.ones(8)),
    "cholesky": lambda g: g.lib.linalg.cholesky(g.square()),
    "cholesky_ex": lambda g: g.lib.linalg.cholesky_ex(g.square())[0],
    "cholesky_inverse": lambda g: g.lib.cholesky_inverse(g.square()),
    "inverse": lambda g: g.square().inverse(),
    "inv": lambda g: g.lib.linalg.inv(g.square()),
    "inv_ex": lambda g: g.lib.linalg.inv_ex(g.square())[0],
    "pinverse": lambda g: g.square().pinverse(),
    "solve": lambda g: g.lib.linalg.solve(g.square(), g(4, 1)),
    "svd": lambda g: g.lib.linalg.svd(g.square())[1],
    "old svd": lambda g: g.lib.svd(g.square())[1],
    "svdvals": lambda g: g.lib.linalg.svdvals(g.square()),
    "eig": lambda g: g.lib.linalg.eig(g.square())[0],
    "eigh": lambda g: g.lib.linalg.eigh(g.square())[0],
    "eigvals": lambda g: g.lib.linalg.eigvals(g.square()),
    "eigvalsh": lambda g: g.lib.linalg.eigvalsh(g.square()),
    "qr": lambda g: g.lib.linalg.qr(g.square())[0],
    "lstsq": lambda g: g.lib.linalg.lstsq(g.square(), g(4, 1))[0],
    "cond": lambda g: g.lib.linalg.cond(g.square()),
    "matrix_rank": lambda g: g.lib.linalg.matrix_rank(g.square()),
    "tensorinv": lambda g: g.lib.linalg.tensorinv(g.square(), ind=1),
    "tensorsolve": lambda g: g.lib.linalg.tensorsolve(g.square(), g(4)),
    **{
        name: lambda g, name=name: getattr(g.lib.fft, name)(g(4, 4))
        for name in "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft".split()
    },
    "mse_loss": lambda g: g.F.mse_loss(g(3), g(3)),
    "l1_loss": lambda g: g.F.l1_loss(g(3), g(3)),
    "smooth_l1_loss": lambda g: g.F.smooth_l1_loss(g(3), g(3)),
    "huber_loss": lambda g: g.F.huber_loss(g(3), g(3)),
    "nll_loss": lambda g: g.F.nll_loss(g(2, 3), g.index(0, 1)),
    "nll_loss2d": lambda g: g.F.nll_loss(g(1, 3, 2, 2), g.lib.zeros(1, 2, 2, dtype=g.lib.int64)),
    "cross_entropy": lambda g: g.F.cross_entropy(g(2, 3), g.index(0, 1)),
    "cross_entropy of probabilities": lambda g: g.F.cross_entropy(g(2, 3), g(2, 3)),
    "binary_cross_entropy": lambda g: g.F.binary_cross_entropy(g(3), g(3)),
    "with logits": lambda g: g.F.binary_cross_entropy_with_logits(g(3), g(3)),
    "kl_div": lambda g: g.F.kl_div(g(3), g(3), reduction="sum"),
    "poisson_nll_loss": lambda g: g.F.poisson_nll_loss(g(3), g(3)),
    "cosine_embedding_loss": lambda g: g.F.cosine_embedding_loss(g(2, 3), g(2, 3), g.index(1, -1)),
    "hinge_embedding_loss": lambda g: g.F.hinge_embedding_loss(g(2), g.index(1, -1)),
    "margin_ranking_loss": lambda g: g.F.margin_ranking_loss(g(2), g(2), g.index(1, -1)),
    "soft_margin_loss": lambda g: g.F.soft_margin_loss(g(2), g.index(1, -1)),
    "triplet_margin_loss": lambda g: g.F.triplet_margin_loss(g(2, 3), g(2, 3), g(2, 3)),
    "multi_margin_loss": lambda g: g.F.multi_margin_loss(g(2, 3), g.index(0, 1)),
    "multilabel_margin_loss": lambda g: g.F.multilabel_margin_loss(
        g(1, 3), g.index(0, -1, 1).reshape(1, 3)
    ),
    "ctc_loss": lambda g: g.F.ctc_loss(
        g(5, 1, 3).log(), g.index(1, 2).reshape(1, 2), g.index(5), g.index(2)
    ),
    "cat": lambda g: g.lib.cat([g(2), g(2)]),
    "cat mixed": lambda g: g.lib.cat([g(2), g.single(2)]),
    "stack": lambda g: g.lib.stack([g(2), g(2)]),
    "stack mixed": lambda g: g.lib.stack([g(2), g.single(2)]) if g.dtype != g.lib.float64 else g(1),
    "index_copy": lambda g: g(3).index_copy(0, g.index(1), g(1)),
}

UNLISTED = {
    "softmax": lambda g: g(3).softmax(0),
    "log_softmax": lambda g: g(3).log_softmax(0),
    "layer_norm": lambda g: g.F.layer_norm(g(2, 3), (3,)),
    "group_norm": lambda g: g.F.group_norm(g(2, 4, 3), 2),
    "norm": lambda g: g(3).norm(),
    "sum": lambda g: g(3).sum(),
    "exp": lambda g: g(3).exp(),
    "pow": lambda g: g(3) ** 2,
    "cumsum": lambda g: g(3).cumsum(0),
    "mv": lambda g: g(2, 3).mv(g(3)),
    "dot": lambda g: g(3).dot(g(3)),
    "add mixed": lambda g: g(3) + g.single(3),
    "avg_pool2d": lambda g: g.F.avg_pool2d(g(1, 1, 4, 4), 2),
    "gelu": lambda g: g.F.gelu(g(3)),
    "prod with dtype": lambda g: g(3).prod(dtype=g.lib.float64),
    "addmm in place": lambda g: g(2, 2).addmm_(g(2, 3), g(3, 2)),
    "mm out": lambda g: g.lib.mm(g(2, 3), g(3, 2), out=g(2, 2)),
    "integers": lambda g: g.lib.ones(2, 2, dtype=g.lib.int64) @ g.lib.ones(2, 2, dtype=g.lib.int64),
}


def answer(library, call, kind, low):
    with library.autocast("cpu", dtype=getattr(library, low)):
        return str(call(Given(library, kind, low)).dtype).split(".")[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("low", ["bfloat16", "float16"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", (LISTED | UNLISTED).values(), ids=LISTED | UNLISTED)
def test_the_same_type(call, kind, low):
    try:
        theirs = answer(torch, call, kind, low)
    except RuntimeError as error:
        pytest.skip(f"torch, the oracle, has no answer in this type: {error}")
    assert answer(taeda, call, kind, low) == theirs


MODULES = {
    "LSTM": lambda lib: lib.nn.LSTM(3, 4),
    "GRU": lambda lib: lib.nn.GRU(3, 4),
    "RNN": lambda lib: lib.nn.RNN(3, 4),
    "attention": lambda lib: lib.nn.TransformerEncoderLayer(3, 1, 4, dropout=0.0),
}


@pytest.mark.parametrize("make", MODULES.values(), ids=MODULES)
def test_modules(make):
    found = []
    for lib in (torch, taeda):
        lib.manual_seed(0)
        module = make(lib)
        try:
            with lib.autocast("cpu"):
                made = module(lib.rand(5, 2, 3))
        except RuntimeError as error:
            if lib is torch and "could not create a primitive" in str(error):
                pytest.skip("PyTorch has no bfloat16 kernel of this layer for this processor")
            raise
        out = made[0] if isinstance(made, tuple) else made
        out.float().sum().backward()
        found.append(
            (
                str(out.dtype).split(".")[1],
                {str(p.grad.dtype) for p in module.parameters()} == {f"{lib.__name__}.float32"},
            )
        )
    assert found[0] == found[1]


REFUSED = {
    "unknown device": lambda lib: lib.autocast("fpga2"),
    "no string": lambda lib: lib.autocast(3),
    "no string fwd": lambda lib: lib.amp.custom_fwd(device_type=3),
    "growth": lambda lib: lib.amp.GradScaler("cpu", growth_factor=1.0),
    "backoff": lambda lib: lib.amp.GradScaler("cpu", backoff_factor=1.0),
    "update first": lambda lib: lib.amp.GradScaler("cpu").update(),
    "load empty": lambda lib: lib.amp.GradScaler("cpu").load_state_dict({}),
    "scale a number": lambda lib: lib.amp.GradScaler("cpu").scale(3),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_the_same_refusals(call):
    with pytest.raises((RuntimeError, ValueError, AssertionError, TypeError)) as theirs:
        call(torch)
    with pytest.raises(theirs.type):
        call(taeda)
