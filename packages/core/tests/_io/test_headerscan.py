"""The first look at a long header finds what reading it would find, and takes little memory."""

from __future__ import annotations

import io
import json
import tracemalloc
from random import Random

import pytest

import taeda
from taeda._io import headerscan
from taeda._io.headerscan import check_long_header
from taeda._io.safetensors import FormatError, parse_header
from taeda._io.source import FileSource

ONE = {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}


@pytest.fixture(autouse=True)
def every_header_is_long(monkeypatch):
    monkeypatch.setattr(headerscan, "is_long", lambda length, file_bytes, factor: True)


def source(text, data=b"x"):
    whole = len(text).to_bytes(8, "little") + text + data
    return FileSource(io.BytesIO(whole), 0, len(whole))


def scanned(text, data=b"x"):
    check_long_header(source(text, data), len(text))


def entry(begin, end):
    return {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}


GOOD = [
    b"{}",
    b" { } ".strip(),
    json.dumps({"w": ONE}).encode(),
    json.dumps({"w": ONE}, indent=3).encode() + b"  \n",
    json.dumps({"__metadata__": {}, "w": ONE}).encode(),
    json.dumps({"w": ONE, "__metadata__": {"a": 'quoted " \\ \n € \ud800', "b": ""}}).encode(),
    json.dumps({"b": entry(0, 1), "a": entry(1, 1), "c": entry(0, 0)}).encode(),
    json.dumps({'{"}': ONE}).encode(),
]


@pytest.mark.parametrize("text", GOOD, ids=range(len(GOOD)))
def test_what_is_right_passes(text):
    data = b"" if text.startswith((b"{}", b"{ }")) else b"x"
    parse_header(text, len(data))
    scanned(text, data)


def test_entries_in_another_order_than_their_data():
    text = json.dumps({"b": entry(3, 7), "a": entry(0, 3), "e": entry(3, 3)}).encode()
    parse_header(text, 7)
    scanned(text, bytes(7))


BAD = [
    b"",
    b"[]",
    b"{",
    b'{"w"',
    b'{"w":5}',
    b'{"w":[]}',
    b'{"w":{}}',
    b'{"w":{"a":{}}}',
    b'{"w":' * 1000,
    b'{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}',
    b'{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},}',
    b'{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}',
    b'{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"dtype":"U8"}}',
    b'{"w\xff":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
    b'{"__metadata__":{"a":5},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
    b'{"__metadata__":[],"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
    b'{"__metadata__":{},"__metadata__":{},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
    b'{"__metadata__":{"a":"\\x"},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
    b'{"__metadata__":{"a":"',
    json.dumps({"w": entry(0, 2)}).encode(),
    json.dumps({"w": entry(1, 1)}).encode(),
    json.dumps({"w": ONE, "v": ONE}).encode(),
    json.dumps({"w": ONE, "v": entry(2**62, 2**62)}).encode(),
    json.dumps({"w": ONE, "v": entry(5, 5)}).encode(),
]


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_reading_refuses_is_refused(text):
    with pytest.raises(FormatError):
        parse_header(text, 1)
    with pytest.raises(FormatError, match=r"."):
        scanned(text)


def test_a_name_that_stands_twice_is_told():
    text = json.dumps({f"n{i}": entry(i, i + 1) for i in range(5)}).encode()
    twice = text[:-1] + b',"n3":' + json.dumps(entry(5, 6)).encode() + b"}"
    with pytest.raises(FormatError, match="the key 'n3' stands twice"):
        scanned(twice, bytes(6))


@pytest.mark.parametrize("number", range(30))
def test_it_agrees_with_reading_on_layouts(number):
    draw = Random(number)
    edges = sorted(draw.randrange(20) for _ in range(4))
    spans = [(a, b) for a, b in zip([0, *edges], [*edges, 20], strict=True)]
    if number % 3:
        place = draw.randrange(len(spans))
        begin = draw.randrange(20)
        spans[place] = begin, draw.randrange(begin, 21)
    draw.shuffle(spans)
    text = json.dumps({f"w{i}": entry(*span) for i, span in enumerate(spans)}).encode()

    def refused(look):
        try:
            look()
        except FormatError:
            return True
        return False

    assert refused(lambda: parse_header(text, 20)) == refused(lambda: scanned(text, bytes(20)))


def test_texts_longer_than_the_window_and_escapes_at_its_edge():
    for shift in range(20):
        value = "a" * ((1 << 20) - shift) + "€\n" * 10
        scanned(json.dumps({"__metadata__": {"a": value}, "w": ONE}).encode())


def test_memory_stays_small():
    text = b'{"__metadata__":{"a":"' + b"a" * 6_000_000 + b'"},"w":[]}'
    given = source(text)
    tracemalloc.start()
    with pytest.raises(FormatError, match="entry with dtype"):
        check_long_header(given, len(text))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 << 20  # a window as bytes, as text, and the one before


def test_a_file_of_ours_goes_through_it():
    file = io.BytesIO()
    taeda.save({"w": taeda.ones(3), "names": ["é"] * 1000, "n": {1: taeda.zeros(0)}}, file)
    file.seek(0)
    assert taeda.load(file)["w"].tolist() == [1.0] * 3
    damaged = bytearray(file.getvalue())
    damaged[damaged.index(b'"U8"' if b'"U8"' in damaged else b'"F32"') + 1] ^= 1
    with pytest.raises(FormatError, match="header is damaged"):
        taeda.load(io.BytesIO(damaged))


LONG = ["k" * 700_000, "€" * 200_000, "\U0001f600" * 100_000, '"\\' * 200_000, "a" * 65_535]


@pytest.mark.parametrize("name", LONG, ids=lambda name: f"{name[0]!a}")
def test_names_of_any_length(name):
    for text in (json.dumps, lambda value: json.dumps(value, ensure_ascii=False)):
        given = text({"__metadata__": {name: name}, name: ONE}).encode()
        parse_header(given, 1)
        scanned(given)
        pair = text({name: entry(0, 1), name + "b": entry(1, 2)}).encode()
        scanned(pair, bytes(2))
        with pytest.raises(FormatError, match="stands twice"):
            scanned(pair.replace(b'b":', b'":'), bytes(2))
    with pytest.raises(FormatError):
        scanned(json.dumps({name: ONE}).encode()[:-30])
