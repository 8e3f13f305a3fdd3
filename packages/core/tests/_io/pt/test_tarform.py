"""The form before 0.2, a tar, built here by its description: no torch writes it any more."""

from __future__ import annotations

import io
import pickle
import struct
import tarfile

import pytest

import taeda
from taeda._io.safetensors import FormatError

NUMBERS = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]

STORAGE = b"ctorch\nFloatStorage\n"


def tuple_of(*words):
    return b"\x80\x02(" + b"".join(words) + b"t."


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value):
    return b"J" + struct.pack("<i", value)


def storages(parts=b"]"):
    one = tuple_of(number(1), text("cpu"), STORAGE) + struct.pack("<q6f", 6, *NUMBERS)
    return b"\x80\x02K\x01." + one + b"\x80\x02" + parts + b"."


def tensors():
    def one(key, storage, numbers):
        head = tuple_of(number(key), number(storage), b"ctorch\nFloatTensor\n")
        dims = len(numbers) // 2
        return head + struct.pack(f"<ii{len(numbers)}q", dims, 0, *numbers)

    return (
        b"\x80\x02K\x03."
        + one(5, 1, (2, 3, 3, 1, 0))
        + one(6, 1, (3, 2, 1, 3, 0))
        + one(7, 2, (2, 1, 1))
    )


VIEWS = b"](" + b"(" + number(2) + number(1) + number(3) + number(3) + b"te"

OBJECT = (
    b"\x80\x02}("
    + text("a")
    + text("5")
    + b"Q"
    + text("b")
    + text("6")
    + b"Q"
    + text("c")
    + text("7")
    + b"Qu."
)


def old(**changes):
    parts = {
        "sys_info": b"\x80\x02}.",
        "pickle": OBJECT,
        "tensors": tensors(),
        "storages": storages(VIEWS),
    }
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in (parts | changes).items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def old_without(name):
    """The tar with another name for one of its parts."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for part in {"storages", "tensors", "pickle"} - {name}:
            archive.addfile(tarfile.TarInfo(part))
    return file.getvalue()


def load(data, **options):
    return taeda.load(io.BytesIO(data), **options)


def test_the_tar():
    made = load(old())
    assert made["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert made["b"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert made["c"].tolist() == [4, 5]
    made["a"].zero_()
    assert made["b"].sum() == made["c"].sum() == 0


def test_the_tar_without_data():
    made = load(old(), map_location="meta")
    assert (made["b"].shape, made["b"].device.type) == ((3, 2), "meta")


TARS = {
    "a part missing": (old(tensors=b""), "begins with"),
    "a tensor outside": (old(storages=storages()), "made of|not in the file"),
    "a part of a storage outside": (
        old(storages=storages(VIEWS.replace(number(3), number(4)))),
        "outside of the one",
    ),
    "code": (old(pickle=pickle.dumps(print, 2)), "asks for 'builtins.print'"),
    "a key that is not there": (old(pickle=b"\x80\x02" + text("99") + b"Q."), "not in the file"),
    "a storage cut": (old(storages=storages()[:-10]), "more than the file|truncated"),
    "a storage of nothing": (
        old(storages=b"\x80\x02K\x01." + tuple_of(number(1), number(2), STORAGE)),
        "its key, device and type",
    ),
    "a storage of no type": (
        old(storages=b"\x80\x02K\x01." + tuple_of(number(1), text("cpu"), text("x"))),
        "its key, device and type",
    ),
    "a storage of a list": (old(storages=b"\x80\x02K\x01.\x80\x02]."), "by its key and two values"),
    "a storage of a text": (
        old(storages=b"\x80\x02K\x01." + tuple_of(text("a"), text("cpu"), STORAGE)),
        "by its key and two values",
    ),
    "a storage without its length": (
        old(storages=b"\x80\x02K\x01." + tuple_of(number(1), text("cpu"), STORAGE)),
        "truncated inside one of",
    ),
    "many storages": (old(storages=b"\x80\x02" + number(2_000_000) + b"."), "missing or too large"),
    "a negative number of storages": (
        old(storages=b"\x80\x02" + number(-1) + b"."),
        "missing or too large",
    ),
    "no number of storages": (old(storages=b"\x80\x02N."), "missing or too large"),
    "parts that are none": (old(storages=storages(b"N")), "two keys, offset and length"),
    "a part of three": (
        old(storages=storages(b"](" + b"(" + number(2) + number(1) + number(3) + b"te")),
        "two keys, offset and length",
    ),
    "a part of nothing": (
        old(storages=storages(VIEWS.replace(number(1), number(8)))),
        "part of 8, which is not there",
    ),
    "a part that begins before": (
        old(
            storages=storages(b"](" + b"(" + number(2) + number(1) + number(-1) + number(3) + b"te")
        ),
        "outside of the one",
    ),
    "many dimensions": (
        old(
            tensors=b"\x80\x02K\x01."
            + tuple_of(number(5), number(1), text("t"))
            + struct.pack("<ii", 65, 0)
        ),
        "said to have 65 dimensions",
    ),
    "negative dimensions": (
        old(
            tensors=b"\x80\x02K\x01."
            + tuple_of(number(5), number(1), text("t"))
            + struct.pack("<ii", -1, 0)
        ),
        "said to have -1 dimensions",
    ),
    "no pickle": (old_without("pickle"), "a tar archive without pickle"),
    "a damaged header": (old().replace(b"tensors\0", b"tensorz\0", 1), "checksum differs"),
}


@pytest.mark.parametrize(("data", "message"), TARS.values(), ids=TARS)
def test_a_tar_that_is_refused(data, message):
    with pytest.raises(FormatError, match=message):
        load(data)
