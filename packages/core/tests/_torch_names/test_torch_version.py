"""Versions as text."""

import pickle

import pytest

from taeda._torch_names.torch_version import TorchVersion

#: in rising order, as PEP 440 has it
RISING = ["1.0.dev3", "1.0a1.dev1", "1.0a1", "1.0b2", "1.0rc1", "1.0", "1.0+a", "1.0+1", "1.0+1.2",
          "1.0.post1.dev2", "1.0.post1", "1.0.1", "1.9", "1.10", "2", "1!0.5"]  # fmt: skip


def test_order():
    for at, low in enumerate(RISING):
        for high in RISING[at + 1 :]:
            assert TorchVersion(low) < high
            assert TorchVersion(high) > low
            assert TorchVersion(low) <= high
            assert TorchVersion(low) != high
            assert not TorchVersion(low) >= TorchVersion(high)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.0", "1"), ("1.0rc1", "1.0.c1"), ("v1.2", "1.2"), ("1.0-1", "1.0.post1"), ("1.0_alpha", "1.0a0"),
     ("1.0+UBUNTU.1", "1.0+ubuntu-1"), ("1.0", (1, 0)), ("2.13.0", ["2", 13])],
)  # fmt: skip
def test_spellings_of_one_version(one, other):
    assert TorchVersion(one) == other
    assert TorchVersion(one) <= other
    assert not TorchVersion(one) != other  # noqa: SIM202 - both methods are meant


def test_it_is_text_in_all_else():
    version = TorchVersion("2.13.0+taeda")
    assert version.split("+") == ["2.13.0", "taeda"]
    assert hash(version) == hash("2.13.0+taeda")
    assert pickle.loads(pickle.dumps(version)) == version
    assert type(pickle.loads(pickle.dumps(version))) is TorchVersion
    assert version > (2, 2)
    assert "2.2" < version


def test_text_that_is_no_version_compares_as_text():
    assert TorchVersion("2.13") < "parrot"
    assert TorchVersion("2.13") != "parrot"
    assert TorchVersion("parrot") == "parrot"
    with pytest.raises(TypeError, match="not supported"):
        TorchVersion("2.13") < 3  # noqa: B015 - it is the comparison that refuses
