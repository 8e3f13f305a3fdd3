"""Elementwise operations: one result element per element of the broadcast operands.

Loops lie in csrc/cpu/pointwise: unary, unary_real, special, complex_math, binary, binary_real,
compare, ternary, logical, bitwise. Activation functions have a table of their own. `cost` is about
nanoseconds per element; it decides when threads are worth it.
"""

from __future__ import annotations

from ._row import op

ALL = "function method inplace out"


def unary(name: str, doc: str, promotion: str = "float", *, cost: float = 1.0, variants: str = ALL,
    **more: str) -> None:
    op(f"{name}(Tensor self) -> Tensor", pointwise=promotion, cost=cost, variants=variants, doc=doc, **more)


def binary(name: str, doc: str, promotion: str = "same", *, cost: float = 0.5, variants: str = ALL,
    **more: str) -> None:
    """`name` may carry an overload: eq.Tensor."""
    op(f"{name}(Tensor self, Tensor other) -> Tensor", pointwise=promotion, cost=cost,
       variants=variants, doc=doc, **more)


# ---- arithmetic ----
op("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", pointwise="same",
   check="alpha", cost=0.3, variants=ALL,
   numbers="self other", doc="Sum of self and alpha times other.")
op("sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", pointwise="same",
   check="difference", cost=0.3, variants=ALL,
   numbers="self other", aliases="subtract", doc="Difference of self and alpha times other.")
op("rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", pointwise="same",
   check="difference", cost=0.3,
   variants="function", doc="Difference of other and alpha times self.")
binary("mul.Tensor", "Product.", cost=0.3, numbers="self other", aliases="multiply")
binary("div.Tensor", "True quotient; integers give the default float.", "float", numbers="self other",
       aliases="divide true_divide")
op("div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", c="div_mode",
   writes_out=True, device="any",
   variants=ALL, numbers="self other", aliases="divide", tags="casts_out takes_numbers",
   names="unify", doc="Quotient, rounded to zero ('trunc') or down ('floor').")
binary("floor_divide", "Quotient rounded down.", numbers="self other", cost=2.0, check="divisor")
binary("remainder.Tensor", "What is left by floor division; it has the sign of other.",
       numbers="self other", cost=2.0, check="remainder")
binary("fmod.Tensor", "What is left by division rounded to zero; it has the sign of self.",
       cost=2.0, check="divisor")
op("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", pointwise="same", check="power",
   cost=2.0, variants=ALL,
   numbers="self exponent", doc="self to the power of exponent.")
op("float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", c="float_power", loop="pow",
   writes_out=True, variants=ALL, device="any",
   numbers="self exponent", tags="casts_out takes_numbers", names="unify",
   doc="Power computed in double precision.")
binary("maximum", "Larger of two, NaN if either is.", numbers="", cost=0.3, tags="rounds_numbers")
binary("minimum", "Smaller of two, NaN if either is.", numbers="", cost=0.3, tags="rounds_numbers")
binary("fmax", "Larger of two; a NaN gives way to a number.", variants="function method out", numbers="",
       tags="rounds_numbers")
binary("fmin", "Smaller of two; a NaN gives way to a number.", variants="function method out", numbers="",
       tags="rounds_numbers")
binary("atan2", "Angle of the point (other, self).", "float", cost=2.0, numbers="", aliases="arctan2")
binary("hypot", "Length of the vector (self, other).", cost=1.0, numbers="")
binary("copysign.Tensor", "Magnitude of self with the sign of other.", "float", tags="rounds_numbers")
binary("nextafter", "Neighbouring number of self towards other.", cost=2.0, numbers="",
       tags="rounds_numbers")
op("ldexp.Tensor(Tensor self, Tensor other) -> Tensor", composite=True, variants=ALL,
   names="unify", doc="self times two to the power of other.")
binary("logaddexp", "Logarithm of the sum of two exponentials.", cost=4.0,
       variants="function method out", numbers="")
binary("logaddexp2", "The same to base 2.", cost=4.0, variants="function method out", numbers="")
binary("xlogy.Tensor", "self times the logarithm of other; 0 where self is 0.", "float", cost=2.0,
       numbers="self other", check="two_numbers")
op("heaviside(Tensor self, Tensor values) -> Tensor", pointwise="same", check="same_dtypes",
   variants=ALL, numbers="", tags="rounds_numbers",
   doc="0 below zero, 1 above, `values` at zero.")
binary("gcd", "Greatest common divisor.", cost=20.0, numbers="")
binary("lcm", "Least common multiple.", cost=20.0, numbers="")

# ---- signs and rounding ----
unary("neg", "Change of sign.", "same", cost=0.3, aliases="negative", check="negation")
unary("abs", "Magnitude.", "real", cost=0.3, aliases="absolute")
unary("sign", "-1, 0 or 1; of bools, themselves.", "same", cost=0.3)
unary("sgn", "Sign, or of a complex number its direction.", "same", cost=0.3)
unary("square", "Product with itself.", "same", cost=0.3, check="square")
unary("floor", "Largest integer not above.", "same", cost=0.3)
unary("ceil", "Smallest integer not below.", "same", cost=0.3)
unary("trunc", "Integer part.", "same", cost=0.3, aliases="fix")
unary("frac", "What trunc takes away.", "same", cost=0.3)
unary("round", "Nearest integer, ties to even.", "same", cost=0.3)
op("round.decimals(Tensor self, *, int decimals) -> Tensor", pointwise="same",
   loop="round_decimals", variants=ALL,
   doc="Nearest number with so many decimal places.")
op("positive(Tensor(a) self) -> Tensor(a)", composite=True, names="keep",
doc="The tensor itself; refuses bools.")
unary("signbit", "Is the sign bit set?", "bool", variants="function method out", cost=0.3)
op("conj_physical(Tensor(a) self) -> Tensor(a)", composite=True, variants=ALL,
   names="keep", doc="Complex conjugate, computed at once; of real numbers the tensor itself.")
unary("_conj_physical", "Complex conjugate in memory of its own.", "same", cost=0.3,
      variants="function", loop="conj_physical")
unary("angle", "Direction of a complex number; 0 or pi of a real one.", "real",
      variants="function method out", cost=10.0, check="angle")
op("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
   pointwise="same",
   variants=ALL, doc="Numbers for NaN and the infinities: 0 and the extremes of the dtype unless given.")

# ---- exponentials, logarithms, roots ----
unary("exp", "e to the power of each element.")
unary("exp2", "2 to the power of each element.")
unary("expm1", "exp(x) - 1, exact for small x.")
unary("log", "Natural logarithm.")
unary("log2", "Logarithm to base 2.")
unary("log10", "Logarithm to base 10.")
unary("log1p", "log(1 + x), exact for small x.")
unary("sqrt", "Square root.", cost=0.5)
unary("rsqrt", "Reciprocal of the square root.", cost=0.7)
unary("reciprocal", "1 over each element.", cost=0.5)

# ---- trigonometry ----
unary("sin", "Sine.")
unary("cos", "Cosine.")
unary("tan", "Tangent.", cost=1.5)
unary("asin", "Inverse sine.", cost=1.5, aliases="arcsin")
unary("acos", "Inverse cosine.", cost=1.5, aliases="arccos")
unary("atan", "Inverse tangent.", cost=1.5, aliases="arctan")
unary("sinh", "Hyperbolic sine.", cost=1.5)
unary("cosh", "Hyperbolic cosine.", cost=1.5)
unary("tanh", "Hyperbolic tangent.")
unary("asinh", "Inverse hyperbolic sine.", cost=2.0, aliases="arcsinh")
unary("acosh", "Inverse hyperbolic cosine.", cost=2.0, aliases="arccosh")
unary("atanh", "Inverse hyperbolic tangent.", cost=2.0, aliases="arctanh")
unary("deg2rad", "Degrees to radians.", cost=0.3)
unary("rad2deg", "Radians to degrees.", cost=0.3)

# ---- special functions ----
unary("erf", "Error function.")
unary("erfc", "1 - erf(x), exact for large x.", cost=2.0)
unary("erfinv", "Inverse of erf.", cost=8.0)
unary("lgamma", "Logarithm of the magnitude of the gamma function.", cost=20.0)
unary("digamma", "Derivative of lgamma.", cost=30.0)
op("polygamma(int n, Tensor self) -> Tensor", pointwise="float", check="order", cost=100.0,
   variants="function out",
   doc="Derivative of order n + 1 of lgamma.")
op("polygamma.of(Tensor self, int n) -> Tensor", pointwise="float", check="order", loop="polygamma",
   cost=100.0, variants="method inplace",
   doc="The same, as x.polygamma(n).")
op("mvlgamma(Tensor self, int p) -> Tensor", composite=True, variants=ALL, doc="lgamma for p dimensions.")
op("frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)", python=True, variants="function method out",
   doc="The number as a mantissa of [0.5, 1) times a power of two.")
unary("sinc", "sin(pi x) / (pi x), 1 at zero.", cost=1.5)

# ---- tests and comparisons ----
unary("isnan", "Is it NaN?", "bool", variants="function method", cost=0.3)
unary("isinf", "Is it infinite?", "bool", variants="function method", cost=0.3)
unary("isfinite", "Is it neither infinite nor NaN?", "bool", variants="function method", cost=0.3)
unary("isposinf", "Is it positive infinity?", "bool", variants="function method out", cost=0.3)
unary("isneginf", "Is it negative infinity?", "bool", variants="function method out", cost=0.3)
op("isreal(Tensor self) -> Tensor", composite=True, names="keep", doc="Is the imaginary part zero?")
for _name, _alias, _doc in [
    ("eq", "", "Equal?"),
    ("ne", "not_equal", "Different?"),
    ("lt", "less", "Less?"),
    ("le", "less_equal", "Less or equal?"),
    ("gt", "greater", "Greater?"),
    ("ge", "greater_equal", "Greater or equal?"),
]:
    binary(f"{_name}.Tensor", _doc, "compare", cost=0.4, aliases=_alias, check="number_of_any_size")

# ---- truth values and bits ----
unary("logical_not", "Is it zero?", "bool", cost=0.3)
binary("logical_and", "Are both true?", "bool", numbers="")
binary("logical_or", "Is one true?", "bool", numbers="")
binary("logical_xor", "Is exactly one true?", "bool", numbers="")
unary("bitwise_not", "Every bit flipped; of bools, not.", "same", cost=0.3)
binary("bitwise_and.Tensor", "Bits set in both.", cost=0.3, numbers="self other", check="two_numbers")
binary("bitwise_or.Tensor", "Bits set in either.", cost=0.3, numbers="self other", check="two_numbers")
binary("bitwise_xor.Tensor", "Bits set in exactly one.", cost=0.3, numbers="self other", check="two_numbers")
binary("bitwise_left_shift.Tensor", "Bits moved up; zeros come in.", numbers="self other",
       check="two_numbers")
binary("bitwise_right_shift.Tensor", "Bits moved down; the sign is kept.", numbers="self other",
       check="two_numbers")
for _name, _target in [("and", "and"), ("or", "or"), ("xor", "xor"), ("lshift", "left_shift"),
    ("rshift", "right_shift")]:
    op(f"__{_name}__(Tensor self, Tensor other) -> Tensor", pointwise="same",
       loop=f"bitwise_{_target}", check="two_numbers",
       variants="function method", doc="Python's operator.")

# ---- selection and combinations of three ----
op("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", c="where", writes_out=True,
   device="any", numbers="self other", tags="takes_numbers",
   variants="function out", names="unify", doc="self where the condition holds, else other.")
op("clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", pointwise="same",
   check="clamp", cost=0.4, variants=ALL,
   numbers="min max", aliases="clip", tags="rounds_numbers",
   doc="Limited to [min, max]; max wins if the two cross.")
op("clamp_min(Tensor self, Tensor min) -> Tensor", pointwise="same", check="fits", cost=0.3,
   variants=ALL, tags="rounds_numbers", doc="Not below min.")
op("clamp_max(Tensor self, Tensor max) -> Tensor", pointwise="same", check="fits", cost=0.3,
   variants=ALL, tags="rounds_numbers", doc="Not above max.")
op("lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", pointwise="same",
   check="same_dtypes", variants=ALL, numbers="weight",
   doc="Straight line from self (weight 0) to end (weight 1).")
op("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
   pointwise="same", check="value", variants=ALL,
   numbers="", doc="self + value * tensor1 * tensor2.")
op("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
   pointwise="same", check="not_integral", variants=ALL,
   numbers="", doc="self + value * tensor1 / tensor2.")
