"""What FullyShardedDataParallel may be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import taeda
from taeda import nn
from taeda.nn.modules.batchnorm import _BatchNorm

__all__ = [
    "BackwardPrefetch", "CPUOffload", "FullOptimStateDictConfig", "FullStateDictConfig",
    "LocalOptimStateDictConfig", "LocalStateDictConfig", "MixedPrecision", "OptimStateDictConfig",
    "OptimStateKeyType", "ShardedOptimStateDictConfig", "ShardedStateDictConfig", "ShardingStrategy",
    "StateDictConfig", "StateDictSettings", "StateDictType",
]  # fmt: skip


class ShardingStrategy(Enum):
    """What is cut, and when whole parameters go.

    >>> ShardingStrategy["SHARD_GRAD_OP"].name  # by the word of a program's settings
    'SHARD_GRAD_OP'
    """

    FULL_SHARD = auto()  # they go after forward, and again after backward
    SHARD_GRAD_OP = auto()  # they stay between forward and backward
    NO_SHARD = auto()  # every rank has all, as under DistributedDataParallel
    HYBRID_SHARD = auto()  # cut inside a group, with replicas across
    _HYBRID_SHARD_ZERO2 = auto()  # the same, and they stay between forward and backward


class BackwardPrefetch(Enum):
    """When backward gathers the parameters of the unit that comes next.

    >>> [when.name for when in BackwardPrefetch]
    ['BACKWARD_PRE', 'BACKWARD_POST']
    """

    BACKWARD_PRE = auto()  # while this unit's gradients are computed
    BACKWARD_POST = auto()  # after it


@dataclass
class MixedPrecision:
    """In which dtypes a unit computes, adds up and keeps its buffers.

    Args:
        param_dtype: the dtype in which whole parameters travel and compute; None keeps theirs.
        reduce_dtype: the dtype in which gradients are added up; None is `param_dtype`.
        buffer_dtype: the dtype that buffers get; None keeps theirs.
        keep_low_precision_grads: taken; gradients have the dtype of the shards (default:
            False).
        cast_forward_inputs: True, the default, casts floating inputs of a unit to `param_dtype`.
        cast_root_forward_inputs: the same of the outermost unit (default: True).

    >>> MixedPrecision(param_dtype=taeda.bfloat16, reduce_dtype=taeda.float32).param_dtype
    taeda.bfloat16
    """

    param_dtype: taeda.dtype | None = None
    reduce_dtype: taeda.dtype | None = None
    buffer_dtype: taeda.dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = True
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Sequence[type[nn.Module]] = field(
        default_factory=lambda: (_BatchNorm,)
    )


@dataclass
class CPUOffload:
    """Shards in the memory of the processor, where meshes of processors have them anyway. On GPUs see
    `CPUOffloadPolicy`.

    Args:
        offload_params: True asks for shards in the memory of the processor, where they are on
            meshes of processors; False is the default.

    >>> CPUOffload(offload_params=True)
    CPUOffload(offload_params=True)
    """

    offload_params: bool = False


class StateDictType(Enum):
    """Of what the states of a model consist.

    >>> settings_of(StateDictType.SHARDED_STATE_DICT).state_dict_type.name
    'SHARDED_STATE_DICT'
    """

    FULL_STATE_DICT = auto()  # whole tensors
    LOCAL_STATE_DICT = auto()  # this rank's parts, as plain tensors
    SHARDED_STATE_DICT = auto()  # DTensors


class OptimStateKeyType(Enum):
    """By what the state of an optimizer is named.

    >>> [key.name for key in OptimStateKeyType]
    ['PARAM_NAME', 'PARAM_ID']
    """

    PARAM_NAME = auto()
    PARAM_ID = auto()


@dataclass
class StateDictConfig:
    """Where tensors of a state lie.

    Args:
        offload_to_cpu: True moves what is given to the memory of the processor; False, the
            default, leaves it.

    >>> StateDictConfig(offload_to_cpu=True)
    StateDictConfig(offload_to_cpu=True)
    """

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """Whole tensors; with `rank0_only` the other ranks get an empty dict.

    Args:
        offload_to_cpu: True moves what is given to the memory of the processor; False, the
            default, leaves it.
        rank0_only: True gives the others an empty dict; False, the default, all tensors to all.

    >>> FullStateDictConfig(rank0_only=True)
    FullStateDictConfig(offload_to_cpu=False, rank0_only=True)
    """

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """This rank's parts.

    Args:
        offload_to_cpu: True moves what is given to the memory of the processor; False, the
            default, leaves it.

    >>> LocalStateDictConfig().offload_to_cpu
    False
    """


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """DTensors.

    Args:
        offload_to_cpu: True moves what is given to the memory of the processor; False, the
            default, leaves it.

    >>> ShardedStateDictConfig(offload_to_cpu=True).offload_to_cpu
    True
    """

    _use_dtensor: bool = True


@dataclass
class OptimStateDictConfig:
    """Where tensors of an optimizer's state lie.

    Args:
        offload_to_cpu: True moves what is given to the memory of the processor, as it does by
            default.

    >>> OptimStateDictConfig()
    OptimStateDictConfig(offload_to_cpu=True)
    """

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """Whole tensors; with `rank0_only` the other ranks get an empty dict.

    Args:
        offload_to_cpu: True moves what is given to the memory of the processor, as it does by
            default.
        rank0_only: True gives the others an empty dict; False, the default, all tensors to all.

    >>> FullOptimStateDictConfig(rank0_only=True)
    FullOptimStateDictConfig(offload_to_cpu=True, rank0_only=True)
    """

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """This rank's parts.

    Args:
        offload_to_cpu: True moves what is given to the memory of the processor; False, the
            default, leaves it.

    >>> LocalOptimStateDictConfig().offload_to_cpu
    False
    """

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """DTensors.

    Args:
        offload_to_cpu: True moves what is given to the memory of the processor, as it does by
            default.

    >>> ShardedOptimStateDictConfig().offload_to_cpu
    True
    """

    _use_dtensor: bool = True


@dataclass
class StateDictSettings:
    """A type of states and its settings.

    Args:
        state_dict_type: of what states consist.
        state_dict_config: the settings of the model's states.
        optim_state_dict_config: the settings of the optimizers' states.

    >>> kind = StateDictType.FULL_STATE_DICT
    >>> settings = StateDictSettings(kind, FullStateDictConfig(), FullOptimStateDictConfig())
    >>> settings.state_dict_config.rank0_only
    False
    """

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig


def settings_of(kind: Any, config: Any = None, optim_config: Any = None) -> StateDictSettings:
    """The settings of a type. TypeError for what is none, RuntimeError for a config of another type."""
    if not isinstance(kind, StateDictType):
        raise TypeError(f"state_dict_type is a StateDictType, not {kind!r}")
    kinds: dict[StateDictType, tuple[type[StateDictConfig], type[OptimStateDictConfig]]] = {
        StateDictType.FULL_STATE_DICT: (FullStateDictConfig, FullOptimStateDictConfig),
        StateDictType.LOCAL_STATE_DICT: (LocalStateDictConfig, LocalOptimStateDictConfig),
        StateDictType.SHARDED_STATE_DICT: (ShardedStateDictConfig, ShardedOptimStateDictConfig),
    }
    made: list[Any] = [
        wanted() if given is None else given
        for given, wanted in zip((config, optim_config), kinds[kind], strict=True)
    ]
    for value, wanted in zip(made, kinds[kind], strict=True):
        if not isinstance(value, wanted):
            raise RuntimeError(
                f"{kind.name} takes a {wanted.__name__}, not a {type(value).__name__}"
            )
    return StateDictSettings(kind, made[0], made[1])
