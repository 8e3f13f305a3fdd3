"""A tensor without dimensions in place of a number: terms on the ranks are summed, at every call."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest
from dtensor_calls import rows_of
from rank_threads import on_threads
from samples import samples

import taeda
import taeda.distributed as dist
from taeda.distributed.tensor import DTensor, Partial, Replicate, distribute_tensor

RANKS = 2


def places_of_numbers(sample):
    """Where the schema wants a number and the sample gives one."""
    return [
        place
        for place, (argument, value) in enumerate(
            zip(sample.row.schema.arguments, sample.args, strict=False)
        )
        if argument.base == "Scalar" and type(value) in (int, float)
    ]


def with_number(sample, place, number):
    args = list(sample.args)
    args[place] = number
    return replace(sample, args=tuple(args))


def numbers_of(made):
    made = made if isinstance(made, (list, tuple)) else [made]
    return [one.full_tensor() if isinstance(one, DTensor) else one for one in made]


def differs(sample, place, mesh):
    """What is wrong with one of three calls whose number comes as terms; None where a plain tensor cannot."""
    value = float(sample.args[place])
    try:
        whole = numbers_of(with_number(sample, place, taeda.tensor(value)).call())
    except (RuntimeError, TypeError):
        return None
    lying = sample.map(lambda t: distribute_tensor(t, mesh, [Replicate()]))
    term = taeda.tensor(value - 1 if mesh.get_local_rank() else 1.0)
    for _ in range(3):
        number = DTensor.from_local(term.clone(), mesh, [Partial()])
        made = numbers_of(with_number(lying, place, number).call())
        if not all(taeda.allclose(a, b, equal_nan=True) for a, b in zip(made, whole, strict=True)):
            return f"{sample}: {made} for {whole}"
    return ""


@pytest.mark.filterwarnings("ignore")
def test_terms_in_place_of_a_number_are_summed_at_every_call():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (RANKS,))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [
                differs(sample, place, mesh)
                for row in rows_of()
                for sample in samples(row, "float32")
                for place in places_of_numbers(sample)
            ]

    said = on_threads(RANKS, work, seconds=300)[0]
    assert len([one for one in said if one is not None]) > 20
    assert [one for one in said if one] == []
