"""torch's zip: records below one folder, sums, orders of bytes, and what is refused."""

from __future__ import annotations

import io
import pickle
import sys
import zipfile

import pytest

import taeda
from taeda._io.safetensors import FormatError
from taeda.serialization import LoadEndianness, set_default_load_endianness

VALUES = [1.0, 2.0, 3.0]


def records(value=None):
    """The records of a file that we write, by name."""
    file = io.BytesIO()
    taeda.save({"w": taeda.tensor(VALUES)} if value is None else value, file, format="pt")
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(entries, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return file.getvalue()


def load(data, **options):
    return taeda.load(io.BytesIO(data), **options)


def altered(changes):
    """Our records with some put in, and those that are None left out."""
    made = records() | changes
    return packed({name: data for name, data in made.items() if data is not None})


DATA = "archive/data/0"


def test_the_records_may_lie_below_any_folder_or_none():
    for folder in ("", "model/", "a/b/"):
        moved = {name.replace("archive/", folder, 1): data for name, data in records().items()}
        assert load(packed(moved))["w"].tolist() == VALUES


OTHER = "big" if sys.byteorder == "little" else "little"


def test_the_other_order_of_bytes_is_swapped():
    swapped = taeda.tensor(VALUES).numpy().byteswap().tobytes()
    data = altered({"archive/byteorder": OTHER.encode(), DATA: swapped})
    assert load(data)["w"].tolist() == VALUES
    assert load(data, map_location="meta")["w"].device.type == "meta"


@pytest.mark.parametrize(
    ("assumed", "order"),
    [
        (None, "little"),
        (LoadEndianness.NATIVE, sys.byteorder),
        (LoadEndianness.LITTLE, "little"),
        (LoadEndianness.BIG, "big"),
    ],
)
def test_an_order_that_is_not_told_is_assumed(assumed, order):
    numbers = taeda.tensor(VALUES).numpy()
    stored = numbers.tobytes() if order == sys.byteorder else numbers.byteswap().tobytes()
    data = altered({"archive/byteorder": None, DATA: stored})
    set_default_load_endianness(assumed)
    try:
        assert load(data)["w"].tolist() == VALUES
    finally:
        set_default_load_endianness(None)


def test_bytes_without_a_dtype_have_no_order():
    made = records(taeda.ones(2, dtype=taeda.float8_e5m2))
    made["archive/byteorder"] = OTHER.encode()
    with pytest.raises(FormatError, match="storage '0' has no dtype, so its bytes cannot be put"):
        load(packed(made))


REFUSED = {
    "an order that is "
    "none": ({"archive/byteorder": b"middle"}, "order of bytes is b'middle', wanted little or big"),
    "a long order": ({"archive/byteorder": b"little" * 400}, "record 'byteorder' has 2400 bytes"),
    "no storage": ({DATA: None}, "no record 'data/0', which its object needs"),
    "a short storage": ({DATA: b"\0" * 8}, "said to have 3 elements, 12 bytes, and its record has 8"),
    "two pickles": ({"archive/more/data.pkl": b"."}, "2 records named data.pkl, wanted one"),
    "a record elsewhere": ({"elsewhere": b""}, "record 'elsewhere' does not lie in the folder"),
    "a program": ({"archive/code/model.py": b""}, "TorchScript archive, a program"),
    "constants": ({"archive/constants.pkl": b""}, "TorchScript archive, a program"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(changes, message):
    with pytest.raises(FormatError, match=message):
        load(altered(changes))


def test_a_compressed_record_is_refused_with_what_to_do():
    with pytest.raises(FormatError, match=r"is compressed, and torch never does that.*zip -0"):
        load(packed(records(), zipfile.ZIP_DEFLATED))


@pytest.mark.parametrize("name", [DATA, "archive/data.pkl"])
def test_a_flipped_bit_of_a_record_is_found(name):
    entries = records()
    data = bytearray(packed(entries))
    data[data.index(entries[name]) + 1] ^= 4
    with pytest.raises(FormatError, match=f"record '{name.removeprefix('archive/')}' is damaged"):
        load(bytes(data))


def test_one_storage_of_two_tensors_is_read_once():
    base = taeda.arange(4.0)
    made = load(packed(records([base[:2], base[2:]])))
    made[0].as_strided((4,), (1,), 0)[3] = 9
    assert made[1].tolist() == [2, 9]


def test_names_that_nobody_allowed_are_listed_and_run_only_when_trusted():
    data = altered({"archive/data.pkl": pickle.dumps(zipfile.ZipInfo, 2)})
    assert taeda.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data)) == [
        "zipfile.ZipInfo"
    ]
    with pytest.raises(FormatError, match=r"zipfile\.ZipInfo"):
        load(data)
    with pytest.warns(UserWarning, match=r"objects of zipfile\.ZipInfo"):
        assert load(data, weights_only=False) is zipfile.ZipInfo


def test_a_zip_of_others_has_no_names():
    data = packed({"readme.txt": b"hello"})
    assert taeda.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data)) == []
    with pytest.raises(FormatError, match=r"'readme\.txt': neither torch nor numpy wrote it"):
        load(data)


def test_skipped_data_are_zeros():
    with taeda.serialization.skip_data():
        assert load(altered({}))["w"].tolist() == [0, 0, 0]
