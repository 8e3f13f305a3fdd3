"""Special functions and functions of complex numbers on the stand-in driver, without CuPy: the first
have the processor's bits, the second lie within its last places (tools/cuda/device_text.py says how many).
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

START = (
    """
import taeda
S = taeda.special
taeda.manual_seed(0)
inf, nan = float("inf"), float("nan")
odd = taeda.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.5, 40.0, -7.25, 800.0, inf, -inf, nan])
x = taeda.cat([odd, taeda.randn(90) * 4]).double()
def same(what, f, *tensors):
    made, wanted = f(*[t.cuda() for t in tensors]), f(*tensors)
    assert made.device.type == "cuda" and made.dtype == wanted.dtype, what
    back = made.cpu()
    equal = (back == wanted) & (back.signbit() == wanted.signbit()) | back.isnan() & wanted.isnan()
    assert equal.all(), (what, tensors[0].dtype, back[~equal][:3], wanted[~equal][:3])
"""
    + standin.REFUSES
)

ALONE = """
names = '''i0 i0e i1 i1e erfcx erfinv ndtr ndtri log_ndtr entr digamma gammaln sinc logit
    bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0
    modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0
    airy_ai'''.split()
for dtype in (taeda.float32, taeda.float64, taeda.bfloat16, taeda.float16):
    t = x.to(dtype)
    for name in names:
        for layout in (t, t[1:].reshape(6, 17).t()):
            same(name, getattr(S, name), layout)
same("of integers", taeda.lgamma, taeda.arange(-3, 9))
same("in place", lambda t: t.clone().digamma_(), x)
same("out", lambda t: taeda.lgamma(t, out=taeda.empty(0, dtype=t.dtype, device=t.device)), x)
same("foreach", lambda t: taeda._foreach_lgamma([t, t[:3]])[0], x)
for f in (taeda.lgamma, taeda.digamma, S.erfinv, S.i0, S.ndtri, taeda.sinc, S.log_ndtr):
    def slope(t):
        leaf = (t.detach() * 0.1).requires_grad_()
        f(leaf).sum().backward()
        return leaf.grad
    same("the gradient", slope, x)
same("kaiser", lambda t: taeda.kaiser_window(17, device=t.device) + t[0], taeda.zeros(1))
whole = taeda.empty(0, dtype=taeda.int64, device="cuda")
refuses(RuntimeError, "can't be cast", lambda: taeda.lgamma(x.cuda(), out=whole))
"""

SEVERAL = """
a, b = x.abs() + 0.1, taeda.rand(len(x)).double() * 9
for dtype in (taeda.float32, taeda.float64, taeda.bfloat16):
    s, t, u = a.to(dtype), b.to(dtype), x.to(dtype)
    for n in (0, 1, 2, 5):
        same(("polygamma", n), lambda v: taeda.polygamma(n, v), u)
    for name in ("zeta", "gammainc", "gammaincc", "xlog1py", "xlogy"):
        same(name, getattr(S, name), s, t)
    same("a number", lambda v: S.zeta(v, 2.0), s)
    order = (s.abs() * 9).nan_to_num(0, 90, 0)
    for name in [name for name in dir(S) if "polynomial" in name]:
        same(name, getattr(S, name), u, order)
        same((name, "of a high order"), lambda v: getattr(S, name)(v, 20001), u)
    same("multigammaln", lambda v: S.multigammaln(v, 2), s + 1)
    angle = taeda.angle(u.cuda())
    assert taeda.equal(angle.cpu().nan_to_num(9), taeda.angle(u).nan_to_num(9)), dtype
"""

COMPLEX = """
for dtype, most in ((taeda.complex64, 1e-5), (taeda.complex128, 1e-13)):
    z = taeda.complex(taeda.randn(200), taeda.randn(200)).to(dtype)
    for name in '''exp expm1 log log1p log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh
            asinh acosh atanh sigmoid reciprocal square sgn neg abs angle conj_physical'''.split():
        f = getattr(taeda, name)
        for t in (z, z.reshape(10, 20).t()[1:]):
            made, wanted = f(t.cuda()), f(t)
            assert made.device.type == "cuda" and made.dtype == wanted.dtype, name
            assert taeda.allclose(made.cpu(), wanted, rtol=most, atol=most), (name, dtype)
    for f in (taeda.pow, taeda.mul, taeda.div):
        made, wanted = f(z.cuda(), z.flip(0).cuda()), f(z, z.flip(0))
        assert taeda.allclose(made.cpu(), wanted, rtol=10 * most, atol=10 * most), f
    norm = taeda.linalg.vector_norm
    assert taeda.allclose(norm(z.cuda()).cpu(), norm(z), rtol=most)
    def step(t):
        leaf = t.detach().requires_grad_()
        (leaf.exp() * leaf.sin()).abs().sum().backward()
        return leaf.grad
    assert taeda.allclose(step(z.cuda()).cpu(), step(z), rtol=100 * most, atol=100 * most)
    for t in (z.isnan(), z.isinf(), z.isfinite()):
        assert t.dtype == taeda.bool
    wrong = taeda.tensor([complex(nan, 1), complex(inf, nan), 1j]).to(dtype)
    for f in (taeda.isnan, taeda.isinf, taeda.isfinite):
        assert taeda.equal(f(wrong.cuda()).cpu(), f(wrong)), f
refuses(NotImplementedError, "cuda:0", lambda: taeda.fft.fft(z.cuda()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [ALONE, SEVERAL, COMPLEX], ids=["alone", "several", "complex"])
def test_without_cupy(program):
    standin.run(START + program, TAEDA_CUDA_FALLBACK="")
