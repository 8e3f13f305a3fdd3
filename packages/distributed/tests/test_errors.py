"""What can go wrong between processes: one family, which survives a pickle with its ranks."""

from __future__ import annotations

import pickle

import pytest

from taeda.distributed import _errors

RANKED = ("DistPeerDiedError", "DistTimeoutError", "DistMismatchError")


@pytest.mark.parametrize("name", _errors.__all__)
def test_all_are_runtime_errors(name):
    kind = getattr(_errors, name)
    assert issubclass(kind, RuntimeError) and issubclass(kind, _errors.DistError)


@pytest.mark.parametrize("name", RANKED)
def test_ranks_survive_a_pickle(name):
    error = getattr(_errors, name)("rank 3 has ended", (3,))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and again.ranks == [3] and str(again) == "rank 3 has ended"
    assert isinstance(error, _errors.DistBackendError)
    assert getattr(_errors, name)("nobody").ranks == []


def test_an_empty_queue_is_an_error_of_the_store():
    assert issubclass(_errors.QueueEmptyError, _errors.DistStoreError)
