"""Gradients as products of two thin matrices: PowerSGD (Vogels, Karimireddy and Jaggi, 2019)."""

from __future__ import annotations

import logging
import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.futures import Future

from ..._bucket_view import GradBucket
from ..._collectives import all_reduce
from ..._groups.world import the_group
from .default_hooks import mean_of

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

_log = logging.getLogger(__name__)


class PowerSGDState:
    """How gradients are compressed, and what one step leaves to the next.
    It can be pickled; the group is then the default one.

    Plain means are taken until step `start_powerSGD_iter`. A gradient of n by m values is
    compressed to `matrix_approximation_rank` (n + m) if that times `min_compression_rate` is less
    than n m. With `use_error_feedback` what compression left out is added to the next gradient,
    with `warm_start` a step begins with the last one's factor. ValueError for a start of 1 or less
    with either of these.

    >>> state = PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=10)
    >>> state.compression_stats()  # the rate, values before and after
    (0.0, 0, 0)
    """

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if start_powerSGD_iter <= 1 and (use_error_feedback or warm_start):
            raise ValueError(
                "start_powerSGD_iter must be more than 1 with error feedback or warm start: "
                "buckets are rebuilt in step 1"
            )
        if matrix_approximation_rank < 1:
            raise ValueError(
                f"matrix_approximation_rank is at least 1, not {matrix_approximation_rank}"
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter, self.min_compression_rate = (
            start_powerSGD_iter,
            min_compression_rate,
        )
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.generator = taeda.Generator().manual_seed(random_seed)
        self.compression_stats_logging_frequency = compression_stats_logging_frequency
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape
        self.iter = 0
        self.error_dict: dict[int, Tensor] = {}
        self.p_memory_dict: dict[Any, Tensor] = {}
        self.q_memory_dict: dict[Any, Tensor] = {}
        self.total_numel_before_compression = self.total_numel_after_compression = 0

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "generator": self.generator.get_state()}
        del state["process_group"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.generator = taeda.Generator()
        self.generator.set_state(state["generator"])
        self.process_group = None

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a step when its last bucket comes."""
        if bucket.is_last():
            self.iter += 1
            if self.iter == self.start_powerSGD_iter:
                _log.info("gradients are compressed from step %s on", self.iter)

    def compression_stats(self) -> tuple[float, int, int]:
        """The rate so far, and numbers of values before and after."""
        after = self.total_numel_after_compression
        rate = self.total_numel_before_compression / after if after else 0.0
        return rate, self.total_numel_before_compression, after

    def fresh_factor(self, key: Any, columns: int, rank: int, like: Tensor) -> Tensor:
        """The factor of the last step, or one drawn alike on all ranks, orthonormal."""
        known = self.q_memory_dict.get(key)
        if known is not None and self.warm_start and known.shape == (columns, rank):
            return _orthogonal(known, self.orthogonalization_epsilon)
        drawn = taeda.randn(columns, rank, generator=self.generator, dtype=like.dtype)
        return _orthogonal(drawn.to(like.device), self.orthogonalization_epsilon)


def _orthogonal(matrix: Tensor, epsilon: float) -> Tensor:
    """Columns of length 1 at right angles, one after the other; `epsilon` keeps a column of zeros
    from dividing by zero.
    """
    matrix = matrix.clone()
    for i in range(matrix.shape[1]):
        column = matrix[:, i : i + 1]
        length = column.norm() + epsilon
        column.div_(length) if float(length) > 0 else column.zero_()
        rest = matrix[:, i + 1 :]
        rest.sub_((column * rest).sum(0) * column)
    return matrix


def _worth(shape: tuple[int, int], state: PowerSGDState) -> bool:
    rows, columns = shape
    rank = min(rows, columns, state.matrix_approximation_rank)
    return (rows + columns) * rank * state.min_compression_rate < rows * columns


def _mean(tensor: Tensor, state: PowerSGDState) -> None:
    made = the_group(state.process_group, "powerSGD_hook")
    assert made is not None
    all_reduce(tensor, group=made)
    tensor.div_(made.size())


def _compress(matrix: Tensor, key: Any, state: PowerSGDState) -> Tensor:
    """The mean over ranks of `matrix`, as a product of two factors."""
    rank = min(*matrix.shape, state.matrix_approximation_rank)
    q = state.fresh_factor(key, matrix.shape[1], rank, matrix)
    p = matrix @ q
    _mean(p, state)
    p = _orthogonal(p, state.orthogonalization_epsilon)
    q = matrix.t() @ p
    _mean(q, state)
    if state.warm_start:
        state.p_memory_dict[key], state.q_memory_dict[key] = p, q
    state.total_numel_after_compression += p.numel() + q.numel()
    return p @ q.t()


def _done(buffer: Tensor) -> Future[Tensor]:
    future: Future[Tensor] = Future()
    future.set_result(buffer)
    return future


def _with_feedback(buffer: Tensor, index: int, state: PowerSGDState) -> Tensor | None:
    """Add what was left out before; return a copy of the sum, to see what is left out now."""
    if not state.use_error_feedback:
        return None
    if index in state.error_dict and state.error_dict[index].numel() == buffer.numel():
        buffer.add_(state.error_dict[index])
    return buffer.clone()


def _note_error(whole: Tensor | None, buffer: Tensor, index: int, state: PowerSGDState) -> None:
    if whole is not None:
        state.error_dict[index] = whole.sub_(buffer)


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean, each gradient of two or more dimensions compressed by itself; the others go as they are.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> flat, weight = taeda.ones(64), taeda.zeros(8, 8)
    >>> bucket = dist.GradBucket(0, flat, [flat.view(8, 8)], [weight], [64], last=True)
    >>> state = PowerSGDState(None, start_powerSGD_iter=2)
    >>> for _ in range(3):  # plain means in the first two
    ...     mean = powerSGD_hook(state, bucket).wait()
    >>> state.compression_stats()  # 64 values went as 16
    (4.0, 64, 16)
    >>> dist.destroy_process_group()
    """
    buffer = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean_of(buffer, state.process_group)
    whole = _with_feedback(buffer, bucket.index(), state)
    plain: list[Tensor] = []
    for number, grad in enumerate(bucket.gradients()):
        state.total_numel_before_compression += grad.numel()
        matrix = grad.view(grad.shape[0], -1) if grad.dim() > 1 else None
        if matrix is None or not _worth((matrix.shape[0], matrix.shape[1]), state):
            plain.append(grad)
            state.total_numel_after_compression += grad.numel()
        else:
            matrix.copy_(_compress(matrix, (bucket.index(), number), state))
    if plain:
        joined = taeda.cat([grad.view(-1) for grad in plain])
        _mean(joined, state)
        for grad, piece in zip(plain, joined.split([g.numel() for g in plain]), strict=True):
            grad.copy_(piece.view(grad.shape))
    _note_error_compressed(whole, bucket, plain, state)
    state.maybe_increase_iter(bucket)
    return _done(buffer)


def _note_error_compressed(
    whole: Tensor | None, bucket: GradBucket, plain: list[Tensor], state: PowerSGDState
) -> None:
    """What compression left out; gradients that went whole leave nothing."""
    if whole is None:
        return
    _note_error(whole, bucket.buffer(), bucket.index(), state)
    error, start = state.error_dict[bucket.index()], bucket.buffer().data_ptr()
    for grad in plain:
        at = (grad.data_ptr() - start) // grad.element_size()
        error[at : at + grad.numel()].zero_()


def batched_powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean, the whole bucket compressed as one square matrix: quicker, and less exact.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> flat, weight = taeda.ones(64), taeda.zeros(8, 8)
    >>> bucket = dist.GradBucket(0, flat, [flat.view(8, 8)], [weight], [64], last=True)
    >>> state = PowerSGDState(None, start_powerSGD_iter=2)
    >>> for _ in range(3):  # plain means in the first two
    ...     mean = batched_powerSGD_hook(state, bucket).wait()
    >>> state.compression_stats()  # 64 values went as 16
    (4.0, 64, 16)
    >>> dist.destroy_process_group()
    """
    buffer = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean_of(buffer, state.process_group)
    whole = _with_feedback(buffer, bucket.index(), state)
    side = math.ceil(math.sqrt(buffer.numel()))
    square = buffer.new_zeros(side * side)
    square[: buffer.numel()] = buffer
    state.total_numel_before_compression += buffer.numel()
    mean = _compress(square.view(side, side), (bucket.index(), "whole"), state)
    buffer.copy_(mean.reshape(-1)[: buffer.numel()])
    _note_error(whole, buffer, bucket.index(), state)
    state.maybe_increase_iter(bucket)
    return _done(buffer)
