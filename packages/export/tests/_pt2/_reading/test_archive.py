"""Records of an archive: one folder, not compressed, with the right checksum."""

from __future__ import annotations

import io
import zipfile

import pytest

import taeda
from taeda import nn
from taeda._core_api.files import FormatError
from taeda.export import export, load, save


@pytest.fixture(scope="module")
def records():
    target = io.BytesIO()
    save(export(nn.Linear(2, 2), (taeda.ones(1, 2),)), target)
    with zipfile.ZipFile(target) as file:
        return {name: file.read(name) for name in file.namelist()}


def written(records, kind=zipfile.ZIP_STORED):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", kind) as file:
        for name, content in records.items():
            file.writestr(name, content)
    target.seek(0)
    return target


def test_records_as_another_program_writes_them(records):
    assert load(written(records)).module()(taeda.ones(1, 2)).shape == (1, 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r | {"other/x": b""}, "no archive of an exported program"),
        (lambda r: {"serialized_exported_program.json": b"{}"}, "2.7 or older"),
        (lambda r: {n: b"big" if n.endswith("byteorder") else c for n, c in r.items()}, "byteorder"),
        (lambda r: {n: c for n, c in r.items() if not n.endswith("models/model.json")}, "no record"),
        (lambda r: {n: b"{" if n.endswith("models/model.json") else c for n, c in r.items()}, "no JSON"),
        (lambda r: {n: b"[" * 10**5 if n.endswith("model.json") else c for n, c in r.items()}, "no JSON"),
    ],
)  # fmt: skip
def test_others_are_refused(records, change, words):
    with pytest.raises(FormatError, match=words):
        load(written(change(records)))


def test_compressed_records_are_refused(records):
    with pytest.raises(FormatError, match="compressed"):
        load(written(records, zipfile.ZIP_DEFLATED))


def test_a_flipped_bit_is_seen(records):
    name = next(n for n in records if n.endswith("models/model.json"))
    whole = bytearray(written(records).getvalue())
    whole[whole.index(records[name][:40]) + 20] ^= 1
    with pytest.raises(FormatError, match="damaged"):
        load(io.BytesIO(whole))
