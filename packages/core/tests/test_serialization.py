"""save and load: what comes back, what is shared, and what is refused."""

from __future__ import annotations

import enum
import io
import mmap
import os
import random
import zipfile
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import taeda
from taeda import serialization
from taeda._io.place import _registered
from taeda._io.safetensors import FormatError
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


def test_large_tensors(tmp_path):
    value = [taeda.arange(300_000), taeda.arange(200_000.0)]  # above the size of a second thread
    for made in ways(value, tmp_path):
        assert all(bool((a == b).all()) for a, b in zip(made, value, strict=True))


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


# ---- more than tensors ----


class Color(enum.Enum):
    RED = 1


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Config:
    rate: float
    layers: list[int]

    def __post_init__(self):
        raise AssertionError("no code of a class runs when an instance is loaded")


class Slotted:
    __slots__ = ("a",)


class Named(taeda.Tensor):
    pass


def instances():
    config = object.__new__(Config)
    config.__dict__.update(rate=0.1, layers=[1, 2])
    slotted = Slotted()
    slotted.a = (1,)
    return [Color.RED, Point(1, taeda.ones(2)), config, slotted, taeda.ones(3).as_subclass(Named)]


CLASSES = [Color, Point, Config, Slotted, Named]


def test_instances_of_allowed_classes_come_back():
    with serialization.safe_globals(CLASSES):
        assert serialization.get_safe_globals() == CLASSES
        data = stored(instances())
        color, point, config, slotted, named = loaded(data)
    assert serialization.get_safe_globals() == []
    assert color is Color.RED
    assert type(point) is Point
    assert point.y.tolist() == [1.0, 1.0]
    assert (type(config), config.rate, config.layers) == (Config, 0.1, [1, 2])
    assert slotted.a == (1,)
    assert type(named) is Named
    with pytest.raises(FormatError, match="add_safe_globals"):
        loaded(data)


@pytest.mark.parametrize("value", instances(), ids=lambda v: type(v).__name__)
def test_instances_of_other_classes_are_refused_with_what_to_do(value):
    with pytest.raises(TypeError, match=r"add_safe_globals|files hold data"):
        stored([value])


def test_a_class_may_be_allowed_under_another_name():
    with serialization.safe_globals([(Point, "old.place.Point")]):
        data = stored(Point(1, 2))
    with serialization.safe_globals([(Point, "old.place.Point")]):
        assert loaded(data) == Point(1, 2)
    serialization.add_safe_globals([Point])
    try:
        with pytest.raises(FormatError, match=r"old\.place\.Point"):
            loaded(data)
    finally:
        serialization.clear_safe_globals()


def test_what_can_be_no_global_is_refused():
    with pytest.raises(TypeError, match="a class"):
        serialization.add_safe_globals([(3, "x")])


def test_native_files_name_no_globals(tmp_path):
    save(1, tmp_path / "a")
    assert serialization.get_unsafe_globals_in_checkpoint(tmp_path / "a") == []
    assert serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(stored(1))) == []


ARRAYS = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.arange(6)[::-2],
    np.asfortranarray(np.ones((2, 3))),
    np.arange(3, dtype=">i4"),
    np.array(["a", "bcd"]),
    np.array([b"x", b"yz"]),
    np.array(["2020-01-01"], dtype="datetime64[ns]"),
    np.array([(1, 2.5)], dtype=[("a", "<i2"), ("b", "<f8", (2,))]),
    np.zeros((0, 3)),
    np.zeros(0, "U3"),
    np.array(5),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: str(a.dtype))
@pytest.mark.parametrize("place", ["cpu", "meta"])
def test_numpy_arrays(array, place):
    made = loaded(stored({"a": array, "again": array}), map_location=place)
    assert type(made["a"]) is np.ndarray
    assert (made["a"].dtype, made["a"].shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(made["a"], array)
    assert made["again"] is made["a"]


def test_states_of_random_generators():
    generator = taeda.Generator().manual_seed(5)
    mine = random.Random(3)
    legacy = np.random.RandomState(3)
    made = loaded(stored([generator, generator.get_state(), mine.getstate(), legacy.get_state()]))
    wanted = taeda.rand(3, generator=generator)
    assert taeda.equal(taeda.rand(3, generator=made[0]), wanted)
    assert taeda.equal(taeda.rand(3, generator=taeda.Generator().set_state(made[1])), wanted)
    other, other_legacy = random.Random(), np.random.RandomState()
    other.setstate(made[2])
    other_legacy.set_state(made[3])
    assert other.random() == mine.random()
    assert other_legacy.rand() == legacy.rand()


def test_storages():
    x = taeda.arange(4)
    made = loaded(stored([x, x.untyped_storage()]))
    made[1][0] = 7
    assert made[0].tolist() == [7, 1, 2, 3]


# ---- places ----


@pytest.fixture
def package():
    yield serialization.register_package
    _registered.clear()


def test_packages_name_and_choose_places(package, tmp_path):
    seen = []

    def restore(storage, where):
        if where == "attic":
            seen.append(storage.nbytes())
            return storage.clone()
        return None

    package(30, lambda storage: "cellar", lambda storage, where: None)
    package(5, lambda storage: "attic" if storage.nbytes() == 8 else None, restore)
    save({"a": taeda.ones(2), "b": taeda.ones(3)}, tmp_path / "f")
    places = []
    load(tmp_path / "f", map_location=lambda storage, where: places.append(where) or storage)
    assert places == ["attic", "cellar"]
    with pytest.raises(RuntimeError, match=r"'cellar', which is not here.*map_location='cpu'"):
        load(tmp_path / "f")
    made = load(tmp_path / "f", map_location={"cellar": "cpu"})
    assert (made["a"].tolist(), seen) == ([1.0, 1.0], [8, 8])
    assert load(tmp_path / "f", map_location="cpu")["b"].tolist() == [1.0] * 3


def test_a_function_may_give_another_storage():
    def doubled(storage, where):
        made = storage.clone()
        made[3] = 64
        return made

    assert loaded(stored(taeda.zeros(1)), map_location=doubled).tolist() == [2.0]
    with pytest.raises(FormatError, match="same size"):
        loaded(stored(taeda.zeros(1)), map_location=lambda storage, where: 3)


# ---- options ----


def test_a_shared_map_writes_to_the_file(tmp_path):
    path = tmp_path / "file"
    save(taeda.zeros(2), path)
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        assert serialization.get_default_mmap_options() == mmap.MAP_SHARED
        load(path, mmap=True).fill_(3)
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    assert load(path, verify=False).tolist() == [3.0, 3.0]
    with pytest.raises(FormatError, match="damaged"):
        load(path)
    with pytest.raises(ValueError, match="MAP_SHARED"):
        serialization.set_default_mmap_options(77)


def test_config_shows_the_options(tmp_path):
    config = taeda.utils.serialization.config
    save(taeda.ones(2), tmp_path / "f")
    assert config.save.compute_crc32 is True
    config.load.mmap = True
    try:
        assert load(tmp_path / "f").tolist() == [1.0, 1.0]
        assert loaded(stored(1)) == 1
    finally:
        config.load.mmap = False
    with pytest.raises(AttributeError):
        config.load.speed = 3


def test_the_order_of_bytes_to_assume():
    kinds = serialization.LoadEndianness
    assert serialization.get_default_load_endianness() is None
    serialization.set_default_load_endianness(kinds.BIG)
    try:
        assert serialization.get_default_load_endianness() is kinds.BIG
    finally:
        serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="Invalid"):
        serialization.set_default_load_endianness("big")


def test_progress_reaches_the_end(tmp_path, capsys):
    value, seen = {"a": taeda.ones(1_000_000), "b": taeda.ones(5)}, []
    save(value, tmp_path / "f", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (4_000_020, 4_000_020)
    assert len(seen) > 3
    assert seen == sorted(seen)
    seen.clear()
    load(tmp_path / "f", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (4_000_020, 4_000_020)
    load(tmp_path / "f", progress=True)
    assert "100 % of 4 MB" in capsys.readouterr().err
    with pytest.raises(TypeError, match="progress"):
        save(1, tmp_path / "f", progress=3)


def test_pickling_is_refused_with_the_reason():
    with pytest.raises(RuntimeError, match="never unpickles, because that runs code"):
        loaded(stored(1), pickle_module=os, encoding="latin1")
    assert loaded(stored(1), weights_only=False) == 1


# ---- damaged files ----


@pytest.mark.parametrize("format", ["safetensors", "pt"])
def test_a_stream_holds_one_object(format):
    file = io.BytesIO()
    save([1], file, format=format)
    save([2], file, format=format)
    file.seek(0)
    with pytest.raises(FormatError, match="holds one saved object"):
        load(file)


def test_a_file_of_text_is_named():
    with pytest.raises(TypeError, match="got StringIO, which gives text: open it with mode 'rb'"):
        load(io.StringIO("x"))


@pytest.mark.parametrize("folder", ["/proc", "/sys"])
def test_a_folder_that_is_on_no_disk_is_named(folder):
    with pytest.raises(OSError, match=f"{folder}") as caught:
        save([1], f"{folder}/x")
    assert "disk is full" not in str(caught.value)
    assert "does not exist" not in str(caught.value)


def test_a_zip_for_torch_on_request(tmp_path):
    base, seen = taeda.arange(300_000.0), []
    value = {"a": base, "b": base[10:20], "n": [1, "x", None]}
    save(
        value,
        tmp_path / "model.pt",
        format="pt",
        progress=lambda done, total: seen.append(done / total),
    )
    with zipfile.ZipFile(tmp_path / "model.pt") as archive:
        assert "archive/data.pkl" in archive.namelist()
    made = load(tmp_path / "model.pt")
    assert made["b"].tolist() == base[10:20].tolist()
    made["a"][10] = -1.0
    assert made["b"][0].item() == -1.0
    assert made["n"] == [1, "x", None]
    assert seen[-1] == 1
    with pytest.raises(ValueError, match="'safetensors' or 'pt'"):
        save(value, tmp_path / "model.pt", format="pickle")


@pytest.mark.parametrize("suffix", ["pt", "safetensors", "npy", "taeda"])
@pytest.mark.parametrize(
    "content", [b"", b"<!doctype html><html></html>", b"PK\x03\x04 cut", b"\x00" * 64]
)
def test_error_of_damaged_file_names_it(tmp_path, suffix, content):
    path = tmp_path / f"weights.{suffix}"
    path.write_bytes(content)
    with pytest.raises((RuntimeError, EOFError), match=f"weights.{suffix}"):
        taeda.load(path)


def test_error_of_truncated_archive_names_it(tmp_path):
    path = tmp_path / "cut.pt"
    taeda.save({"w": taeda.ones(100)}, path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(taeda.serialization.FormatError, match=r"cut\.pt: .*truncated"):
        taeda.load(path)
