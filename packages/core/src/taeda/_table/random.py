"""Random numbers: factories, samplers in place, and dropout.
Values follow logical order, not layout or threads.
"""

from __future__ import annotations

from ._row import op
from .creation import LIKE, OPTIONS

GENERATOR = "Generator? generator=None"
INTEGERS = OPTIONS.replace("dtype=None", "dtype=long")


def factory(
    schema: str, c: str, doc: str, *, variants: str = "function out", device: str = "", names: str = ""
) -> None:
    """A row that makes a tensor of samples."""
    op(schema, c=c, device=device, variants=variants, random=True, tags="factory", names=names, doc=doc)


def sampler(schema: str, c: str, doc: str) -> None:
    """A row that fills `self` with samples."""
    op(schema, c=c, device="any", variants="method", random=True, names="keep",
    doc=doc)


# ---- factories ----
factory(f"rand(int[] size, *, {GENERATOR}, {OPTIONS}) -> Tensor", "rand", "Uniform in [0, 1).",
        names="make")
factory(f"randn(int[] size, *, {GENERATOR}, {OPTIONS}) -> Tensor", "randn",
        "Normal with mean 0 and variance 1.", names="make")
factory(f"randint(int high, int[] size, *, {GENERATOR}, {INTEGERS}) -> Tensor", "randint",
        "Integers from 0 to high - 1.")
factory(f"randint.low(int low, int high, int[] size, *, {GENERATOR}, {INTEGERS}) -> Tensor", "randint_low",
        "Integers from low to high - 1.")
factory(f"randperm(int n, *, {GENERATOR}, {INTEGERS}) -> Tensor", "randperm", "A random order of 0 to n - 1.")
factory(f"rand_like(Tensor self, *, {GENERATOR}, {LIKE}) -> Tensor", "rand_like",
        "Uniform in [0, 1) in the shape of `self`.", variants="function", device="any",
        names="keep")
factory(f"randn_like(Tensor self, *, {GENERATOR}, {LIKE}) -> Tensor", "randn_like",
        "Standard normal in the shape of `self`.", variants="function", device="any", names="keep")
factory(f"randint_like(Tensor self, int high, *, {GENERATOR}, {LIKE}) -> Tensor", "randint_like",
        "Integers below `high` in the shape of `self`.", variants="function", device="any")
factory(f"randint_like.low_dtype(Tensor self, int low, int high, *, {GENERATOR}, {LIKE}) -> Tensor",
        "randint_like_low",
        "Integers from low to high - 1 in the shape of `self`.", variants="function", device="any")

# ---- normal ----
op(f"normal.Tensor_Tensor(Tensor mean, Tensor std, *, {GENERATOR}) -> Tensor",
   c="normal_tensor_tensor", device="any",
   variants="function out", random=True, tags="casts_out",
   names="unify", doc="Normal, with a mean and a standard deviation for every element.")
op(f"normal.Tensor_float(Tensor mean, float std=1, *, {GENERATOR}) -> Tensor",
   c="normal_tensor_float", device="any",
   variants="function out", random=True, tags="casts_out", names="keep",
   doc="Normal, with a mean for every element.")
op(f"normal.float_Tensor(float mean, Tensor std, *, {GENERATOR}) -> Tensor",
   c="normal_float_tensor", device="any",
   variants="function out", random=True, tags="casts_out",
   names="keep", doc="Normal, with a standard deviation for every element.")
factory(f"normal.float_float(float mean, float std, int[] size, *, {GENERATOR}, {OPTIONS}) -> Tensor",
        "normal_float_float", "Normal, with one mean and one standard deviation.")

# ---- in place ----
sampler(f"uniform_(Tensor(a!) self, float from=0, float to=1, *, {GENERATOR}) -> Tensor(a!)", "uniform_",
        "Fill with numbers uniform in [from, to).")
sampler(f"normal_(Tensor(a!) self, float mean=0, float std=1, *, {GENERATOR}) -> Tensor(a!)", "normal_",
        "Fill with normal numbers.")
sampler(f"log_normal_(Tensor(a!) self, float mean=1, float std=2, *, {GENERATOR}) -> Tensor(a!)",
        "log_normal_",
        "Fill with numbers whose logarithms are normal.")
sampler(f"exponential_(Tensor(a!) self, float lambd=1, *, {GENERATOR}) -> Tensor(a!)", "exponential_",
        "Fill with exponential waiting times of rate lambd; none is 0.")
sampler(f"cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, {GENERATOR}) -> Tensor(a!)", "cauchy_",
        "Fill with numbers of the Cauchy distribution.")
sampler(f"geometric_(Tensor(a!) self, float p, *, {GENERATOR}) -> Tensor(a!)", "geometric_",
        "Fill with numbers of trials up to the first success of probability p.")
sampler(f"random_(Tensor(a!) self, *, {GENERATOR}) -> Tensor(a!)", "random_",
        "Fill with integers from 0 to the largest of the dtype, or the largest that a floating one "
        "counts to exactly.")
sampler(f"random_.to(Tensor(a!) self, int to, *, {GENERATOR}) -> Tensor(a!)", "random_to",
        "Fill with integers from 0 to `to` - 1.")
sampler(f"random_.from(Tensor(a!) self, int from, int? to, *, {GENERATOR}) -> Tensor(a!)", "random_from",
        "Fill with integers from `from` to `to` - 1, or to the largest of the dtype.")

# ---- zeros and ones, counts, choices ----
op(f"bernoulli(Tensor self, *, {GENERATOR}) -> Tensor", c="bernoulli", device="any",
   variants="function method out", random=True, tags="casts_out",
   names="keep", doc="1 with the probability that each element says, else 0.")
op(f"bernoulli.p(Tensor self, float p, *, {GENERATOR}) -> Tensor", c="bernoulli_p", device="any", random=True,
   names="keep", doc="1 with probability p, else 0, in the shape and dtype of `self`.")
sampler(f"bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, {GENERATOR}) -> Tensor(a!)", "bernoulli_tensor_",
        "Fill with 1 with the probability in `p`, else 0.")
sampler(f"bernoulli_.float(Tensor(a!) self, float p=0.5, *, {GENERATOR}) -> Tensor(a!)", "bernoulli_float_",
        "Fill with 1 with probability p, else 0.")
op("poisson(Tensor self, Generator? generator=None) -> Tensor", c="poisson", device="any",
   variants="function", random=True,
   doc="Counts of the Poisson distribution whose rates are the elements.")
op("binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", c="binomial",
   device="any", variants="function", random=True,
   doc="Numbers of successes in `count` trials of probability `prob`.")
op("_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", c="_standard_gamma",
   device="any", variants="function", random=True,
   doc="Samples of the gamma distribution whose shapes are the elements, of rate 1.")
op(f"multinomial(Tensor self, int num_samples, bool replacement=False, *, {GENERATOR}) -> Tensor",
   c="multinomial", device="any",
   variants="function method out", random=True,
   doc="Indices drawn from rows of weights, the first drawn leftmost; the weights need not sum to 1.")

# ---- dropout ----
op(f"native_dropout(Tensor input, float p, bool? train, *, {GENERATOR}) -> (Tensor, Tensor)",
   c="native_dropout", device="any",
   variants="function", random=True, names="keep",
   doc="Zero elements with probability p and scale the rest by 1 "
       "/ (1 - p); also the mask.")
op("dropout(Tensor(a) input, float p, bool train) -> Tensor(a)", composite=True,
   variants="function inplace", random=True,
   names="keep",
   doc="Zero elements with probability p and scale the rest by 1 / (1 - p), if `train`.")
op("native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
   c="native_dropout_backward", device="any",
   variants="function", doc="The gradient where the mask is set, times a scale; 0 elsewhere.")
