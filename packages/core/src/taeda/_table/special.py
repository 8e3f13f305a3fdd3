"""Special functions that stand in the namespace of their own only, and the incomplete gamma functions."""

from __future__ import annotations

from ._row import op

SPECIAL = {"variants": "function out", "namespace": "special"}

# ---- Bessel functions ----
op("i0(Tensor self) -> Tensor", pointwise="float", cost=30.0, variants="function method inplace out",
   doc="Modified Bessel function of the first kind and order 0.")
for _name, _doc in (
    ("i0e", "i0(x) exp(-|x|)."), ("i1", "Modified Bessel function of the first kind and order 1."),
    ("i1e", "i1(x) exp(-|x|)."),
    ("bessel_j0", "Bessel function of the first kind and order 0."),
    ("bessel_j1", "Bessel function of the first kind and order 1."),
    ("bessel_y0", "Bessel function of the second kind and order 0."),
    ("bessel_y1", "Bessel function of the second kind and order 1."),
    ("modified_bessel_k0", "Modified Bessel function of the second kind and order 0."),
    ("modified_bessel_k1", "Modified Bessel function of the second kind and order 1."),
    ("scaled_modified_bessel_k0", "modified_bessel_k0(x) exp(x)."),
    ("scaled_modified_bessel_k1", "modified_bessel_k1(x) exp(x)."),
    ("spherical_bessel_j0", "sin(x) / x, 1 at zero."), ("airy_ai", "Airy's function Ai."),
):  # fmt: skip
    _input = "x" if "bessel" in _name or "airy" in _name else "self"
    op(f"{_name}(Tensor {_input}) -> Tensor", pointwise="float", cost=40.0, **SPECIAL, doc=_doc)
for _name, _loop, _doc in (("modified_bessel_i0", "i0", "The same as i0."),
    ("modified_bessel_i1", "i1", "The same as i1.")):
    op(f"{_name}(Tensor self) -> Tensor", pointwise="float", loop=_loop, cost=30.0, **SPECIAL, doc=_doc)

# ---- probability ----
for _name, _doc in (
    ("ndtr", "The share of a normal distribution below each element."),
    ("log_ndtr", "Logarithm of ndtr, exact far to the left."),
    ("ndtri", "Inverse of ndtr."), ("erfcx", "exp(x^2) erfc(x)."),
    ("entr", "-x log(x); 0 at zero, -infinity below."),
):  # fmt: skip
    op(f"{_name}(Tensor self) -> Tensor", pointwise="float", cost=20.0, **SPECIAL, doc=_doc)
op("xlog1py(Tensor self, Tensor other) -> Tensor", pointwise="float", check="two_numbers", cost=2.0,
   numbers="self other", **SPECIAL,
   doc="self times log1p of other; 0 where self is 0.")
op("zeta(Tensor self, Tensor other) -> Tensor", pointwise="float", check="two_numbers", cost=100.0,
   numbers="self other", **SPECIAL,
   doc="Hurwitz's zeta function: the sum of 1 / (other + k)^self over k = 0, 1, ...")
for _name, _doc in (("igamma", "Regularised lower incomplete gamma function."),
    ("igammac", "1 - igamma, exact where that is small.")):
    op(f"{_name}(Tensor self, Tensor other) -> Tensor", pointwise="float", cost=60.0, numbers="",
       variants="function method inplace out", doc=_doc)
op("_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", pointwise="float", cost=150.0,
   numbers="", variants="function",
   doc="How samples of the gamma distribution of shapes `self` move with the shapes, their places "
       "among all samples kept.")

# ---- orthogonal polynomials, of an order that is an element, too ----
_CHEBYSHEV = (("chebyshev_polynomial_t", "first"), ("chebyshev_polynomial_u", "second"),
              ("chebyshev_polynomial_v", "third"), ("chebyshev_polynomial_w", "fourth"))  # fmt: skip
_HERMITE = ("; above order 10,000 it is infinite, and NaN where its sign is not known: between the outermost "
            "zeros, but for x = 0")
_LAGUERRE = "; above order 10,000 it is NaN between n x = 160 and the last zero"
_AT = "Chebyshev's polynomial of the {} kind and order n at {}"
for _name, _doc in (
    *((_of, _AT.format(_kind, "x")) for _of, _kind in _CHEBYSHEV),
    *((f"shifted_{_of}", _AT.format(_kind, "2 x - 1")) for _of, _kind in _CHEBYSHEV),
    ("hermite_polynomial_h", "The physicists' Hermite polynomial of order n at x" + _HERMITE),
    ("hermite_polynomial_he", "The probabilists' Hermite polynomial of order n at x" + _HERMITE),
    ("laguerre_polynomial_l", "Laguerre's polynomial of order n at x" + _LAGUERRE),
    ("legendre_polynomial_p", "Legendre's polynomial of order n at x"),
):
    op(f"{_name}(Tensor x, Tensor n) -> Tensor", pointwise="float", check="two_numbers", cost=60.0,
       numbers="x n", **SPECIAL, doc=f"{_doc}.")
for _name, _doc in (
    ("gegenbauer", "Gegenbauer's polynomial. Its slope is 2 alpha times that of order n - 1 and alpha + 1."),
    ("laguerre", "Laguerre's generalized polynomial. Its slope is less that of order n - 1 and alpha + 1."),
):
    op(f"_{_name}_polynomial(Tensor x, Tensor n, Scalar alpha) -> Tensor", pointwise="float",
       check="two_numbers", cost=100.0, numbers="x n", variants="function", namespace="nn", doc=_doc)
