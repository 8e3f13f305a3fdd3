"""Gradients between plain tensors and DTensors."""

from __future__ import annotations

from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor


def test_gradients_and_second_gradients_go_back_as_they_came():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        plain = taeda.arange(6.0).view(2, 3).requires_grad_()
        x = distribute_tensor(plain.detach(), mesh, [Shard(0)]).requires_grad_()
        y = x.redistribute(placements=[Shard(1)])
        (grad,) = taeda.autograd.grad((y**3).sum(), x, create_graph=True)
        assert grad.placements == (Shard(0),)
        (second,) = taeda.autograd.grad((grad**2).sum(), x)
        (g,) = taeda.autograd.grad((plain**3).sum(), plain, create_graph=True)
        (s,) = taeda.autograd.grad((g**2).sum(), plain)
        assert taeda.equal(grad.detach().full_tensor(), g.detach())
        assert taeda.equal(second.full_tensor(), s)

        local = taeda.full((2,), float(rank + 1), requires_grad=True)
        for place, wanted in ((Shard(0), 3.0), (Replicate(), 3.0), (Partial(), 3.0)):
            whole = DTensor.from_local(local, mesh, [place]).full_tensor()
            (back,) = taeda.autograd.grad(whole.sum() * 3, local)
            assert back.tolist() == [wanted] * 2
        one = DTensor.from_local(local, mesh, [Replicate()]).to_local(grad_placements=[Partial()])
        (back,) = taeda.autograd.grad((one * (rank + 1)).sum(), local)
        assert back.tolist() == [3.0, 3.0]
        cast = x.redistribute(placements=[Replicate()], forward_dtype=taeda.float64)
        assert cast.dtype is taeda.float64
        cast.sum().backward()
        assert x.grad.dtype is taeda.float32 and x.grad.placements == (Shard(0),)

    on_threads(2, work)
