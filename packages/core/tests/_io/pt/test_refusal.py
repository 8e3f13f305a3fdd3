"""What to say about a name that is not known."""

from __future__ import annotations

import pickle
from collections import OrderedDict

import pytest

from taeda._io.pt import refusal
from taeda._io.pt.errors import RefusedPickle


class Mine:
    pass


NAME = f"{Mine.__module__}.Mine"


@pytest.mark.parametrize("protocol", range(6))
def test_strange_names_are_listed_once_each(protocol):
    data = pickle.dumps([Mine, OrderedDict(a=1), Mine, {1, 2}], protocol)
    assert [name.rpartition(".")[2] for name in refusal.unknown_names(data)] == ["Mine"]
    assert ("collections", "OrderedDict") in list(refusal.names_asked(data))


def test_a_damaged_pickle_is_told():
    for data in (b"\x80\x02c", b"\xff\xfe", pickle.dumps([1, 2])[:-3]):
        with pytest.raises(RefusedPickle, match="the pickle is damaged"):
            refusal.unknown_names(data)


def test_a_name_and_a_whole_module_are_different_faults():
    error = refusal.blocked("os", "system", b"")
    assert "asks for 'os.system'" in str(error) and "add_safe_globals" in str(error)
    data = pickle.dumps({"_parameters": 1, "_modules": 2, "k": Mine})
    whole = str(refusal.blocked("mine", "Net", data))
    assert whole.startswith("this file holds a whole module: ") and "Mine" in whole
    assert "mine.Net" in str(refusal.blocked("mine", "Net", data[:-4]))
    long = data + bytes(1 << 20)
    assert "mine.Net" in str(refusal.blocked("mine", "Net", long))
