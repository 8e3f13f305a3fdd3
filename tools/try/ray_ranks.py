"""Actors of a local Ray are the ranks of a group: Ray places and starts them, MPI carries the values.

python tools/try/ray_ranks.py
"""

from __future__ import annotations

import socket

import ray

RANKS = 2


@ray.remote(num_cpus=1)
class Rank:
    """One rank. What an actor has made stays between its calls."""

    def join(self, rank: int, port: int) -> None:
        import taeda.distributed as dist

        address = f"tcp://127.0.0.1:{port}"
        dist.init_process_group("gloo", address, rank=rank, world_size=RANKS)

    def step(self) -> list[float]:
        import taeda
        import taeda.distributed as dist
        from taeda import nn
        from taeda.nn.parallel import DistributedDataParallel

        taeda.manual_seed(dist.get_rank())
        model = DistributedDataParallel(nn.Linear(3, 1))
        model(taeda.ones(2, 3) * (dist.get_rank() + 1)).sum().backward()
        gradient: list[float] = model.module.weight.grad.flatten().tolist()
        return gradient


def main() -> None:
    ray.init(num_cpus=RANKS, include_dashboard=False, log_to_driver=False)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ranks = [Rank.remote() for _ in range(RANKS)]
    ray.get([actor.join.remote(rank, port) for rank, actor in enumerate(ranks)], timeout=300)
    found = ray.get([actor.step.remote() for actor in ranks], timeout=300)
    ray.shutdown()
    assert found == [[3.0] * 3] * RANKS, found  # the mean of 2 and 4
    print(f"{RANKS} actors of Ray averaged their gradients")


if __name__ == "__main__":
    main()
