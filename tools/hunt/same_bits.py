"""Every row of the op table gives the same bits on one thread and on several, and on AVX2 and on AVX-512.

    python tools/hunt/same_bits.py                    all rows in every dtype and size: some 20 minutes
    python tools/hunt/same_bits.py --ops "conv|pool"  rows whose name matches
    python tools/hunt/same_bits.py --parts 8          every eighth row

Results, what was written into, and the gradients of a weighted sum of results are compared, bit for bit; any
NaN equals any other. Instruction sets are compared between child processes with TAEDA_ISA.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import taeda

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))  # for `samples`

__all__ = ["between_threads", "between_widths", "chosen", "has_both_widths"]

DTYPES = ("float32", "float64", "bfloat16", "complex64", "int64")
# of the samples; the large ones are split among threads
SMALL = {"n": 37, "m": 19, "k": 3}
LARGE = {"n": 157, "m": 83, "k": 5}
WIDE = {"n": 1201, "m": 301, "k": 5}  # for families that do little work for an element
WIDE_FAMILIES = set("activation loss norm pointwise random reduction scan softmax".split())

#: rows whose results are memory as it was found
UNSET = re.compile(r"(new_)?empty(_like|_strided|_permuted)?(\.\w+)?$")
_PRODUCTS = "a product adds in the order of its tiles, which have the size of the registers"
#: rows whose bits depend on the width of a vector, by family, and why
WIDTH_FAMILIES = {
    "matmul": _PRODUCTS,
    "conv": _PRODUCTS,
    "attention": _PRODUCTS,
    "recurrent": _PRODUCTS,
    "linalg": "LAPACK, and blocked algorithms on top of products",
    "fft": "the turning factors of a vector are one product from a table, and its width says which",
}
#: more of them, outside of those families
WIDTH_ROWS = {
    **dict.fromkeys(("bilinear", "cdist", "cov", "corrcoef"), _PRODUCTS),
    **dict.fromkeys(("stft", "istft"), WIDTH_FAMILIES["fft"]),
}


def depends_on_width(name: str) -> bool:
    """Whether a row's bits may differ between AVX2 and AVX-512; why, say the tables above."""
    from samples import ROWS

    return name in WIDTH_ROWS or ROWS[name].family.partition("_")[0] in WIDTH_FAMILIES


def chosen(pattern: str = "", part: int = 0, parts: int = 1) -> list[str]:
    """Names of the rows that match, every `parts`-th of them."""
    from samples import ROWS

    names = [n for n in sorted(ROWS) if re.search(pattern, n) and not UNSET.match(n)]
    return names[part::parts]


def sizes_of(name: str, size: str) -> dict[str, int]:
    from samples import ROWS

    if size == "small":
        return SMALL
    return WIDE if ROWS[name].family in WIDE_FAMILIES else LARGE


def results(name: str, dtype: str, size: str) -> Iterator[tuple[str, bytes]]:
    """What the calls of a row give: (which, bytes). Calls that the row refuses in this dtype are left out."""
    from samples import samples

    found = samples(name, dtype, **sizes_of(name, size))
    while True:
        try:
            sample = next(found)
            content = b"".join(outcome(sample))
        except StopIteration:
            return
        except (NotImplementedError, RuntimeError, TypeError, ValueError):
            continue
        yield f"{name} #{sample.number} {dtype} {size}", content


def outcome(sample: Any) -> Iterator[bytes]:
    """The bytes of results, of what was written into, and of gradients."""
    from samples import tensors

    taeda.manual_seed(0)
    plain = sample.map(taeda.clone) if sample.written() else sample
    yield from [image(t) for t in (*tensors(plain.call()), *plain.written())]
    if sample.written():
        return
    # of all inputs; or of the first, where others take none
    for first in (len(sample.tensors()), 1):
        try:
            yield from gradients(sample, first)
        except (NotImplementedError, RuntimeError):
            continue
        return


def gradients(sample: Any, first: int) -> Iterator[bytes]:
    """The bytes of the gradients of the `first` tensors."""
    from samples import tensors

    inputs: list[taeda.Tensor] = []

    def wanting(t: taeda.Tensor) -> taeda.Tensor:
        inputs.append(t.detach().clone())
        inexact = t.is_floating_point() or t.is_complex()
        return inputs[-1].requires_grad_(inexact and len(inputs) <= first)

    taeda.manual_seed(0)
    roots = [t for t in tensors(sample.map(wanting).call()) if t.grad_fn is not None]
    wanted = [t for t in inputs if t.requires_grad]
    if not roots:
        return
    weights = [(taeda.arange(t.numel()) % 7 - 3).reshape(t.shape).to(t.dtype) for t in roots]
    found = taeda.autograd.grad(roots, wanted, weights, allow_unused=True)
    yield from [image(g) for g in found if g is not None]


def image(t: taeda.Tensor) -> bytes:
    """A digest of a tensor's elements."""
    if t.is_meta:
        return b"meta"
    t = t.detach().resolve_conj().resolve_neg().contiguous()
    if t.is_complex():
        t = taeda.view_as_real(t)
    if t.is_floating_point():
        t = taeda.where(t.isnan(), float("nan"), t)
    return hashlib.sha256(t.reshape(-1).view(taeda.uint8).numpy().tobytes()).digest()


def digests(names: list[str], dtypes: list[str], sizes: list[str]) -> dict[str, str]:
    """A digest of every call of the rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            which: hashlib.sha256(content).hexdigest()[:16]
            for name in names
            for dtype in dtypes
            for size in sizes
            for which, content in results(name, dtype, size)
        }


def between_threads(
    names: list[str], dtypes: list[str], counts: tuple[int, ...] = (2, 3, 4)
) -> tuple[int, list[str]]:
    """How many calls were made, and those whose bits differ from those of one thread."""
    before = taeda.get_num_threads()
    try:
        made = []
        for count in (1, *counts):
            taeda.set_num_threads(count)
            made.append(digests(names, dtypes, ["large"]))
    finally:
        taeda.set_num_threads(before)
    one, *others = made
    return len(one), [which for which in one if any(other[which] != one[which] for other in others)]


def between_widths(names: list[str], dtypes: list[str], sizes: list[str]) -> tuple[int, list[str]]:
    """How many calls were made, and those whose bits differ between AVX2 and AVX-512 without a cause."""
    names = [name for name in names if not depends_on_width(name)]
    one, other = (_in_child(isa, names, dtypes, sizes) for isa in ("avx2", "avx512"))
    return len(one), [which for which in one if one[which] != other.get(which)]


def _in_child(isa: str, names: list[str], dtypes: list[str], sizes: list[str]) -> dict[str, str]:
    task = json.dumps([names, dtypes, sizes])
    run = subprocess.run(
        [sys.executable, __file__, "--child"],
        env={**os.environ, "TAEDA_ISA": isa},
        input=task,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def has_both_widths() -> bool:
    """Whether this machine runs AVX-512; AVX2 goes with it."""
    try:
        return "avx512dq" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def main() -> int:
    if sys.argv[1:] == ["--child"]:
        json.dump(digests(*json.load(sys.stdin)), sys.stdout)
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--ops", default="", help="only rows whose name matches this expression")
    parser.add_argument("--parts", type=int, default=1, help="only every so-manieth row")
    options = parser.parse_args()
    names, dtypes, found = chosen(options.ops, 0, options.parts), list(DTYPES), []
    calls, differing = between_threads(names, dtypes)
    found += [f"{which}: differs between numbers of threads" for which in differing]
    print(f"{calls} calls on 1 to 4 threads, {len(differing)} differ", flush=True)
    if has_both_widths():
        calls, differing = between_widths(names, dtypes, ["small", "large"])
        found += [f"{which}: differs between AVX2 and AVX-512" for which in differing]
        print(f"{calls} calls on AVX2 and AVX-512, {len(differing)} differ")
    else:
        print("AVX2 and AVX-512 were not compared: this machine has no AVX-512")
    print(*found, sep="\n")
    return int(bool(found) or calls == 0)


if __name__ == "__main__":
    sys.exit(main())
