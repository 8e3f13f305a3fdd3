"""save and load: what comes back, what is shared, and what is refused."""

from __future__ import annotations

import io
import json
import os
import random

import pytest

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


def ways(value, folder):
    """The value through a file object, a path, and a mapped file."""
    path = folder / "file"
    save(value, path)
    yield loaded(stored(value))
    yield load(path)
    yield load(path, mmap=True)


def same(a, b):
    assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
    assert (a.requires_grad, a.is_leaf, a.device) == (b.requires_grad, True, b.device)
    assert a.is_conj() == b.is_conj()
    if b.device.type != "meta":
        assert repr(a.tolist()) == repr(b.tolist())


DTYPES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64
complex32 complex64 complex128 float8_e4m3fn float8_e5m2 float8_e4m3fnuz"""


@pytest.mark.parametrize("name", DTYPES.split())
def test_every_dtype(name, tmp_path):
    value = taeda.tensor([[0, 1, 2], [3, 4, 1]]).to(getattr(taeda, name))
    for made in ways(value, tmp_path):
        same(made, value)


LAYOUTS = {
    "zero-dim": lambda: taeda.tensor(3.5),
    "empty": lambda: taeda.empty(0, 3),
    "transposed": lambda: taeda.arange(6).reshape(2, 3).t(),
    "strided": lambda: taeda.arange(10)[1::3],
    "expanded": lambda: taeda.ones(1).expand(4),
    "offset": lambda: taeda.arange(100)[50:60],
    "channels last": lambda: (
        taeda.arange(24.0).reshape(1, 2, 3, 4).contiguous(memory_format=taeda.channels_last)
    ),
    "requires grad": lambda: taeda.ones(2, requires_grad=True),
    "conjugate": lambda: taeda.tensor([1 + 2j]).conj(),
    "meta": lambda: taeda.empty(2, 3, device="meta"),
}


@pytest.mark.parametrize("make", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout(make, tmp_path):
    value = make()
    for made in ways([value], tmp_path):
        same(made[0], value)


def test_a_slice_takes_only_its_part_of_the_file():
    assert len(stored(taeda.zeros(1_000_000)[:10])) < 2000


def test_shared_memory_stays_shared(tmp_path):
    base = taeda.arange(12.0).reshape(3, 4)
    value = {"rows": base[1:], "columns": base.t(), "all": base, "again": base}
    for made in ways(value, tmp_path):
        made["all"][1, 2] = 99.0
        assert made["rows"][0, 2].item() == 99.0
        assert made["columns"][2, 1].item() == 99.0
        assert made["again"] is made["all"]


def test_views_of_other_dtypes_share_too():
    base = taeda.arange(4)
    made = loaded(stored([base, base.view(taeda.uint8)[8:16]]))
    made[1].fill_(0)
    assert made[0].tolist() == [0, 0, 2, 3]


def test_two_storages_stay_apart():
    made = loaded(stored([taeda.ones(2), taeda.ones(2)]))
    made[0].zero_()
    assert made[1].tolist() == [1.0, 1.0]


def test_a_loaded_tensor_is_written_like_a_new_one():
    made = loaded(stored(taeda.ones(3)))
    made.add_(1)
    made.requires_grad_()
    assert made.is_leaf
    assert made._base is None


def test_a_mapped_file_does_not_change(tmp_path):
    path = tmp_path / "file"
    save(taeda.ones(100), path)
    load(path, mmap=True).zero_()
    assert load(path).sum().item() == 100.0


def test_nested_data():
    value = {"step": 3, "lr": [0.1, None], "name": "x", "betas": (0.9, 0.999), 0: {"w": {1, 2}}}
    assert loaded(stored(value)) == value


def test_loading_to_meta_reads_no_data():
    made = loaded(stored({"a": taeda.ones(2, 3)}), map_location="meta")
    assert made["a"].device.type == "meta"
    assert made["a"].shape == (2, 3)


def test_map_location_as_dict_device_and_function():
    data, seen = stored(taeda.ones(2)), []
    assert loaded(data, map_location={"cuda:0": "cpu"}).tolist() == [1.0, 1.0]
    assert loaded(data, map_location=taeda.device("cpu")).tolist() == [1.0, 1.0]
    made = loaded(data, map_location=lambda storage, place: seen.append(place))
    assert (made.tolist(), seen) == ([1.0, 1.0], ["cpu"])


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(RuntimeError, match="cuda"):
        loaded(stored(taeda.ones(2)), map_location="cuda")


def test_other_readers_find_the_tensors_by_name():
    header = header_of(stored({"model": {"w": taeda.ones(2, 3)}, "z": taeda.tensor([1 + 2j])}))
    assert header["model.w"]["dtype"] == "F32"
    assert header["model.w"]["shape"] == [2, 3]
    assert header["z"]["shape"] == [1, 2]


def test_a_plain_safetensors_file_is_a_dict_of_tensors(tmp_path):
    header = b'{"w":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}}'
    data = len(header).to_bytes(8, "little") + header + b"\x01\x00\x02\x00"
    path = tmp_path / "file"
    path.write_bytes(data)
    for made in (loaded(data), load(path, mmap=True)):
        assert made["w"].tolist() == [1, 2]
        assert made["w"].dtype == taeda.int16


def test_streams_without_seek_and_without_readinto():
    class Stream:
        def __init__(self, data):
            self.data = io.BytesIO(data)

        def read(self, size=-1):
            return self.data.read(min(size, 7) if size > 0 else size)

    made = load(Stream(stored({"a": taeda.arange(5)})))
    assert made["a"].tolist() == [0, 1, 2, 3, 4]


def test_large_tensors(tmp_path):
    value = [taeda.arange(300_000), taeda.arange(200_000.0)]  # above the size of a second thread
    for made in ways(value, tmp_path):
        assert all(bool((a == b).all()) for a, b in zip(made, value, strict=True))


def test_a_failed_save_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    save(1, path)
    with pytest.raises(TypeError):
        save(object(), path)
    assert load(path) == 1
    assert os.listdir(tmp_path) == ["file"]


REFUSALS = {
    "an object": (lambda: save({"a": [object()]}, io.BytesIO()), TypeError, "a.0"),
    "no file to write": (lambda: save(1, 3), AttributeError, "'write'"),
    "no file to read": (lambda: load(3), AttributeError, "'read'"),
    "an empty file": (lambda: load(io.BytesIO()), EOFError, "empty"),
    "mmap of an object": (lambda: load(io.BytesIO(b"x"), mmap=True), ValueError, "mmap"),
    "a pickle module": (
        lambda: load(io.BytesIO(b"x"), pickle_module=os),
        RuntimeError,
        "pickle_module",
    ),
    "pickling": (lambda: save(1, io.BytesIO(), pickle_module=os), TypeError, "pickle_module"),
    "a missing file": (lambda: load("/nowhere/at/all"), FileNotFoundError, "nowhere"),
}


@pytest.mark.parametrize(("call", "error", "fact"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


# ---- damaged files ----


def header_of(data):
    length = int.from_bytes(data[:LENGTH_BYTES], "little")
    return json.loads(data[LENGTH_BYTES : LENGTH_BYTES + length])


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


def test_trailing_bytes_are_refused():
    with pytest.raises(FormatError, match="nothing describes"):
        loaded(stored(VALUE) + b"x")
