"""`save(format="pt")` writes a zip as torch does. That torch reads it is tested in tests_parity."""

from __future__ import annotations

import collections
import io
import pickletools
import zipfile

import pytest
from describe import describe

import taeda


def written(value):
    file = io.BytesIO()
    taeda.save(value, file, format="pt")
    return file.getvalue()


def again(value, **options):
    return taeda.load(io.BytesIO(written(value)), **options)


def tensors():
    base = taeda.arange(24.0)
    noted = taeda.ones(2)
    noted.note = "kept"
    return {
        "base": base,
        "part": base[4:9],
        "turned": base.view(4, 6).t(),
        "again": base,
        "empty": taeda.empty(0, 3),
        "zero-dim": taeda.tensor(3.5),
        "expanded": taeda.ones(1).expand(4),
        "conjugate": taeda.tensor([1 + 2j]).conj(),
        "negative": taeda._neg_view(taeda.ones(2)),
        "leaf": taeda.ones(2, requires_grad=True),
        "parameter": taeda.nn.Parameter(taeda.ones(2)),
        "frozen": taeda.nn.Parameter(taeda.ones(2), requires_grad=False),
        "meta": taeda.empty(2, 3, device="meta"),
        "noted": noted,
    }


def containers():
    inner = [1, 2]
    versions = collections.OrderedDict(a=1)
    versions._metadata = {"": {"version": 1}}
    return {
        "numbers": [0, 255, 256, 65535, 65536, -1, 2**31, -(2**31), 2**200, -(2**200), 1.5, 1 - 2j],
        "constants": (None, True, False, (), [], {}, "", b"", set(), bytearray()),
        "texts": ["é", "😀", "\ud800", "a" * 300],
        "bytes": [b"\x00\xff", bytearray(b"ab")],
        "sets": [{1, "a"}, frozenset({(1, 2)})],
        "same": [inner, inner],
        "ordered": versions,
        "counter": collections.Counter("abca"),
        "default": collections.defaultdict(list, a=[1]),
        "size": taeda.Size([2, 3]),
        "types": [taeda.float32, taeda.float8_e4m3fn, taeda.strided, taeda.device("cpu")],
        ("a", 1): {2.5: None},
        "many": {str(i): i for i in range(2500)},
        "long": list(range(2500)),
        "tuples": [tuple(range(n)) for n in range(6)],
    }


@pytest.mark.parametrize("make", [tensors, containers])
def test_what_is_written_is_read(make):
    value = make()
    assert describe(again(value), taeda) == describe(value, taeda)


DTYPES = [n for n in dir(taeda) if isinstance(getattr(taeda, n, None), taeda.dtype) and n[0] != "q"]


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(name):
    dtype = getattr(taeda, name)
    value = taeda.tensor([[1, 0, 2], [3, 4, 1]]).to(dtype)
    made = again(value)
    assert made.dtype == dtype
    assert describe(made, taeda) == describe(value, taeda)


def test_tensors_share_memory_as_before():
    made = again(tensors())
    made["turned"].zero_()
    assert made["base"].sum() == 0
    assert made["again"] is made["base"]


def test_a_storage_of_two_dtypes():
    floats = taeda.arange(4.0)
    made = again([floats, floats.view(taeda.int32), floats.view(taeda.uint16)])
    assert made[1].tolist() == floats.view(taeda.int32).tolist()
    made[1].zero_()
    assert made[0].tolist() == [0] * 4


def test_any_zip_reader_accepts_it_and_data_are_aligned():
    data = written(tensors())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        for record in archive.infolist():
            begin = record.header_offset + 30
            begin += sum(
                data[record.header_offset + i] + 256 * data[record.header_offset + i + 1]
                for i in (26, 28)
            )
            assert begin % 64 == 0
            assert data[begin : begin + record.file_size] == archive.read(record)


def test_the_pickle_is_of_protocol_2():
    with zipfile.ZipFile(io.BytesIO(written([tensors(), containers()]))) as archive:
        opcodes = {
            code.name: code.proto
            for code, _, _ in pickletools.genops(archive.read("archive/data.pkl"))
        }
    assert max(opcodes.values()) == 2


def test_a_path_is_replaced_whole(tmp_path):
    path = tmp_path / "file.pt"
    path.write_bytes(b"old")
    with pytest.raises(TypeError, match=r"cannot save the object at 'a\.1', a builtins.object"):
        taeda.save({"a": [1, object()]}, path, format="pt")
    assert path.read_bytes() == b"old"
    taeda.save({"a": taeda.ones(2)}, path, format="pt")
    assert taeda.load(path, mmap=True)["a"].tolist() == [1, 1]


def test_progress():
    seen = []
    taeda.save(
        taeda.zeros(600_000), io.BytesIO(), format="pt", progress=lambda *told: seen.append(told)
    )
    assert seen[-1] == (2_400_000, 2_400_000)
    assert len(seen) > 1
    loaded = []
    again(taeda.zeros(10), progress=lambda *told: loaded.append(told))
    assert loaded


def test_without_checksums():
    before = taeda.serialization.get_crc32_options()
    taeda.serialization.set_crc32_options(False)
    try:
        data = bytearray(written(taeda.zeros(100)))
    finally:
        taeda.serialization.set_crc32_options(before)
    data[data.index(bytes(400)) + 7] = 1
    assert taeda.load(io.BytesIO(bytes(data))).sum() != 0


def test_verify_compares_checksums_of_a_mapped_file(tmp_path):
    data = bytearray(written(taeda.zeros(100)))
    data[data.index(bytes(400)) + 7] = 1
    path = tmp_path / "file.pt"
    path.write_bytes(data)
    assert taeda.load(path, mmap=True).sum() != 0
    assert taeda.load(path, verify=False).sum() != 0
    with pytest.raises(RuntimeError, match="'data/0' is damaged"):
        taeda.load(path, mmap=True, verify=True)


REFUSED = {
    "an object": (lambda: object(), TypeError, "save tensors, numbers"),
    "an optimizer": (
        lambda: taeda.optim.SGD([taeda.ones(1)]),
        TypeError,
        r"save its state_dict\(\).*format='safetensors'",
    ),
    "a huge integer": (lambda: 1 << 3000, ValueError, "integer of 376 bytes"),
    "a function": (lambda: collections.defaultdict(lambda: 1), TypeError, "function of its own"),
    "depth": (lambda: nested(100_000), ValueError, "nested too deeply"),
}


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(("make", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(make, error, message):
    with pytest.raises(error, match=message):
        written(make())


def test_another_format():
    with pytest.raises(ValueError, match="format is 'safetensors' or 'pt', got 'onnx'"):
        taeda.save(1, io.BytesIO(), format="onnx")
