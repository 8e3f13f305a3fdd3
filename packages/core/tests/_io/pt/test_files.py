"""Files that torch wrote are read bit for bit, in every form. `expected.json` is what torch itself read."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from describe import describe

import taeda

FILES = Path(__file__).parent / "files"
EXPECTED = json.loads((FILES / "expected.json").read_text())


@pytest.mark.parametrize("name", EXPECTED)
def test_equal(name):
    made = describe(taeda.load(FILES / name), taeda)
    assert json.loads(json.dumps(made)) == EXPECTED[name]


@pytest.mark.parametrize("name", [name for name in EXPECTED if "legacy" not in name])
def test_equal_when_mapped(name):
    made = describe(taeda.load(FILES / name, mmap=True), taeda)
    assert json.loads(json.dumps(made)) == EXPECTED[name]


def test_a_mapped_file_is_not_changed_by_writing_to_its_tensors(tmp_path):
    path = tmp_path / "copy.pt"
    path.write_bytes((FILES / "shared-zip.pt").read_bytes())
    taeda.load(path, mmap=True)["shared"]["base"].zero_()
    assert path.read_bytes() == (FILES / "shared-zip.pt").read_bytes()


def test_the_older_form_cannot_be_mapped():
    with pytest.raises(RuntimeError, match="mmap=True is for the zips"):
        taeda.load(FILES / "shared-legacy.pt", mmap=True)


@pytest.mark.parametrize("form", ["zip", "legacy"])
def test_meta_reads_no_data(form):
    made = taeda.load(FILES / f"shared-{form}.pt", map_location="meta")["shared"]["turned"]
    assert (made.device.type, made.shape, made.stride()) == ("meta", (6, 4), (1, 6))


@pytest.mark.parametrize("form", ["zip", "legacy"])
def test_map_location_may_be_a_function(form):
    seen = []

    def place(storage, location):
        seen.append((storage.nbytes(), location))
        return storage

    made = taeda.load(FILES / f"shared-{form}.pt", map_location=place)
    assert (96, "cpu") in seen
    assert made["shared"]["slice"].tolist() == [4, 5, 6, 7, 8]


def test_tensors_of_a_device_that_is_not_here(tmp_path):
    path = tmp_path / "cuda.pt"
    path.write_bytes(elsewhere((FILES / "shared-legacy.pt").read_bytes()))
    with pytest.raises(RuntimeError, match=r"'gpu'.*load with map_location='cpu'"):
        taeda.load(path)
    for location in ("cpu", taeda.device("cpu"), {"gpu": "cpu"}):
        made = taeda.load(path, map_location=location)
        assert made["shared"]["slice"].tolist() == [4, 5, 6, 7, 8]


def elsewhere(data):
    assert data.count(b"X\x03\x00\x00\x00cpu") == 1
    return data.replace(b"X\x03\x00\x00\x00cpu", b"X\x03\x00\x00\x00gpu")


def test_a_whole_module_is_refused_with_what_to_do():
    with pytest.raises(pickle.UnpicklingError, match=r"save\(module.state_dict\(\), path\)"):
        taeda.load(FILES / "module.pt")


@pytest.mark.parametrize("name", ["shared-zip.pt", "training-protocol-4.pt"])
def test_every_flipped_bit_of_a_zip_is_found(name):
    data = bytearray((FILES / name).read_bytes())
    good = describe(taeda.load(FILES / name), taeda)
    found = harmless = 0
    for bit in range(0, len(data) * 8, 7):
        data[bit // 8] ^= 1 << bit % 8
        try:
            assert describe(load(data), taeda) == good
            harmless += 1
        except (RuntimeError, EOFError):
            found += 1
        data[bit // 8] ^= 1 << bit % 8
    assert found > harmless > 0  # in padding, times and versions


def load(data):
    import io

    return taeda.load(io.BytesIO(bytes(data)))
