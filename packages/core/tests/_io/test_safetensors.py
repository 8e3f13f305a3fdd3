"""The header: written and read back, and every lie in it refused."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taeda._io.safetensors import (
    HEADER_LIMIT,
    LENGTH_BYTES,
    Entry,
    FormatError,
    Header,
    header_length,
    load_json,
    parse_header,
    write_header,
)

HEADER = Header({"a": Entry("F32", (2, 3), 0, 24), "b": Entry("U8", (), 24, 25)}, {"who": "me"})


def parsed(document, data_bytes=24):
    text = document if isinstance(document, str) else json.dumps(document)
    return parse_header(text.encode(), data_bytes)


def entry(dtype="F32", shape=(2, 3), offsets=(0, 24)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_the_last_of_very_many_keys_twice():
    # Counting each key among all took time with the square of their number: hours for a header of 20 MB.
    keys = ",".join(f'"{number}":0' for number in [*range(300_000), 299_999])
    with pytest.raises(FormatError, match="the key '299999' stands twice"):
        load_json(f"{{{keys}}}", "the header")


def test_written_and_read_back():
    data = write_header(HEADER)
    length = header_length(data[:LENGTH_BYTES], len(data) + 25)
    assert length == len(data) - LENGTH_BYTES
    assert parse_header(data[LENGTH_BYTES:], 25) == HEADER


def test_the_first_entry_is_aligned():
    assert len(write_header(HEADER)) % 64 == 0


def test_a_header_that_no_reader_would_take_is_not_written():
    with pytest.raises(ValueError, match=str(HEADER_LIMIT)):
        write_header(Header({}, {"text": "x" * HEADER_LIMIT}))


LIES = {
    "not json": ("{", "JSON"),
    "an array": ("[]", "begin with"),
    "a key twice": ('{"a":1,"a":2}', "twice"),
    "nan": ('{"a":NaN}', "NaN"),
    "nested deeply": ("{" + '"a":{' * 100_000, "JSON"),
    "no utf-8": ('{"\udcff', "JSON"),
    "metadata of numbers": ({"__metadata__": {"a": 1}}, "texts"),
    "metadata as a list": ({"__metadata__": []}, "texts"),
    "an entry as a number": ({"a": 1}, "must have dtype"),
    "a field too many": ({"a": {**entry(), "more": 1}}, "must have dtype"),
    "a field too few": ({"a": {"dtype": "F32"}}, "must have dtype"),
    "unknown dtype": ({"a": entry(dtype="F33")}, "F33"),
    "dtype as a list": ({"a": entry(dtype=[])}, "dtype"),
    "negative size": ({"a": entry(shape=(-2, -3))}, "sizes"),
    "size as a float": ({"a": entry(shape=(2.0, 3))}, "sizes"),
    "size as a bool": ({"a": entry(shape=(True, 6))}, "sizes"),
    "offsets as one": ({"a": entry(offsets=(0,))}, "two positions"),
    "negative offset": ({"a": entry(offsets=(-24, 0))}, "two positions"),
    "too few bytes": ({"a": entry(offsets=(0, 20))}, "takes 24 bytes"),
    "overflowing shape": ({"a": entry(shape=(2**62, 2**62, 4))}, "takes"),
    "offsets reversed": ({"a": entry(offsets=(24, 0))}, "takes 24 bytes"),
    "beyond the end": ({"a": entry(shape=(2, 4), offsets=(0, 32))}, "truncated"),
    "bytes nobody describes": ({"a": entry(shape=(2, 2), offsets=(0, 16))}, "nothing describes"),
    "a hole": ({"a": entry(shape=(2, 2), offsets=(8, 24))}, "hole"),
    "an overlap": ({"a": entry(), "b": entry(shape=(1,), offsets=(20, 24))}, "overlaps"),
}


@pytest.mark.parametrize(("document", "fact"), LIES.values(), ids=LIES)
def test_lies_are_refused(document, fact):
    if isinstance(document, str):
        data = document.encode(errors="surrogateescape")
        with pytest.raises(FormatError, match=fact):
            parse_header(data, 24)
    else:
        with pytest.raises(FormatError, match=fact):
            parsed(document)


@pytest.mark.parametrize(
    ("first", "size", "fact"),
    [
        (b"PK\x03\x04....", 100, "zip"),
        (b"\x80\x02......", 100, "pickle"),
        (b"\x01", 1, "truncated"),
        (b"\xff" * 8, 100, "claims a header"),
        ((50).to_bytes(8, "little"), 40, "truncated"),
    ],
    ids=["zip", "pickle", "short", "huge", "longer than the file"],
)
def test_files_of_other_kinds_are_refused(first, size, fact):
    with pytest.raises(FormatError, match=fact):
        header_length(first, size)


def test_entries_without_bytes_may_stand_anywhere():
    empty = entry(shape=(0, 5), offsets=(0, 0))
    assert parsed({"a": entry(), "b": empty}).entries["b"].nbytes == 0


def test_numbers_of_any_length_are_read_or_refused():
    assert load_json("123456789012345678901234567890", "it") == 123456789012345678901234567890
    with pytest.raises(FormatError, match="it is no valid JSON"):
        load_json("1" * 10_000, "it")


ITEMS = {"U8": 1, "F16": 2, "F32": 4, "I64": 8}


@st.composite
def tables(draw):
    """Entries that lie side by side, of which one number may then be another."""
    entries, at = [], 0
    for _ in range(draw(st.integers(1, 4))):
        dtype, shape = (
            draw(st.sampled_from(list(ITEMS))),
            draw(st.lists(st.integers(0, 3), max_size=3)),
        )
        size = ITEMS[dtype] * math.prod(shape)
        entries.append([dtype, shape, at, at + size])
        at += size
    if draw(st.booleans()):
        one, by = draw(st.sampled_from(entries)), draw(st.sampled_from([-8, -1, 1, 4, 2**62]))
        where = draw(st.sampled_from(["dtype", "begin", "end", "shape", "both"]))
        if where == "dtype":
            one[0] = draw(st.sampled_from(list(ITEMS)))
        elif where == "shape":
            one[1] = [*one[1], draw(st.integers(-1, 3))]
        else:
            one[2] += by * (where != "end")
            one[3] += by * (where != "begin")
    return draw(st.permutations(entries)), at


def is_right(entries, count):
    """Whether the entries are the bytes from 0 to `count`, each once."""
    fits = all(
        min(shape, default=0) >= 0 and begin >= 0 and end - begin == ITEMS[dtype] * math.prod(shape)
        for dtype, shape, begin, end in entries
    )
    spans = sorted((begin, end) for _, _, begin, end in entries)
    ends = [0, *(end for _, end in spans)]
    return fits and ends[-1] == count and [begin for begin, _ in spans] == ends[:-1]


@settings(derandomize=True, database=None, deadline=None, max_examples=400)
@given(tables())
def test_a_header_is_taken_exactly_when_its_entries_are_the_data(made):
    entries, count = made
    document = {f"t{i}": entry(*row[:2], row[2:]) for i, row in enumerate(entries)}
    if is_right(entries, count):
        header = parsed(document, count)
        assert {n: [e.dtype, list(e.shape), e.begin, e.end] for n, e in header.entries.items()} == {
            f"t{i}": row for i, row in enumerate(entries)
        }
    else:
        with pytest.raises(FormatError):
            parsed(document, count)
