"""Checkpoints that keep the results of chosen operations, so that only the others are computed again."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from taeda import Tensor, random
from taeda.utils._python_dispatch import TorchDispatchMode

__all__ = [
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts",
]


class CheckpointPolicy(enum.Enum):
    """What a policy says of one operation. PREFER leaves room to a compiler; without one it is the
    same as MUST.

    Args:
        value: the number of a member, 0 to 3.
        names, module, qualname, type, boundary: what `enum.Enum` takes to make other enums; not for
            use (None).
        start: the same (1).

    >>> CheckpointPolicy(0).name
    'MUST_SAVE'
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


_SAVES = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class SelectiveCheckpointContext:
    """What a policy is told besides the operation and its arguments: its result.
    A policy is asked in the first run only.

    Args:
        is_recompute: whether this is the second run; False where a policy is asked.
        op_output: the result of the operation (None).

    >>> def policy(context, operation, *args, **kwargs):  # small results are kept
    ...     small = context.op_output.numel() < 100
    ...     return CheckpointPolicy.MUST_SAVE if small else CheckpointPolicy.MUST_RECOMPUTE
    >>> context = SelectiveCheckpointContext(is_recompute=False, op_output=taeda.ones(2))
    >>> policy(context, taeda.ops.aten.exp.default).name
    'MUST_SAVE'
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


Policy = Callable[..., CheckpointPolicy]
# (results, their versions, where the random stream was after), or None in its place
Kept = tuple[Any, list[int], Any]


class _Keeping(TorchDispatchMode):
    """The first run."""

    def __init__(self, policy: Policy, store: dict[Any, list[Kept | None]]) -> None:
        self.policy, self.store = policy, store

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        if _is_view(func):
            return made
        said = self.policy(
            SelectiveCheckpointContext(is_recompute=False, op_output=made), func, *args, **kwargs
        )
        if not isinstance(said, CheckpointPolicy):
            raise TypeError(
                f"a checkpoint policy returns a CheckpointPolicy, got {said!r} for {func}"
            )
        self.store[func].append(_kept(made) if said in _SAVES else None)
        return made


class _Finding(TorchDispatchMode):
    """The others: counts the operations of each kind, as the first run did."""

    def __init__(self, store: dict[Any, list[Kept | None]], may_change: bool) -> None:
        self.store, self.may_change = store, may_change

    def __enter__(self) -> _Finding:
        self.at: dict[Any, int] = defaultdict(int)
        super().__enter__()
        return self

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if _is_view(func):
            return func(*args, **(kwargs or {}))
        number, listed = self.at[func], self.store[func]
        self.at[func] += 1
        if number >= len(listed):
            raise RuntimeError(
                f"{func} runs for the {number + 1}. time in the recomputation, and ran "
                f"{len(listed)} times before: the function "
                "must take the same way again"
            )
        kept = listed[number]
        return func(*args, **(kwargs or {})) if kept is None else self._given(func, kept)

    def _given(self, func: Any, kept: Kept) -> Any:
        made, versions, stream = kept
        if not self.may_change and versions != [t._version for t in _tensors(made)]:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated: a result "
                f"of {func} was written in "
                "place. Recompute that operation, or allow_cache_entry_mutation=True if the change "
                "does not matter"
            )
        random.set_rng_state(stream)
        return _fresh(made)


def _is_view(func: Any) -> bool:
    """Results on the memory of an argument cost nothing, and must lie on the new argument."""
    return "(a" in str(func._schema)


def _tensors(made: Any) -> list[Tensor]:
    items = made if isinstance(made, (tuple, list)) else (made,)
    return [t for t in items if isinstance(t, Tensor)]


def _fresh(made: Any) -> Any:
    """The same values in objects of their own: the graph will write its history onto what it is given."""
    if isinstance(made, Tensor):
        return made.detach()
    return type(made)(_fresh(m) for m in made) if type(made) in (tuple, list) else made


def _kept(made: Any) -> Kept:
    held = _fresh(made)
    return held, [t._version for t in _tensors(held)], random.get_rng_state()


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | Iterable[Any], allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """Two contexts for `checkpoint(context_fn=...)`: results that the policy saves are kept, the
    others computed again.

    A policy is called as `policy(context, op, *args, **kwargs)` and returns a CheckpointPolicy; a
    list of operators of `taeda.ops` stands for the policy that saves those. Writing into a kept
    result raises RuntimeError in backward unless it is allowed. TypeError for other answers of a
    policy, and for entries that are no overloads.

    Args:
        policy_fn_or_list: the policy, or a list of operators whose results are saved.
        allow_cache_entry_mutation: whether kept results may be written to (False).

    >>> import functools, taeda
    >>> from taeda.utils.checkpoint import checkpoint
    >>> keep = functools.partial(create_selective_checkpoint_contexts, [taeda.ops.aten.matmul.default])
    >>> x = taeda.ones(2, 2, requires_grad=True)
    >>> y = checkpoint(lambda x: (x @ x).exp().sum(), x, use_reentrant=False, context_fn=keep)
    >>> y.backward()
    """
    store: dict[Any, list[Kept | None]] = defaultdict(list)
    policy = policy_fn_or_list if callable(policy_fn_or_list) else _policy_of(policy_fn_or_list)
    return _Keeping(policy, store), _Finding(store, allow_cache_entry_mutation)


def _policy_of(operators: Iterable[Any]) -> Policy:
    saved = list(operators)
    for op in saved:
        if not hasattr(op, "_schema"):
            raise TypeError(
                f"wanted overloads such as taeda.ops.aten.matmul.default in the list, got {op!r} "
                f"({type(op).__name__})"
            )

    def policy(
        context: SelectiveCheckpointContext, op: Any, *args: Any, **kwargs: Any
    ) -> CheckpointPolicy:
        return CheckpointPolicy.MUST_SAVE if op in saved else CheckpointPolicy.PREFER_RECOMPUTE

    return policy
