"""What a wrapped module says about gradients that it does not average."""

from __future__ import annotations

__all__ = ["fewer", "stepped", "twice", "unfinished"]


def unfinished(rank: int, names: str, missing: int, of: int) -> str:
    """Gradients are missing, or a backward broke off."""
    what = f"got no gradient for {missing} of {of} parameters: {names}"
    return (
        "Expected to have finished reduction in the prior iteration before starting a new one: "
        f"rank {rank} {what if missing else 'failed in backward'}. If they take no part in the "
        "loss on purpose, pass find_unused_parameters=True to DistributedDataParallel; otherwise "
        "all outputs of forward must take part in the loss"
    )


def stepped(names: str) -> str:
    """An optimizer steps on gradients from calls of the module inside."""
    return (
        f"step on gradients of this rank alone: {names} got them around DistributedDataParallel, "
        "by calls of its .module, and no backward of the wrapper has averaged them. Call the "
        "wrapper, clear these gradients, or say no_sync() if they shall stay local"
    )


def twice(name: str, static: bool) -> str:
    """A gradient came after those that were waited for."""
    if static:
        return (
            f"static_graph=True, but the parameter {name} got more gradients than in the first "
            "step: the graph has changed. Leave static_graph out"
        )
    return (
        f"the parameter {name} got its gradient twice in one backward: it is used in several "
        "checkpointed parts, or several backwards lead to it before all other parameters have "
        "their gradients. Pass static_graph=True if every step does so, or use_reentrant=False to "
        "checkpoint"
    )


def fewer(rank: int, names: str) -> str:
    """Gradients that the first step had are missing."""
    return (
        f"static_graph=True, but on rank {rank} {names} got fewer gradients than in the first "
        "step: the graph has changed. Leave static_graph out"
    )
