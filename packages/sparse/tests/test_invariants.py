"""Whether constructors look at what callers claim."""

from __future__ import annotations

import pytest

import taeda


def test_claims_are_looked_at_where_the_switch_says_so():
    switch = taeda.sparse.check_sparse_tensor_invariants

    def claim():
        return taeda.sparse_coo_tensor([[1, 0]], [1.0, 2.0], (2,), is_coalesced=True)

    claim()
    with switch(), pytest.raises(RuntimeError, match="uncoalesced"):
        claim()
    with pytest.raises(RuntimeError, match="uncoalesced"):
        switch()(claim)()
    assert not switch.is_enabled()
    switch.enable()
    assert switch.is_enabled()
    with switch(False):
        claim()
    switch.disable()
    claim()
