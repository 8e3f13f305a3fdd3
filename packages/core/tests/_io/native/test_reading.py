"""A file of ours is read whole or refused: lies in its metadata, flipped bits, mutated headers."""

from __future__ import annotations

import io
import json
import math
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taeda
from taeda._io.safetensors import LENGTH_BYTES, FormatError
from taeda._native.core import crc32c
from taeda.serialization import load, save


def stored(value):
    file = io.BytesIO()
    save(value, file)
    return file.getvalue()


def loaded(data, **options):
    return load(io.BytesIO(data), **options)


def header_of(data):
    length = int.from_bytes(data[:LENGTH_BYTES], "little")
    return json.loads(data[LENGTH_BYTES : LENGTH_BYTES + length])


def test_other_readers_find_the_tensors_by_name():
    header = header_of(stored({"model": {"w": taeda.ones(2, 3)}, "z": taeda.tensor([1 + 2j])}))
    assert header["model.w"]["dtype"] == "F32"
    assert header["model.w"]["shape"] == [2, 3]
    assert header["z"]["shape"] == [1, 2]


def with_metadata(value, **changes):
    """A file whose metadata say something else, with a header checksum that agrees."""
    data = stored(value)
    length = int.from_bytes(data[:LENGTH_BYTES], "little")
    header, rest = header_of(data), data[LENGTH_BYTES + length :]
    meta = header["__metadata__"]
    meta.update({f"taeda.{key}": text for key, text in changes.items()})
    for key in [key for key, text in meta.items() if text is None]:
        del meta[key]
    if "taeda.header_crc32c" in meta:
        meta["taeda.header_crc32c"] = "0" * 8
        text = json.dumps(header, separators=(",", ":")).encode()
        meta["taeda.header_crc32c"] = f"{crc32c(text):08x}"
    text = json.dumps(header, separators=(",", ":")).encode()
    return len(text).to_bytes(8, "little") + text + rest


def row(name="tensor", dtype="float32", shape=(2,), strides=(1,), offset=0, marks=()):
    return json.dumps([[name, dtype, list(shape), list(strides), offset, list(marks)]])


LIES = {
    "another version": ({"version": "2"}, "version '2'"),
    "no tree": ({"tree": None}, "lacks taeda.tree"),
    "no sums": ({"crc32c": None}, "lacks taeda.crc32"),
    "a tree that is no JSON": ({"tree": "{"}, "tree is no valid JSON"),
    "an unknown kind": ({"tree": '{"run":1}'}, "unknown kind"),
    "a tensor too many": ({"tree": '{"tensor":1}'}, "names tensor 1"),
    "a sum too many": ({"crc32c": "00000000 00000000"}, "1 checksums of 8 digits, got 2"),
    "a short sum": ({"crc32c": "0"}, "8 digits"),
    "a wrong sum": ({"crc32c": "00000000"}, "1 of 1 tensors of this file are damaged.*'tensor'"),
    "an unknown mark": ({"tensors": row(marks=["sparse"])}, "newer"),
    "a conjugate of reals": ({"tensors": row(marks=["conj"])}, "conjugate"),
    "a class nobody allowed": ({"tensors": row(marks=["class os.system"])}, "add_safe_globals"),
    "places as a list": ({"locations": "[]"}, "must be a dict"),
    "a place as a number": ({"locations": '{"tensor":1}'}, "name a place"),
    "rows as a dict": ({"tensors": "{}"}, "must be a list"),
    "a short row": ({"tensors": "[[1]]"}, "six values"),
    "an unknown entry": ({"tensors": row(name="x")}, "not there"),
    "no entry": ({"tensors": row(name=None)}, "names no entry"),
    "an entry as a list": ({"tensors": row(name=[1])}, "is a text"),
    "an unknown dtype": ({"tensors": row(dtype="float31")}, "float31"),
    "outside": ({"tensors": row(offset=1)}, "reaches to byte 12"),
    "far outside": ({"tensors": row(shape=(2**62,), strides=(2**62,))}, "reaches"),
    "negative stride": ({"tensors": row(strides=(-1,))}, "counts"),
    "negative size": ({"tensors": row(shape=(-1,))}, "counts"),
    "other rank": ({"tensors": row(strides=(1, 1))}, "do not fit"),
    "rank 100": ({"tensors": row(shape=(1,) * 100, strides=(1,) * 100)}, "do not fit"),
    "marks as a text": (
        {"tensors": json.dumps([["tensor", "float32", [2], [1], 0, "x"]])},
        "marks",
    ),
}


@pytest.mark.parametrize(("changes", "fact"), LIES.values(), ids=LIES)
def test_lies_in_the_metadata_are_refused(changes, fact):
    with pytest.raises(FormatError, match=fact):
        loaded(with_metadata(taeda.ones(2), **changes))


def test_a_shape_of_more_elements_than_exist_is_refused():
    data = with_metadata(taeda.ones(2), tensors=row(shape=(2**40, 2**40), strides=(0, 0)))
    with pytest.raises(RuntimeError):
        loaded(data)


VALUE = {"w": taeda.arange(20.0), "n": [1, 2.5, "text"], "t": taeda.arange(3)}


def test_every_truncation_is_refused():
    data = stored(VALUE)
    for size in range(1, len(data)):
        with pytest.raises(FormatError):
            loaded(data[:size])


def test_every_flipped_bit_is_seen():
    data, draw = bytearray(stored(VALUE)), random.Random(0)
    for place in range(len(data)):
        bit = 1 << draw.randrange(8)
        data[place] ^= bit
        with pytest.raises(FormatError):
            loaded(bytes(data))
        data[place] ^= bit


def test_every_flipped_bit_of_a_mapped_files_header_is_found(tmp_path):
    path = tmp_path / "a"
    taeda.save({"w": taeda.ones(2)}, path)
    start = 8 + int.from_bytes(path.read_bytes()[:8], "little")
    with open(path, "r+b", buffering=0) as file:
        for bit in range(8 * start):
            byte = path.read_bytes()[bit // 8]
            os.pwrite(file.fileno(), bytes([byte ^ 1 << bit % 8]), bit // 8)
            with pytest.raises(taeda.serialization.FormatError, match="header"):
                taeda.load(path, mmap=True)
            os.pwrite(file.fileno(), bytes([byte]), bit // 8)
    assert taeda.load(path, mmap=True)["w"].tolist() == [1.0, 1.0]


def test_every_flipped_bit_of_a_small_file_is_named():
    value = {"w": taeda.arange(3.0), "b": taeda.tensor([1, 2], dtype=taeda.uint8)}
    data = bytearray(stored(value))
    start = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
    for bit in range(8 * len(data)):
        place = bit // 8
        data[place] ^= 1 << bit % 8
        name = "header" if place < start else "'w'" if place < start + 12 else "'b'"
        with pytest.raises(FormatError, match=name):
            loaded(bytes(data))
        data[place] ^= 1 << bit % 8
    assert loaded(bytes(data))["w"].tolist() == [0.0, 1.0, 2.0]


def test_all_damaged_tensors_are_named_and_can_be_read_on_request():
    data = bytearray(stored(VALUE))
    data[-1] ^= 1
    data[-100] ^= 1
    with pytest.raises(FormatError, match=r"2 of 2 tensors .*'t', 'w'.*verify=False"):
        loaded(bytes(data))
    assert loaded(bytes(data), verify=False)["n"] == [1, 2.5, "text"]


def test_a_mapped_file_is_checked_on_request(tmp_path):
    path, data = tmp_path / "file", bytearray(stored(VALUE))
    data[-1] ^= 1
    path.write_bytes(data)
    assert load(path, mmap=True)["t"].tolist() == VALUE["t"].tolist()
    with pytest.raises(FormatError, match="damaged"):
        load(path, mmap=True, verify=True)


def test_trailing_bytes_are_refused():
    with pytest.raises(FormatError, match="nothing describes"):
        loaded(stored(VALUE) + b"x")


def test_a_plain_safetensors_file_is_a_dict_of_tensors(tmp_path):
    header = b'{"w":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}}'
    data = len(header).to_bytes(8, "little") + header + b"\x01\x00\x02\x00"
    path = tmp_path / "file"
    path.write_bytes(data)
    for made in (loaded(data), load(path, mmap=True)):
        assert made["w"].tolist() == [1, 2]
        assert made["w"].dtype == taeda.int16


def test_a_plain_safetensors_file_goes_to_meta():
    text = json.dumps({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
    made = loaded(len(text).to_bytes(8, "little") + text + bytes(24), map_location="meta")["w"]
    assert (made.shape, made.dtype, made.device.type) == ((2, 3), taeda.float32, "meta")


@pytest.mark.parametrize("name", ["UninitializedParameter", "UninitializedBuffer"])
def test_what_lazy_modules_hold_has_no_elements(name):
    data = with_metadata(taeda.ones(0), tensors=row(shape=(0,), marks=[name]))
    assert type(loaded(data)).__name__ == name
    with pytest.raises(FormatError, match=f"a tensor of shape .2. as {name}"):
        loaded(with_metadata(taeda.ones(2), tensors=row(marks=[name])))


def test_mapped_numbers_are_aligned(tmp_path):
    pieces = []
    for length in (3, 5, 7):
        base = taeda.arange(40)
        pieces += [base[:2], base.view(taeda.uint8)[: 16 + length]]
    save(pieces, tmp_path / "f")
    for made, wanted in zip(load(tmp_path / "f", mmap=True), pieces, strict=True):
        assert made.tolist() == wanted.tolist()
        assert made.data_ptr() % made.element_size() == 0


def test_a_file_of_version_1_is_read_for_ever():
    """The file was written when the format was new; a reader that refuses it breaks a promise."""
    made = load(Path(__file__).parent.parent / "files" / "version-1.safetensors")
    assert made["weight"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    made["weight"][0, 0] = 9.0
    assert made["row"].tolist() == [9.0, 1.0, 2.0]
    assert made["parameter"].requires_grad
    assert made["conj"].tolist() == [1 - 2j]
    assert made["column"].stride() == (3,)
    assert made["bfloat16"].dtype == taeda.bfloat16
    assert made["eight"].dtype == taeda.float8_e4m3fn
    assert made["meta"].device.type == "meta"
    assert made["plain"] == (1, 2.5, None, "é", b"\x00", {3}, {("a", 1): [math.inf]})
    assert made["plain"] is made["again"]
    assert made["array"].tolist() == ["ab", "c"]
    assert type(made["scalar"]) is np.float32
    assert made["ordered"]._metadata == {"": {"version": 1}}
    assert made["generator"].initial_seed() == 7


FILE = stored({"w": taeda.arange(6.0).reshape(2, 3), "n": [1, "text"], "t": taeda.arange(3)})
HEADER = LENGTH_BYTES + int.from_bytes(FILE[:LENGTH_BYTES], "little")
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["set", "insert", "delete", "copy"]),
        st.integers(0, HEADER - 1),
        st.integers(0, 255),
    ),
    min_size=1,
    max_size=3,
)


def changed(data, changes):
    made = bytearray(data)
    for kind, place, value in changes:
        if kind == "set":
            made[place] = value
        elif kind == "insert":
            made.insert(place, value)
        elif kind == "delete":
            del made[place : place + value % 8 + 1]
        else:
            made[place : place + 8] = made[value : value + 8]
    return bytes(made)


@settings(derandomize=True, database=None, deadline=None, max_examples=400)
@given(CHANGES)
def test_a_header_with_other_bytes_is_refused(changes):
    data = changed(FILE, changes)
    if data == FILE:
        return
    with pytest.raises(FormatError):
        loaded(data)
    with pytest.raises(FormatError):
        loaded(data, map_location="meta")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**64)
    | st.floats(allow_nan=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=5,
)


@settings(derandomize=True, database=None, deadline=None, max_examples=400)
@given(st.integers(0, 5), VALUES, st.sampled_from(["tensors", "tree", "locations", "crc32c"]))
def test_metadata_that_agree_with_their_checksum_are_checked_all_the_same(place, value, key):
    """One value of a row, or a whole text, is any other: it is refused, or the tensor lies within
    its entry.
    """
    described = [["tensor", "float32", [2], [1], 0, []]]
    described[0][place] = value
    text = json.dumps(described if key == "tensors" else value)
    try:
        made = loaded(with_metadata(taeda.ones(2), **{key: text}))
    except FormatError:
        return
    if isinstance(made, taeda.Tensor) and made.numel() and made.device.type == "cpu":
        assert made.untyped_storage().nbytes() <= 8
        assert made.tolist() is not None
