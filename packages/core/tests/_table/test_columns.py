"""What the columns of a row say is what its calls do: chance, values read, memory shared, arguments
written.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from samples import ROWS, samples, tensors

import taeda
from taeda import _layers
from taeda._native import core
from taeda._table._row import CASTS, OPSET, READS, op
from taeda._table._schema import SchemaError

#: in which types the calls are made; what is lazily conjugated shares memory where others do not
DTYPES = (None, "complex128", "float32", "int64", "bool")


@dataclass
class Seen:
    """What the calls of one row did, argument tensors by their place among all tensors of a sample."""

    drew: bool = False
    refused: list[bool] = field(default_factory=list)  # by sample, on the meta device
    shared: bool = False
    shared_undeclared: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    bumped: set[str] = field(default_factory=set)


def storage(t):
    return t.untyped_storage().data_ptr()


def owner(sample, t):
    """The argument of the schema that a tensor was given to."""
    arguments = sample.row.schema.arguments
    given = [*zip(arguments, sample.args, strict=False)]
    given += [(a, sample.kwargs[a.name]) for a in arguments if a.name in sample.kwargs]
    return next(a for a, value in given if any(t is other for other in tensors(value)))


def state_of(t):
    return bytes(t.untyped_storage().tolist()), t.shape, t.stride()


def watch(sample, seen):
    """Make a call, and note what it did."""
    given = sample.tensors()
    before = [(state_of(t), t._version) for t in given]
    places = {storage(t): owner(sample, t) for t in given if storage(t)}
    generator = taeda.get_rng_state().tolist()
    result = sample.call()
    seen.drew |= taeda.get_rng_state().tolist() != generator
    for t, (old, version) in zip(given, before, strict=True):
        if state_of(t) != old:
            seen.written.add(owner(sample, t).name)
        if t._version != version:
            seen.bumped.add(owner(sample, t).name)
    returns = sample.row.schema.returns
    values = result if isinstance(result, tuple) and len(returns) > 1 else [result]
    for declared, value in zip(returns, values, strict=False):
        for t in tensors(value if isinstance(value, (list, tuple)) else [value]):
            if storage(t) in places:
                seen.shared = True
                if not declared.alias or places[storage(t)].alias != declared.alias:
                    seen.shared_undeclared.add(places[storage(t)].name)


def refuses_meta(sample):
    try:
        sample.map(lambda t: t.to("meta")).call()
    except (RuntimeError, NotImplementedError):
        return True
    return False


@pytest.fixture(scope="module")
def seen():
    """What the calls of every row did."""
    found = {}
    for name, row in ROWS.items():
        mine = found[name] = Seen()
        for dtype in DTYPES:
            for sample in samples(row, dtype):
                try:
                    watch(sample, mine)
                except (NotImplementedError, RuntimeError):
                    assert dtype, f"{sample} fails"  # the row's own dtype has to work
        mine.refused = [refuses_meta(sample) for sample in samples(row)]
    return found


def test_rows_that_draw_are_marked_random_and_no_others(seen):
    assert {n for n, s in seen.items() if s.drew} == {n for n, r in ROWS.items() if r.random}


def test_rows_that_read_values_are_those_that_no_values_stop(seen):
    found = {}
    for name, one in seen.items():
        reads = "always" if all(one.refused) else "sometimes" if any(one.refused) else ""
        found[name] = reads
    assert found == {name: row.reads_value for name, row in ROWS.items()}


def test_every_result_in_the_memory_of_an_argument_is_declared(seen):
    assert {n: s.shared_undeclared for n, s in seen.items() if s.shared_undeclared} == {}


def test_every_declared_alias_happens(seen):
    declared = {n for n, row in ROWS.items() if any(r.alias for r in row.schema.returns)}
    assert declared == {n for n, s in seen.items() if s.shared}


def test_what_is_written_is_declared_written_and_counted(seen):
    mutated = {n: {a.name for a in row.schema.arguments if a.mutated} for n, row in ROWS.items()}
    assert {n: s.written for n, s in seen.items()} == mutated
    assert {n: s.bumped for n, s in seen.items()} == mutated


def test_aliases_of_arguments_and_results_belong_together():
    for name, row in ROWS.items():
        known = {(a.alias, a.mutated) for a in row.schema.arguments if a.alias}
        assert {(r.alias, r.mutated) for r in row.schema.returns if r.alias} <= known, name


def test_views_are_declared_as_aliases():
    assert all(any(r.alias for r in row.schema.returns) for row in ROWS.values() if row.view)


# ---- what C and Python know by one name ----

FLAGS = {
    "VIEW": lambda row: row.view,
    "FACTORY": lambda row: "factory" in row.tags,
    "RANDOM": lambda row: row.random,
    "MUTATES": lambda row: any(a.mutated for a in row.schema.arguments),
    "OUT": lambda row: "out" in row.variants,
    "INPLACE": lambda row: "inplace" in row.variants,
    "KEEP_CONJ": lambda row: "keep_conj" in row.tags,
    "READS_VALUE": lambda row: bool(row.reads_value),
    "CASTS_OUT": lambda row: "casts_out" in row.tags,
    "APART": lambda row: "apart" in row.tags,
    "MIXES_DEVICES": lambda row: "mixes_devices" in row.tags,
    "TAKES_NUMBERS": lambda row: "takes_numbers" in row.tags,
    "ANY_DEVICE": lambda row: row.any_device,
    "SLICES": lambda row: "slices" in row.tags,
    "DETACHES": lambda row: "detaches" in row.tags,
    "HOST_INDICES": lambda row: "host_indices" in row.tags,
    "ROUNDS_NUMBERS": lambda row: row.rounds_numbers,
}


@pytest.mark.parametrize("flag", core.row_flags)
def test_a_flag_in_c_is_what_the_rows_say(flag):
    bit = core.row_flags[flag]
    marked = {text for text, *_, flags in core.op_rows() if flags & bit}
    assert marked == {name for name, row in ROWS.items() if FLAGS[flag](row)}


def test_flags_and_layers_are_single_bits_that_differ():
    for table in (core.row_flags, core.layers):
        assert all(bit.bit_count() == 1 for bit in table.values())
        assert len(set(table.values())) == len(table)
    # no row casts in a way of its own: programs register that for operators of theirs
    assert {name.upper() for name in CASTS if name} == {*core.casts} - {"AS_GIVEN", "OWN"}


@pytest.mark.parametrize("name", core.layers)
def test_python_names_every_layer(name):
    assert getattr(_layers, name) == core.layers[name]


def test_rows_are_of_an_operator_set_that_exists():
    assert {row.since for row in ROWS.values()} <= set(range(1, OPSET + 1))


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ({"reads_value": "often"}, f"reads_value='often' is none of {READS}"),
        ({"autocast": "half"}, f"autocast='half' is none of {CASTS}"),
        ({"since": 0}, "since=0 is no operator set from 1 to"),
        ({"since": OPSET + 1}, f"since={OPSET + 1} is no operator set"),
    ],
)
def test_columns_refuse_other_words(column, text):
    with pytest.raises(SchemaError) as refusal:
        op("wrong(Tensor self) -> Tensor", composite=True, doc="", **column)
    assert text in str(refusal.value)
