"""Results with names: one type for each function, whichever of its overloads was called."""

from __future__ import annotations

import warnings

from samples import ROWS, samples

import taeda


def test_a_result_of_every_row_is_of_the_type_that_return_types_names():
    wrong, seen = [], 0
    for name, row in ROWS.items():
        returns = row.schema.returns
        if len(returns) < 2 or not all(r.name for r in returns) or name.startswith("_"):
            continue
        for sample in samples(name, m=4, n=3, k=2):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = sample.call()
            space = f"{row.namespace}_" if row.namespace else ""
            wanted = getattr(taeda.return_types, space + row.schema.name)
            seen += 1
            if type(made) is not wanted:
                wrong.append(f"{sample}: {type(made)}, not {wanted}")
    assert seen > 30
    assert not wrong, "\n".join(wrong)


def test_overloads_of_one_name_give_one_type():
    x = taeda.ones(3)
    assert type(x.sort()) is type(x.sort(stable=True)) is taeda.return_types.sort
    assert type(x.max(0)) is taeda.return_types.max
