"""vmap of rows of the op table beside the loop over their samples: which arguments are mapped,
along which dimension, in how many levels.
"""

from __future__ import annotations

import warnings

from samples import ROWS, samples

import taeda
from taeda.autograd.batching import NeedsValue
from taeda.func import vmap

SIZE, OUTER = 3, 2
#: results that are no function of the arguments' values alone: their own tests are in test_random
RANDOM = {name for name, row in ROWS.items() if row.random or row.family == "random"}
#: rows whose results are no values
UNMAPPED = {
    "empty_like": "its elements are whatever was there",
    "new_empty": "its elements are whatever was there",
    "new_empty_strided": "its elements are whatever was there",
}
#: strides count elements of the storage, and those between the elements of a sample along another
#: dimension are others'
IN_FRONT = {"as_strided", "as_strided_", "as_strided_copy"}
PATTERNS = {
    "all 0": lambda k, n: 0,
    "all 1": lambda k, n: 1,
    "all -1": lambda k, n: -1,
    "first": lambda k, n: 0 if k == 0 else None,
    "last": lambda k, n: 0 if k == n - 1 else None,
}


def close(made, wanted, where):
    if isinstance(wanted, taeda.Tensor):
        assert isinstance(made, taeda.Tensor), where
        assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape), where
        tolerance = 1e-7 if wanted.dtype in (taeda.float64, taeda.complex128) else 1e-4
        taeda.testing.assert_close(
            made, wanted, rtol=tolerance, atol=tolerance, equal_nan=True, msg=where
        )
    elif isinstance(wanted, (tuple, list)):
        assert len(made) == len(wanted), where
        for a, b in zip(made, wanted, strict=True):
            close(a, b, where)
    else:
        assert made == wanted, where


def stacked(made):
    """The results of all samples; None if they are not of one shape, or no tensors."""
    first = made[0]
    if isinstance(first, taeda.Tensor):
        return taeda.stack(made) if len({m.shape for m in made}) == 1 else None
    if isinstance(first, (tuple, list)) and len({len(m) for m in made}) == 1:
        parts = [stacked(list(column)) for column in zip(*made, strict=True)]
        return None if any(p is None for p in parts) else parts
    return None


def versions(name: str, number: int, count: int):
    """The call number `number` of a row with other numbers each time."""
    return [list(samples(name, seed=seed, m=4, n=3, k=2))[number] for seed in range(count)]


def calls(name: str):
    return range(len(list(samples(name, m=4, n=3, k=2))))


def joined(variants, dims):
    """For each tensor of the call the samples of it along its dimension, or the one that all share;
    and that dimension.
    """
    columns = list(zip(*(v.tensors() for v in variants), strict=True))
    whole, places = [], []
    for column, dim in zip(columns, dims, strict=True):
        place = min(dim, column[0].dim()) if dim is not None and dim > 0 else dim
        whole.append(column[0].clone() if place is None else taeda.stack(column, place))
        places.append(place)
    return whole, tuple(places)


def looped(variants, dims):
    whole, places = joined(variants, dims)
    made = []
    for number, variant in enumerate(variants):
        pairs = iter(list(zip(whole, places, strict=True)))
        chosen = variant.map(lambda t: _one(*next(pairs), number))  # noqa: B023 - called at once
        made.append(chosen.call())
    return stacked(made)


def _one(tensor, place, number):
    if place is None:
        return tensor.clone()
    view = tensor.select(place, number)
    made = taeda.empty_strided(view.shape, view.stride(), dtype=view.dtype)  # a storage of its own
    return made.copy_(view)


def mapped(variants, dims):
    """vmap of the call over the tensors that have a dimension."""
    whole, places = joined(variants, dims)

    return vmap(caller(variants[0]), in_dims=places)(*whole)


def caller(sample):
    """The call as a function of its tensors. Its results come in the type that they have without a map."""
    kind = type(sample.map(taeda.clone).call())

    def run(*tensors):
        rest = iter(tensors)
        made = sample.map(lambda t: next(rest)).call()
        assert isinstance(made, (taeda.Tensor, int, float)) or type(made) is kind, (
            f"{sample}: {type(made)} of results where a call of its own gives {kind}"
        )
        return list(made) if isinstance(made, tuple) else made

    return run


def flat(made):
    return made.flatten(0, 1) if isinstance(made, taeda.Tensor) else [flat(m) for m in made]


def judge(make, wanted, where):
    try:
        made = make()
    except NeedsValue:
        return "value"
    except RuntimeError as error:
        if "is not possible because there exists a Tensor" in str(
            error
        ) or "would update running statistics" in str(error):
            return "shared"
        if "shape that depends" in str(error):
            return "value"
        raise AssertionError(where) from error
    close(made, wanted, where)
    return "equal"


def _writes_lists(name: str) -> bool:
    return name.startswith("_foreach_") and name.partition(".")[0].endswith("_")


def check(name: str) -> set[str]:
    """What became of the calls of a row: equal, or why there is nothing to compare."""
    found = set()
    for number in calls(name):
        variants = versions(name, number, SIZE)
        tensors = variants[0].tensors()
        if not tensors or len({v.text for v in variants}) > 1:
            continue
        for pattern, dim in PATTERNS.items():
            if name in IN_FRONT and pattern != "all 0":
                continue
            # an entry that the samples share is written once, not by each of them
            if _writes_lists(name) and not pattern.startswith("all"):
                continue
            dims = [dim(k, len(tensors)) for k in range(len(tensors))]
            try:
                wanted = looped(variants, dims)
            except (RuntimeError, ValueError, IndexError, TypeError):
                continue  # not for these numbers
            if wanted is None:
                continue
            where = f"{variants[0]} with {pattern}"
            found.add(judge(lambda v=variants, d=dims: mapped(v, d), wanted, where))
    return found


def two_levels(name: str) -> set[str]:
    found = set()
    for number in calls(name):
        variants = versions(name, number, SIZE * OUTER)
        tensors = variants[0].tensors()
        if not tensors:
            continue
        try:
            wanted = looped(variants, [0] * len(tensors))
        except (RuntimeError, ValueError, IndexError, TypeError):
            continue
        if wanted is None:
            continue
        columns = zip(*(v.tensors() for v in variants), strict=True)
        whole = [taeda.stack(c).unflatten(0, (OUTER, SIZE)) for c in columns]

        found.add(
            judge(
                lambda v=variants[0], w=whole: flat(vmap(vmap(caller(v)))(*w)),
                wanted,
                f"{variants[0]} two levels",
            )
        )
    return found


FAMILIES = sorted({row.family for row in ROWS.values()})
#: the families that each module of batching rules is for; the others have none, or are looped
BY_RULES = {
    "conv": ["conv", "windows"],
    "distance": ["distance"],
    "fft": ["fft"],
    "indexing": ["indexing"],
    "linalg": [
        "linalg",
        "linalg_factor",
        "linalg_legacy",
        "linalg_norm",
        "linalg_product",
        "linalg_solve",
    ],
    "loss": ["loss"],
    "matmul": ["matmul", "attention"],
    "norm": ["norm"],
    "pointwise": ["pointwise", "activation", "comparison", "special"],
    "pooling": ["pooling"],
    "fake_quantize": ["fake_quantize"],
    "reduction": ["reduction", "scan", "softmax", "sorting", "statistics"],
    "view": ["view", "view_copies", "join", "creation"],
}
REST = [name for name in FAMILIES if name not in {n for names in BY_RULES.values() for n in names}]


def names_of(family: str) -> list[str]:
    return [
        n
        for n, row in ROWS.items()
        if row.family == family and n not in RANDOM and n not in UNMAPPED
    ]


def check_family(family: str) -> None:
    """Every row of a family of the op table, mapped in one and in two levels, is its loop."""
    wrong = []
    for name in names_of(family):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for judged in (check, two_levels):
                try:
                    judged(name)
                except AssertionError as error:
                    cause = f" ({error.__cause__!r})" if error.__cause__ else ""
                    wrong.append(f"{name}: {error}{cause}")
                except Exception as error:  # noqa: BLE001 - any error is a finding about this row
                    wrong.append(f"{name}: {judged.__name__} {error!r}")
    assert not wrong, "\n".join(wrong)
