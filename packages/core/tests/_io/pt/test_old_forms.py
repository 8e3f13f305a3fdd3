"""torch's forms before 1.6 and before 0.2, the second built here by its description: no torch writes it any more."""

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
    "a damaged header": (old().replace(b"tensors\0", b"tensorz\0", 1), "checksum differs"),
}


@pytest.mark.parametrize(("data", "message"), TARS.values(), ids=TARS)
def test_a_tar_that_is_refused(data, message):
    with pytest.raises(FormatError, match=message):
        load(data)


# ---- pickles in a row ----


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


def test_one_object_after_another_in_an_open_file():
    file = io.BytesIO(stream(tensor()) + stream(tensor(size=5)))
    assert taeda.load(file).tolist() == [0, 1]
    assert taeda.load(file).tolist() == [0, 1, 2, 3, 4]


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
    "a module": (stream(b"(" + text("module") + b"K\x01tQ"), "a whole module"),
    "two lengths": (stream(b"(" + tensor() + tensor(count=5) + b"t"), "described in two ways"),
}


@pytest.mark.parametrize(("data", "message"), STREAMS.values(), ids=STREAMS)
def test_a_stream_that_is_refused(data, message):
    with pytest.raises(FormatError, match=message):
        load(data)


def test_bytes_behind_the_last_storage(tmp_path):
    path = tmp_path / "file.pt"
    path.write_bytes(stream(tensor(), behind=b"x"))
    with pytest.raises(FormatError, match="1 bytes follow the last storage"):
        taeda.load(path)
