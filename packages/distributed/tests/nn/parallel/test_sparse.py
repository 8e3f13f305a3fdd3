"""Sparse gradients under DistributedDataParallel: the mean names the rows that any rank named."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel

TOKENS = [[[1, 2, 2]], [[2, 5]], [[]], [[7, 0, 1, 1]]]


class Words(nn.Module):
    """A table of words and a layer behind it; with `tied` the layer is the table."""

    def __init__(self, sparse: bool, tied: bool = False) -> None:
        super().__init__()
        taeda.manual_seed(3)
        self.table = nn.Embedding(8, 4, sparse=sparse).double()
        self.layer = nn.Linear(4, 8, bias=False).double()
        if tied:
            self.layer.weight = self.table.weight

    def forward(self, words):
        return self.layer(self.table(words)).square().sum()


def grads(sparse, size, tied, option, backwards=1):
    models = [Words(sparse, tied) for _ in range(size)]  # one seed each, on one thread

    def work(rank):
        model = DistributedDataParallel(models[rank], **option)
        optimizer = taeda.optim.SGD(model.parameters(), lr=0.1)
        for step in range(3):
            for again in range(backwards):
                words = taeda.tensor(TOKENS[(rank + step + again) % 4], dtype=taeda.int64)
                if again + 1 < backwards:
                    with model.no_sync():
                        model(words).backward()
                else:
                    model(words).backward()
            kept = model.module.table.weight.grad
            assert kept.is_sparse == (sparse and not tied)
            optimizer.step()
            last = kept.to_dense()
            optimizer.zero_grad()
        return last.tolist(), model.module.table.weight.tolist(), model.module.layer.weight.tolist()

    return on_threads(size, work)


@pytest.mark.parametrize("backwards", [1, 2])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(
    "option", [{}, {"find_unused_parameters": True}, {"gradient_as_bucket_view": True}]
)
def test_the_mean_is_that_of_dense_gradients(size, tied, option, backwards):
    found = grads(True, size, tied, option, backwards)
    wanted = grads(False, size, tied, option, backwards)
    for a, b in zip(found, wanted, strict=True):
        for x, y in zip(a, b, strict=True):
            assert taeda.allclose(taeda.tensor(x), taeda.tensor(y), rtol=1e-6)


def test_what_sparse_gradients_do_not_go_with_is_refused():
    def work(rank):
        model = DistributedDataParallel(Words(True))
        with pytest.raises(RuntimeError, match="sparse=True"):
            model.register_comm_hook(None, lambda state, bucket: None)
        with pytest.raises(RuntimeError, match=r"table.weight.*sparse=False"), model.join():
            pass

    on_threads(1, work)
