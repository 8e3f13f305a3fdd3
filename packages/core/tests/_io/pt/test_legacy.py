"""The form before 1.6: pickles, then the storages."""

from __future__ import annotations

import io
import pickle
import struct

import pytest

import taeda
from taeda._io.pt import legacy
from taeda._io.pt.context import StorageType
from taeda._io.safetensors import FormatError

NUMBERS = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]

STORAGE = b"ctorch\nFloatStorage\n"


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value):
    return b"J" + struct.pack("<i", value)


def load(data, **options):
    return taeda.load(io.BytesIO(data), **options)


def stream(object_words, keys=("0",), counts=(6,), behind=b""):
    head = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps({}, 2)
    data = b"".join(struct.pack("<q6f", count, *NUMBERS) for count in counts)
    return head + b"\x80\x02" + object_words + b"." + pickle.dumps(list(keys), 2) + data + behind


def tensor(view=b"N", count=6, size=2):
    identity = (
        b"(" + text("storage") + STORAGE + text("0") + text("cpu") + number(count) + view + b"tQ"
    )
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + identity
        + b"K\x00"
        + number(size)
        + b"\x85K\x01\x85\x89NtR"
    )


def test_a_part_of_a_storage():
    view = b"(" + text("part") + b"K\x03K\x03t"
    assert load(stream(tensor(view))).tolist() == [3, 4]


def test_a_pickle_of_more_than_a_megabyte():
    words = b"](" + tensor() + (b"X" + struct.pack("<I", 1000) + b"a" * 1000) * 3000 + b"e"
    made = load(stream(words))
    assert made[0].tolist() == [0, 1]
    assert len(made) == 3001


STREAMS = {
    "a pickle of something else": (
        pickle.dumps({"a": 1}, 2),
        "a pickle, not a file that torch wrote",
    ),
    "fewer elements": (stream(tensor(count=5)), "said to have 5 elements, and has 6"),
    "more than the file": (stream(tensor(count=2**30)), "more than the file has bytes"),
    "no key": (stream(tensor(), keys=()), "not those that its object names"),
    "a key too many": (stream(tensor(), keys=("0", "1")), "not those that its object names"),
    "a part outside": (stream(tensor(b"(" + text("p") + b"K\x04K\x03t")), "elements 4 to 7"),
    "cut": (stream(tensor())[:-1], "truncated"),
    "another protocol": (
        stream(tensor()).replace(pickle.dumps(1001, 2), pickle.dumps(1002, 2)),
        "not a file that torch wrote",
    ),
    "keys that are none": (stream(tensor(), keys=(1,)), "no list of texts"),
    "keys in a dict": (
        stream(tensor())[: stream(tensor()).index(pickle.dumps(["0"], 2))] + pickle.dumps({}, 2),
        "no list of texts",
    ),
    "a part of two": (stream(tensor(b"(" + text("p") + b"K\x04t")), "its key, offset and length"),
    "a part that is a list": (stream(tensor(b"]")), "its key, offset and length"),
    "a part that begins before": (
        stream(tensor(b"(" + text("p") + number(-1) + b"K\x03t")),
        "elements -1 to 2",
    ),
    "cut in a pickle": (stream(tensor())[:100], "truncated"),
    "a module": (stream(b"(" + text("module") + b"K\x01tQ"), "a whole module"),
    "two lengths": (stream(b"(" + tensor() + tensor(count=5) + b"t"), "described in two ways"),
}


@pytest.mark.parametrize(("data", "message"), STREAMS.values(), ids=STREAMS)
def test_a_stream_that_is_refused(data, message):
    with pytest.raises(FormatError, match=message):
        load(data)


def test_a_stream_without_data_goes_to_meta():
    made = load(stream(tensor()), map_location="meta")
    assert (made.shape, made.device.type) == ((2,), "meta")


def test_numbers_of_the_other_order_are_swapped(monkeypatch):
    """As on a machine whose order is the other: the file's is little-endian everywhere."""
    monkeypatch.setattr(legacy.sys, "byteorder", "big")
    kind = StorageType("FloatStorage", taeda.float32)
    data = taeda.tensor([1.0, 2.0])
    legacy.to_this_machine(data.view(taeda.uint8), kind)
    assert data.numpy().byteswap().tolist() == [1, 2]
    untouched = taeda.tensor([1], dtype=taeda.uint8)
    legacy.to_this_machine(untouched, StorageType("UntypedStorage", None))
    assert untouched.item() == 1


def test_a_storage_of_no_elements():
    words = tensor(b"(" + text("p") + b"K\0K\0t", count=0, size=0)
    head = stream(words, counts=())
    assert load(head + struct.pack("<q", 0)).shape == (0,)
