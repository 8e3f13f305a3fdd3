"""The example of tensor parallelism with shards: on 2 x 2 the losses of one process."""

from __future__ import annotations

from pathlib import Path

import by_path
import pytest
from rank_threads import on_threads

import taeda.distributed as dist

EXAMPLE = Path(__file__).parents[4] / "examples" / "tp_fsdp" / "train.py"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the example is not beside these tests")
def test_losses_on_two_by_two_are_those_of_one_process():
    example = by_path.load("examples/tp_fsdp/train.py")
    models = {}

    def work(rank, shape):
        mesh = dist.init_device_mesh("cpu", shape, mesh_dim_names=("dp", "tp"))
        return example.train(mesh, 4)

    original = example.GPT
    example.GPT = lambda *sizes: models.pop()
    try:
        import taeda

        def fresh(count):
            nonlocal models
            models = []
            for _ in range(count):
                taeda.manual_seed(0)
                models.append(original(32, 2))

        fresh(1)
        (one,) = on_threads(1, lambda rank: work(rank, (1, 1)))
        fresh(4)
        four = on_threads(4, lambda rank: work(rank, (2, 2)))
    finally:
        example.GPT = original
    assert one[-1] < one[0]
    for losses in four:
        assert losses == pytest.approx(one, rel=1e-5)
