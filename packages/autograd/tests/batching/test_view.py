"""vmap of views, joins and what is made from a tensor's shape is the loop over the samples."""

from __future__ import annotations

import pytest
from vmap_of_rows import BY_RULES, check_family

import taeda
from taeda.func import vmap


@pytest.mark.parametrize("family", BY_RULES["view"])
def test_every_row_is_its_loop(family):
    check_family(family)


@pytest.mark.parametrize("in_dim", [0, 1, 2])
@pytest.mark.parametrize("piece", ["as it is", "clone", "contiguous"])
def test_as_strided_reads_the_sample_or_refuses(piece, in_dim):
    x = taeda.arange(60.0).reshape(3, 4, 5)

    def read(v):
        v = v if piece == "as it is" else getattr(v, piece)()
        return v.as_strided((2, 2), (1, 3), 1)

    alone = [v.clone(memory_format=taeda.contiguous_format) for v in x.unbind(in_dim)]
    wanted = taeda.stack(list(map(read, alone)))
    if in_dim and piece != "contiguous":
        with pytest.raises(RuntimeError, match="does not lie in one piece"):
            vmap(read, in_dims=in_dim)(x)
    else:
        assert vmap(read, in_dims=in_dim)(x).tolist() == wanted.tolist()
