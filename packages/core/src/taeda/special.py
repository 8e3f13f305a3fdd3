"""Operations of the special namespace, from the op table."""

from ._native import core as _core

globals().update(_core.functions.get("special", {}))

# names that stand at the top level as well, and what they are called there; the stubs read this table
_TOP = {
    **{name: name for name in (
        "digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "i0", "log1p", "log_softmax", "logit",
        "logsumexp", "polygamma", "round",
        "sinc", "softmax", "xlogy",
    )},
    "expit": "sigmoid", "gammainc": "igamma", "gammaincc": "igammac", "gammaln": "lgamma",
    "multigammaln": "mvlgamma", "psi": "digamma",
}  # fmt: skip
globals().update({name: _core.functions[""][top] for name, top in _TOP.items()})
