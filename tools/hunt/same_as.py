"""Two builds of taeda give the same bits for every row of the op table, but for differences that are meant.

    python tools/hunt/same_as.py /path/to/other/bin/python   this environment's taeda beside that one's
    python tools/hunt/same_as.py OTHER --dtypes float32 int64 --rows 'conv|pool'

The calls are the samples of this checkout. Each build runs them in a process of its own, from one
seed; results, what was written into, and the kind of a refusal are compared, any NaN equals any
other. `INTENDED` names the rows that differ on purpose, with the cause.
"""

from __future__ import annotations

import argparse
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["INTENDED", "compare", "differ", "main"]

DTYPES = ("float32", "float64", "bfloat16", "float16", "complex64", "int64", "uint8", "bool")
SIZES = ({"n": 6, "m": 5, "k": 3}, {"n": 67, "m": 29, "k": 4})
#: rows whose results are memory as it was found
UNSET = re.compile(r"(new_)?empty(_like|_strided|_permuted)?(\.\w+)?$")
#: pattern of "row dtype" -> why this build differs from 5a36047, the last one before the folders of
#: C said who computes
INTENDED: dict[str, str] = {
    r"_int_mm |as_strided_ |_local_scalar_dense "
    r"|_pad_inside|_grid_sample|frobenius_norm|nuclear_norm|segment_reduce": "new, or a function since",
    r"nan_to_num complex": "complex numbers are taken",
    r"(mul\.Tensor|lerp\.Tensor|addc(mul|div)|sinc|cross(\.linalg)?|addr|outer|kron|einsum|rms_norm|vecdot"
    r"|bilinear|stft|orgqr|ormqr"
    r"|_foreach_(mul|addcmul|addcdiv)_?\.\w+|gradient\.tensorarray(int)?|householder_product|trapz\.x"
    r"|trapezoid\.x|cumulative_trapezoid\.x) "
    r""
    r""
    r"complex": "complex products are not fused, so that instruction sets agree",
    r"(sum|mean|nansum|nanmean|norm(\.ord_str)?|dist|logsumexp|l1_loss|kl_div|poisson_nll_loss"
    r"|binary_cross_entropy(_with_logits)?"
    r"|_fused_attention_backward|convolution_backward) "
    r"": "sums add in one order, whatever the width of a vector",
    r"(cumsum|cumprod|cumulative_trapezoid\.x) "
    r"float64": "scans add in one order, whatever the width of a vector",
    r"(var|std)(_mean)? |(native_)?(layer|group|batch)_norm(_backward)? |instance_norm "
    r"|_fused_rms_norm(_backward)? ": "statistics keep their digits, and do not depend on the width of a vector",  # noqa: E501
    r"(erfinv|ndtri|digamma|(_foreach_)?lgamma_?|mvlgamma|polygamma|i0e?|i1e?|modified_bessel_(i0|i1|k1)"
    r"|scaled_modified_bessel_k1"
    r"|ndtr|log_ndtr"
    r"|erfcx|entr|airy_ai|spherical_bessel_j0|(_foreach_)?pow_?(\.\w+)?|float_power\.\w+|logit"
    r"|(_foreach_)?tanh_?|tanhshrink) "
    r""
    r""
    r"": "more exact",
    r"(_gru|_lstm(_backward)?|_rnn) ": "tanh is more exact",
    r"((_foreach_)?sigmoid_?|silu) complex": "sigmoid of complex numbers is exact on the left",
    r"_fused_attention ": "sums of attention are of float64",
    r"histogram\.\w+ (bfloat16|float16)": "counts above 256 (2,048) were lost in sums of short floats",
    r"(max|avg|adaptive_avg)_pool\dd_backward "
    r"(bfloat16|float16)": "gradients of overlapping windows are added in float32 and rounded once",
    r"igammac float32": "sums end where a float is exact",
    r"(scaled_)?modified_bessel_k0 float64": "NaN for numbers below 0",
}


# ---- values that both processes can read: neither knows the other's types ----


def encode(value: Any) -> Any:
    """A value as plain data; tensors as (dtype, shape, bytes)."""
    import taeda

    if isinstance(value, taeda.Tensor):
        if value.device.type != "cpu":
            return ("elsewhere", str(value.device), tuple(value.shape))
        plain = value.detach().resolve_conj().resolve_neg().contiguous().clone()
        raw = plain.reshape(-1).view(taeda.uint8) if plain.numel() else taeda.empty(0)
        data = raw.numpy().tobytes()
        return ("tensor", str(value.dtype).partition(".")[2], tuple(value.shape), data)
    if isinstance(value, taeda.dtype | taeda.layout | taeda.memory_format):
        return ("name", str(value).partition(".")[2])
    if isinstance(value, taeda.device):
        return ("device", str(value))
    if isinstance(value, dict):
        return ("dict", [(name, encode(part)) for name, part in value.items()])
    if isinstance(value, list | tuple):
        return ("list" if isinstance(value, list) else "tuple", [encode(part) for part in value])
    if value is None or isinstance(value, bool | int | float | complex | str):
        return ("plain", value)
    return ("other", type(value).__name__)


def decode(value: Any) -> Any:
    """What was encoded, made of the types of this process."""
    import taeda

    kind, *rest = value
    if kind == "tensor":
        name, shape, data = rest
        dtype = getattr(taeda, name)
        if not data:
            return taeda.empty(shape, dtype=dtype)
        return taeda.frombuffer(bytearray(data), dtype=taeda.uint8).view(dtype).reshape(shape)
    if kind == "name":
        return getattr(taeda, rest[0])
    if kind == "device":
        return taeda.device(rest[0])
    if kind == "dict":
        return {name: decode(part) for name, part in rest[0]}
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](decode(part) for part in rest[0])
    return rest[0]


# ---- one build ----


def work(calls: Path, results: Path) -> None:
    """Make the calls of a file with the taeda of this process."""
    import taeda

    warnings.simplefilter("ignore")
    found = []
    for way, args, kwargs in pickle.loads(calls.read_bytes()):  # our own file
        given, named = decode(args), decode(kwargs)
        taeda.manual_seed(0)
        try:
            made = encode(_function(way)(*given, **named))
        except Exception as error:  # noqa: BLE001 - the kind of a refusal is a result
            made = ("refusal", type(error).__name__)
        found.append((made, encode(given), encode(named)))
    results.write_bytes(pickle.dumps(found))  # half-written: a file of this run alone


def _function(way: tuple[str, str, str, str]) -> Any:
    import taeda
    from taeda._native import core

    kind, space, name, overload = way
    if kind == "function":
        return core.functions[space][name]
    if kind == "method":
        return getattr(taeda.Tensor, name)
    return getattr(getattr(taeda.ops.aten, name), overload)


# ---- both ----


def calls_of(dtypes: tuple[str, ...], rows: str) -> Iterator[tuple[str, Any]]:
    """("row dtype (text)", the call) of every sample."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
    from samples import ROWS, samples

    for name, row in ROWS.items():
        if not re.search(rows, name) or UNSET.fullmatch(name):
            continue
        kind = next((v for v in ("function", "method") if v in row.variants), "operator")
        way = (kind, row.namespace, row.schema.name, row.schema.overload or "default")
        for dtype in dtypes:
            for sizes in SIZES:
                for sample in samples(row, dtype, **sizes):
                    text = f"{name} {dtype} ({sample.text}, n={sizes['n']})"
                    yield text, (way, encode(sample.args), encode(sample.kwargs))


def run(python: str, calls: list[Any]) -> list[Any]:
    """The results of the calls with the taeda of `python`."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "calls"), Path(folder, "results")
        given.write_bytes(pickle.dumps(calls))  # half-written: a file of this run alone
        command = [python, "-P", __file__, "--work", str(given), str(made)]
        subprocess.run(command, check=True, cwd=folder)
        results: list[Any] = pickle.loads(made.read_bytes())  # our own file
        return results


def differ(one: Any, other: Any) -> bool:
    """Do two encoded values differ in a bit that counts?"""
    if type(one) is not type(other):
        return True
    if isinstance(one, list | tuple):
        if one and one[0] == "tensor" and len(one) == 4:
            return _tensors_differ(one, other)
        return len(one) != len(other) or any(map(differ, one, other))
    if {one, other} == {"list", "tuple"}:
        return False  # lists of results have become tuples, whoever computes them
    return bool(one != other and not (one != one and other != other))


def _tensors_differ(one: Any, other: Any) -> bool:
    if one == other:
        return False
    if one[:3] != other[:3]:
        return True
    import ml_dtypes
    import numpy as np

    name = {"complex64": "float32", "complex128": "float64", "complex32": "float16"}.get(
        one[1], one[1]
    )
    dtype = np.dtype(getattr(ml_dtypes, name) if name.startswith(("bf", "float8")) else name)
    a, b = (np.frombuffer(value[3], dtype) for value in (one, other))
    if dtype.kind not in "fV":
        return True
    unsigned = f"u{dtype.itemsize}"
    same = (a.view(unsigned) == b.view(unsigned)) | (
        np.isnan(a.astype("f8")) & np.isnan(b.astype("f8"))
    )
    return not same.all()


def compare(names: list[str], ones: list[Any], others: list[Any]) -> tuple[list[str], Counter[str]]:
    """(calls that differ without a cause, how many differ by cause)."""
    wrong, causes = [], Counter[str]()
    for name, one, other in zip(names, ones, others, strict=True):
        if not differ(one, other):
            continue
        cause = next((why for pattern, why in INTENDED.items() if re.match(pattern, name)), None)
        if cause is None:
            wrong.append(f"{name}: {_shown(other[0])}, now {_shown(one[0])}")
        else:
            causes[cause] += 1
    return wrong, causes


def _shown(result: Any) -> str:
    return f"{result[0]} {result[1]}" if result[0] in ("refusal", "plain", "tensor") else result[0]


def main() -> int:
    """Compare; 1 if there are differences without a cause."""
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), Path(sys.argv[3]))
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("other", help="the Python of the other environment")
    parser.add_argument("--dtypes", nargs="*", default=DTYPES)
    parser.add_argument("--rows", default="", help="a pattern for the rows' names")
    options = parser.parse_args()
    named = list(calls_of(tuple(options.dtypes), options.rows))
    names, calls = [name for name, _ in named], [call for _, call in named]
    wrong, causes = compare(names, run(sys.executable, calls), run(options.other, calls))
    for cause, count in causes.most_common():
        print(f"{count:6} calls differ: {cause}")
    print("\n".join(wrong))
    print(f"{len(names)} calls, {len(wrong)} differ without a cause")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
