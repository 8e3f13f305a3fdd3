"""Factorizations on a CUDA device, by CuPy, and how their failures are told."""

from __future__ import annotations


def test_factorizations(run):
    run("""
square = lambda t: t[..., :5] @ t[..., :5].mT + taeda.eye(5, dtype=t.dtype, device=t.device)
both(lambda t: taeda.linalg.svdvals(t))
both(lambda t: taeda.linalg.qr(t)[1].abs())
both(lambda t: taeda.linalg.eigvalsh(square(t)))
both(lambda t: taeda.linalg.det(square(t)))
both(lambda t: taeda.linalg.slogdet(square(t)))
both(lambda t: taeda.linalg.inv(square(t)))
both(lambda t: taeda.linalg.solve(square(t)[0], t))
both(lambda t: taeda.linalg.lu_factor(square(t)))
both(lambda t: taeda.linalg.lu(t)[0])
both(lambda t: taeda.linalg.cholesky(square(t), upper=True))
both(lambda t: taeda.linalg.solve_triangular(square(t).triu(), t, upper=True))
both(lambda t: taeda.linalg.pinv(t))
both(lambda t: taeda.linalg.matrix_rank(t))
both(lambda t: taeda.geqrf(t))
both(lambda t: taeda.linalg.householder_product(*taeda.geqrf(t.mT)))
for driver in ("gels", "gelsy", "gelsd"):
    for side in (lambda t: t, lambda t: t.mT):
        here = taeda.linalg.lstsq(side(c), side(c)[..., :1] * 2 + 1, driver=driver)
        there = taeda.linalg.lstsq(side(x), side(x)[..., :1] * 2 + 1, driver=driver)
        close(tuple(there), tuple(here))
low = taeda.ones(2, 4, 3, dtype=x.dtype, device=x.device)
assert taeda.linalg.lstsq(low, low, driver="gelsd").rank.tolist() == [1, 1]
values, vectors = taeda.linalg.eig(square(x) + x[..., :5])
turned = (square(c) + c[..., :5]).to(taeda.complex128)
assert taeda.allclose(turned @ vectors.cpu(), vectors.cpu() * values.cpu()[:, None])
assert taeda.allclose(vectors.cpu().abs().square().sum(-2), taeda.ones(2, 5, dtype=c.dtype))
again = taeda.linalg.eigvals(square(x) + x[..., :5])
assert taeda.allclose(again.cpu(), values.cpu()) and again.device == x.device
w = square(x).detach().requires_grad_()
taeda.linalg.det(w).sum().backward()
here = square(c).requires_grad_()
taeda.linalg.det(here).sum().backward()
close(w.grad, here.grad)
""")


def test_failures_of_factorizations_are_told(run):
    run("""
singular = taeda.diag(taeda.tensor([1.0, 0.0, 2.0, 0.0], device="cuda:1"))
for where in (singular, singular.cpu()):
    assert taeda.linalg.inv_ex(where)[1].item() == 2
    refuses(taeda.linalg.LinAlgError, "singular", lambda: taeda.linalg.inv(where))
for signs, order in (((1, 1, 1, 1), 0), ((-1, 1, 1, 1), 1), ((1, 1, -1, 1), 3), ((1, 1, 1, -1), 4)):
    definite = taeda.diag(taeda.tensor(signs, dtype=taeda.float32, device="cuda:1"))
    assert taeda.linalg.cholesky_ex(definite)[1].item() == order
    assert taeda.linalg.cholesky_ex(definite.cpu())[1].item() == order
refuses(NotImplementedError, "no LU without exchanges", lambda: taeda.linalg.lu_factor(x, pivot=False))
refuses(RuntimeError, "", lambda: taeda.linalg.inv(x))
for shape in ((0, 0), (2, 0, 0), (0, 3, 3)):
    empty = taeda.ones(shape, device="cuda:1")
    for made, wanted in zip(taeda.linalg.inv_ex(empty), taeda.linalg.inv_ex(empty.cpu())):
        assert made.tolist() == wanted.tolist()
    assert taeda.linalg.cholesky_ex(empty)[1].tolist() == taeda.linalg.cholesky_ex(empty.cpu())[1].tolist()
""")
