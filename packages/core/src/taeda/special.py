"""Operations of the special namespace, from the op table."""

from ._native import core as _core

globals().update(_core.functions.get("special", {}))

# names that stand at the top level as well
for _name in (
    *(
        "digamma",
        "erf",
        "erfc",
        "erfinv",
        "exp2",
        "expm1",
        "i0",
        "log1p",
        "log_softmax",
        "logit",
        "logsumexp",
    ),
    *("polygamma", "round", "sinc", "softmax", "xlogy"),
):
    globals()[_name] = _core.functions[""][_name]
for _name, _top in {
    "expit": "sigmoid",
    "gammaln": "lgamma",
    "psi": "digamma",
    "multigammaln": "mvlgamma",
    "gammainc": "igamma",
    "gammaincc": "igammac",
}.items():
    globals()[_name] = _core.functions[""][_top]
