"""FullyShardedDataParallel: a wrapper over `fully_shard`, with the methods that programs for it call."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn, optim
from taeda.nn.modules.batchnorm import _BatchNorm

from .._collectives import broadcast
from .._groups.world import the_group
from .._setup import get_process_group_ranks
from ..device_mesh import DeviceMesh, device_of, init_device_mesh
from . import _states
from ._fully_shard import fully_shard
from ._policies import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy
from ._states import PART, clean
from ._summon import summoned
from ._unit import Unit
from .api import (
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
    settings_of,
)
from .wrap import wrapped_below

__all__ = [
    "BackwardPrefetch", "CPUOffload", "FullOptimStateDictConfig", "FullStateDictConfig",
    "FullyShardedDataParallel", "LocalOptimStateDictConfig", "LocalStateDictConfig", "MixedPrecision",
    "OptimStateDictConfig", "OptimStateKeyType", "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig", "ShardingStrategy", "StateDictConfig", "StateDictSettings", "StateDictType",
]  # fmt: skip

_KEEP = (ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy._HYBRID_SHARD_ZERO2)
_HYBRID = (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2)


class FullyShardedDataParallel(nn.Module):
    """Wraps a module whose parameters then lie in shards: `fully_shard` as a class.

    One wrapper is one unit of the parameters that no wrapper inside has. Make the optimizer
    afterwards. New programs use `fully_shard`.

    Raises ValueError for settings that exclude each other.

    Args:
        module: the module to wrap; its parameters become shards in place.
        process_group: the ranks; a pair of groups, shards and replicas, for hybrid strategies;
            None is all. Not with `device_mesh`.
        sharding_strategy: what is cut, and when whole parameters go; None is FULL_SHARD.
        cpu_offload: where shards lie; on meshes of processors they are in its memory anyway
            (default: None).
        auto_wrap_policy: which modules inside become units: a set of classes, or a policy of
            `taeda.distributed.fsdp.wrap`; None for none.
        backward_prefetch: when backward gathers the unit that comes next; None gathers nothing
            ahead (default: BackwardPrefetch.BACKWARD_PRE).
        mixed_precision: dtypes of computation, reduction and buffers; None keeps those of the
            module.
        ignored_modules: modules whose parameters stay as they are. Not with `ignored_states`
            (default: None).
        param_init_fn: called with each module whose parameters are on the device meta, to make
            them; None calls `to_empty` and `reset_parameters`.
        device_id: the processor, or None: ValueError for others.
        sync_module_states: True takes parameters and buffers of the first rank; False, the
            default, those of each rank, which must be the same.
        forward_prefetch: True gathers the next unit while this one's forward runs; False is the
            default.
        limit_all_gathers: taken: there is never more than one gather ahead (default: True).
        use_orig_params: False, the default, refuses units that mix frozen and trained parameters;
            parameters are the model's own with True as well.
        ignored_states: parameters or modules that stay as they are. Not with `ignored_modules`
            (default: None).
        device_mesh: the ranks; of two dimensions the first has replicas. Not with
            `process_group` (default: None).

    >>> from taeda import distributed as dist, nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = FullyShardedDataParallel(nn.Linear(2, 1))
    >>> model(taeda.ones(3, 2)).sum().backward()
    >>> sorted(model.state_dict())
    ['bias', 'weight']
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        module: nn.Module,
        process_group: Any = None,
        sharding_strategy: ShardingStrategy | None = None,
        cpu_offload: CPUOffload | None = None,
        auto_wrap_policy: Any = None,
        backward_prefetch: BackwardPrefetch | None = BackwardPrefetch.BACKWARD_PRE,
        mixed_precision: MixedPrecision | None = None,
        ignored_modules: Iterable[nn.Module] | None = None,
        param_init_fn: Callable[[nn.Module], None] | None = None,
        device_id: Any = None,
        sync_module_states: bool = False,
        forward_prefetch: bool = False,
        limit_all_gathers: bool = True,
        use_orig_params: bool = False,
        ignored_states: Iterable[Any] | None = None,
        device_mesh: DeviceMesh | None = None,
    ) -> None:
        super().__init__()
        if process_group is not None and device_mesh is not None:
            raise ValueError("give process_group or device_mesh, not both")
        if ignored_modules is not None and ignored_states is not None:
            raise ValueError("give ignored_modules or ignored_states, not both")
        strategy = sharding_strategy or ShardingStrategy.FULL_SHARD
        if not isinstance(strategy, ShardingStrategy):
            raise TypeError(f"sharding_strategy is a ShardingStrategy, not {strategy!r}")
        ignored = _ignored(ignored_modules, ignored_states)
        kind = _kind(module, device_id, process_group, device_mesh)
        mesh = _mesh(strategy, process_group, device_mesh, kind)
        settings = {
            "sharding_strategy": strategy, "device_mesh": mesh, "cpu_offload": cpu_offload,
            "backward_prefetch": backward_prefetch, "mixed_precision": mixed_precision,
            "param_init_fn": param_init_fn, "sync_module_states": sync_module_states,
            "forward_prefetch": forward_prefetch, "use_orig_params": use_orig_params,
            "ignored_states": list(ignored.values()) or None, "device_id": device_id,
        }  # fmt: skip
        if auto_wrap_policy is not None:
            _wrap_below(module, auto_wrap_policy, settings, ignored)
        self.sharding_strategy, self.mixed_precision = strategy, mixed_precision
        self.backward_prefetch, self.cpu_offload = backward_prefetch, cpu_offload or CPUOffload()
        self.process_group, self._device_mesh = mesh.get_group(mesh.ndim - 1), mesh
        self._is_root: bool | None = None
        self._settings = settings_of(StateDictType.FULL_STATE_DICT)
        _initialise(module, param_init_fn, mesh)
        if sync_module_states:
            _take_from_first(module, mesh)
        if not use_orig_params:
            _check_uniform(module, ignored)
        if mixed_precision is not None and mixed_precision.buffer_dtype is not None:
            _cast_buffers(module, mixed_precision.buffer_dtype)
        params = set(_params(ignored))
        inner = [part for part in module.modules() if isinstance(part, FullyShardedDataParallel)]
        for part in inner:
            part._is_root = False
        keep = False if strategy in _KEEP or strategy is ShardingStrategy.NO_SHARD else None
        fully_shard(
            module,
            mesh=mesh,
            reshard_after_forward=keep,
            mp_policy=_policy(mixed_precision),
            ignored_params=params,
            offload_policy=_offload(cpu_offload),
        )
        setattr(self, PART, module)
        _prefetch(inner, backward_prefetch, forward_prefetch)

    # ---- what it wraps ----

    @property
    def module(self) -> nn.Module:
        """The wrapped module."""
        held: nn.Module = getattr(self, PART)
        return held

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == PART:
                raise
            return getattr(super().__getattr__(PART), name)

    def __getitem__(self, key: int) -> Any:
        return self.module[key]  # type: ignore[index]  # a Sequential

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        if self._is_root is None:
            self._is_root = True
        return self.module(*args, **kwargs)

    def check_is_root(self) -> bool:
        """Is it in no other wrapper?"""
        return self._is_root is not False

    @staticmethod
    def fsdp_modules(module: nn.Module, root_only: bool = False) -> list[FullyShardedDataParallel]:
        """The wrappers in a module, itself among them; with `root_only` those in no other one."""
        found = [part for part in module.modules() if isinstance(part, FullyShardedDataParallel)]
        return [part for part in found if part._is_root is not False] if root_only else found

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, nn.Parameter]]:
        """Names without wrappers, and parameters."""
        for name, param in super().named_parameters(*args, **kwargs):
            yield clean(name), param

    def named_buffers(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Tensor]]:
        """Names without wrappers, and buffers."""
        for name, buffer in super().named_buffers(*args, **kwargs):
            yield clean(name), buffer

    def apply(self, fn: Callable[[nn.Module], None]) -> FullyShardedDataParallel:
        """Call `fn` for each module with whole parameters; what it changes is kept."""
        with self.summon_full_params(self):
            super().apply(fn)
        return self

    def _units(self) -> list[Unit]:
        return [part.module.__dict__["_fsdp_unit"] for part in self.fsdp_modules(self)]

    def _root(self, what: str) -> None:
        if self._is_root is False:
            raise RuntimeError(f"{what} is for the outermost FullyShardedDataParallel")

    # ---- gradients ----

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Inside, gradients stay on their rank, whole, and add up. RuntimeError for an inner wrapper."""
        self._root("no_sync")
        units = self._units()
        before = [unit.gradients.sync for unit in units]
        for unit in units:
            unit.gradients.sync = False
        try:
            yield
        finally:
            for unit, value in zip(units, before, strict=True):
                unit.gradients.sync = value

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Tensor:
        """Scale all gradients so that their norm, over all ranks, is at most `max_norm`; return what it
        was. RuntimeError for an inner wrapper.
        """
        self._root("clip_grad_norm_")
        return nn.utils.clip_grad_norm_(self.parameters(), max_norm, norm_type)

    def register_comm_hook(self, state: Any, hook: Callable[..., Any]) -> None:
        """Let `hook(state, gradient, part)` reduce: `gradient` has a row for each rank, `part` becomes
        this rank's row of the mean. For strategies without replicas, once: RuntimeError for others.
        """
        self._root("register_comm_hook")
        if self.sharding_strategy in (*_HYBRID, ShardingStrategy.NO_SHARD):
            raise RuntimeError(f"register_comm_hook is not for {self.sharding_strategy.name}")
        for unit in self._units():
            if unit.gradients.replacement is not None:
                raise RuntimeError("this module has a communication hook already; it takes one")
        for unit in self._units():
            unit.gradients.replacement = lambda rows, row: hook(state, rows, row)

    # ---- whole parameters ----

    @staticmethod
    def summon_full_params(
        module: nn.Module,
        recurse: bool = True,
        writeback: bool = True,
        rank0_only: bool = False,
        offload_to_cpu: bool = False,
        with_grads: bool = False,
    ) -> Any:
        """Context: the parameters are whole. With `writeback` each rank keeps its part of what was
        written; with `rank0_only` others than the first have shards; with `with_grads` gradients are
        whole too. All ranks enter it. NotImplementedError for `rank0_only` with `writeback`,
        AssertionError inside a forward or backward.
        """
        if rank0_only and writeback:
            raise NotImplementedError(
                "summon_full_params: with rank0_only nothing is written back: give writeback=False"
            )
        if with_grads and rank0_only:
            raise NotImplementedError("summon_full_params: with_grads is for all ranks")
        parts = FullyShardedDataParallel.fsdp_modules(module)
        own = parts if recurse else [part for part in parts if part is module]
        units = [part.module.__dict__["_fsdp_unit"] for part in own]
        return summoned(units, writeback, rank0_only, with_grads)

    # ---- states of models ----

    @staticmethod
    def set_state_dict_type(
        module: nn.Module,
        state_dict_type: StateDictType,
        state_dict_config: Any = None,
        optim_state_dict_config: Any = None,
    ) -> StateDictSettings:
        """Of what states consist from now on; returns what was so. RuntimeError for a config of another
        type.
        """
        before = FullyShardedDataParallel.get_state_dict_type(module)
        made = settings_of(state_dict_type, state_dict_config, optim_state_dict_config)
        for part in FullyShardedDataParallel.fsdp_modules(module):
            part._settings = made
        return before

    @staticmethod
    def get_state_dict_type(module: nn.Module) -> StateDictSettings:
        """Of what states consist. AssertionError if the wrappers differ."""
        found = [part._settings for part in FullyShardedDataParallel.fsdp_modules(module)]
        assert found, "no FullyShardedDataParallel is in this module"
        assert all(one == found[0] for one in found), (
            f"the wrappers have different state dict types: {[s.state_dict_type.name for s in found]}"
        )
        return found[0]

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(
        module: nn.Module,
        state_dict_type: StateDictType,
        state_dict_config: Any = None,
        optim_state_dict_config: Any = None,
    ) -> Iterator[None]:
        """Inside, of what states consist."""
        kind = FullyShardedDataParallel
        before = kind.set_state_dict_type(
            module, state_dict_type, state_dict_config, optim_state_dict_config
        )
        try:
            yield
        finally:
            kind.set_state_dict_type(
                module,
                before.state_dict_type,
                before.state_dict_config,
                before.optim_state_dict_config,
            )

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The state, by names without wrappers; of its type. For whole tensors all ranks call."""
        prefix = kwargs.get("prefix", args[1] if len(args) > 1 else "")
        made = super().state_dict(*args, **kwargs)
        for name in [name for name in made if name.startswith(prefix)]:
            made[clean(name)] = _states.given(made.pop(name), self._settings)
        if _states.hidden(self._settings):
            for name in [name for name in made if name.startswith(prefix)]:
                del made[name]
        return made

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        params = {clean(name): param for name, param in nn.Module.named_parameters(self)}
        for name in [name for name in state_dict if name.startswith(prefix)]:
            rest = name[len(prefix) :]
            if not rest.startswith(f"{PART}."):
                value = _states.taken(state_dict.pop(name), params.get(clean(rest)), rest)
                state_dict[f"{prefix}{PART}.{rest}"] = value
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    # ---- states of optimizers ----

    @staticmethod
    def optim_state_dict(
        model: nn.Module, optim: optim.Optimizer, optim_state_dict: Any = None, group: Any = None
    ) -> dict[str, Any]:
        """The state of an optimizer by names of parameters, of the type that is set."""
        settings = FullyShardedDataParallel.get_state_dict_type(model)
        return _states.optimizer_state(model, optim, settings, optim_state_dict)

    @staticmethod
    def optim_state_dict_to_load(
        model: nn.Module,
        optim: optim.Optimizer,
        optim_state_dict: dict[str, Any],
        is_named_optimizer: bool = False,
        load_directly: bool = False,
        group: Any = None,
    ) -> dict[str, Any]:
        """What `optim.load_state_dict` takes, from a state by names; with `load_directly` it is loaded."""
        made = _states.optimizer_state_to_load(model, optim_state_dict, _params_of(optim))
        if load_directly:
            optim.load_state_dict(made)
        return made

    @staticmethod
    def full_optim_state_dict(
        model: nn.Module,
        optim: optim.Optimizer,
        optim_input: Any = None,
        rank0_only: bool = True,
        group: Any = None,
    ) -> dict[str, Any]:
        """The state of an optimizer by names, in whole tensors; by default on the first rank only."""
        config = FullOptimStateDictConfig(rank0_only=rank0_only)
        settings = settings_of(StateDictType.FULL_STATE_DICT, None, config)
        return _states.optimizer_state(model, optim, settings)

    @staticmethod
    def sharded_optim_state_dict(
        model: nn.Module, optim: optim.Optimizer, group: Any = None
    ) -> dict[str, Any]:
        """The state of an optimizer by names, in DTensors."""
        return _states.optimizer_state(model, optim, settings_of(StateDictType.SHARDED_STATE_DICT))

    @staticmethod
    def shard_full_optim_state_dict(
        full_optim_state_dict: dict[str, Any],
        model: nn.Module,
        optim_input: Any = None,
        optim: optim.Optimizer | None = None,
    ) -> dict[str, Any]:
        """What `load_state_dict` takes, from a whole state that every rank has."""
        params = _params_of(optim) if optim is not None else optim_input
        return _states.optimizer_state_to_load(model, full_optim_state_dict, params)

    @staticmethod
    def scatter_full_optim_state_dict(
        full_optim_state_dict: dict[str, Any] | None,
        model: nn.Module,
        optim_input: Any = None,
        optim: optim.Optimizer | None = None,
        group: Any = None,
    ) -> dict[str, Any]:
        """What `load_state_dict` takes, from a whole state that the first rank has. All ranks call it."""
        state = _states.from_first(full_optim_state_dict, group)
        params = _params_of(optim) if optim is not None else optim_input
        return _states.optimizer_state_to_load(model, state, params)

    @staticmethod
    def flatten_sharded_optim_state_dict(
        sharded_optim_state_dict: dict[str, Any], model: nn.Module, optim: optim.Optimizer
    ) -> dict[str, Any]:
        """What `load_state_dict` takes, from a state by names in DTensors."""
        return _states.optimizer_state_to_load(model, sharded_optim_state_dict, _params_of(optim))

    @staticmethod
    def rekey_optim_state_dict(
        optim_state_dict: dict[str, Any],
        optim_state_key_type: OptimStateKeyType,
        model: nn.Module,
        optim_input: Any = None,
        optim: optim.Optimizer | None = None,
    ) -> dict[str, Any]:
        """The state with names of parameters instead of numbers, or with numbers instead of names."""
        params = _params_of(optim) if optim is not None else optim_input
        held = list(nn.Module.parameters(model)) if params is None else list(params)
        known = _states.names_of(model)
        names = [known.get(id(param), str(number)) for number, param in enumerate(held)]
        if optim_state_key_type is OptimStateKeyType.PARAM_NAME:
            keys: dict[Any, Any] = dict(enumerate(names))
        else:
            keys = {name: number for number, name in enumerate(names)}
        groups = [
            {**group, "params": [keys.get(key, key) for key in group["params"]]}
            for group in optim_state_dict["param_groups"]
        ]
        state = {keys.get(key, key): value for key, value in optim_state_dict["state"].items()}
        return {"state": state, "param_groups": groups}


# ---- the constructor's parts ----


def _params_of(optimizer: optim.Optimizer) -> list[Tensor]:
    return [param for group in optimizer.param_groups for param in group["params"]]


def _kind(module: nn.Module, device_id: Any, group: Any, mesh: DeviceMesh | None) -> str:
    """The type of device of the mesh: that of `device_id`, which becomes current, or of the parameters,
    or what the group carries.
    """
    if device_id is not None:
        chosen = (
            taeda.device("cuda", device_id)
            if isinstance(device_id, int)
            else taeda.device(device_id)
        )
        if mesh is not None and mesh.device_type != chosen.type:
            raise ValueError(f"device_id={device_id!r}, and {mesh} is not of that type of device")
        if chosen.type == "cuda" and chosen.index is not None:
            taeda.cuda.set_device(chosen)
        return str(chosen.type)
    if mesh is not None:
        return mesh.device_type
    if any(param.is_cuda for param in module.parameters()):
        return "cuda"
    found = the_group(group[0] if isinstance(group, (tuple, list)) else group, "FSDP")
    return "cuda" if found is not None and "cpu" not in found.device_types else "cpu"


def _offload(setting: CPUOffload | None) -> OffloadPolicy | None:
    return CPUOffloadPolicy() if setting is not None and setting.offload_params else None


def _mesh(strategy: ShardingStrategy, group: Any, mesh: DeviceMesh | None, kind: str) -> DeviceMesh:
    """A mesh whose last dimension has the shards."""
    if strategy in _HYBRID:
        if mesh is not None:
            if mesh.ndim != 2:
                raise ValueError(f"{strategy.name} takes a mesh of two dimensions, not {mesh}")
            return mesh
        if isinstance(group, (tuple, list)):
            inside, across = group
            rows = _grid(get_process_group_ranks(inside), get_process_group_ranks(across))
            return DeviceMesh.from_group([across, inside], kind, rows)
        if group is not None:
            raise ValueError(f"{strategy.name} takes a pair of groups: of shards and of replicas")
        made = the_group(None, "FullyShardedDataParallel")
        return init_device_mesh(kind, (1, made.size() if made is not None else 1))
    if mesh is None:
        found = the_group(group, "FullyShardedDataParallel")
        if found is None:
            raise ValueError("FullyShardedDataParallel: this process is not in the process_group")
        mesh = DeviceMesh.from_group(found, kind)
    if strategy is ShardingStrategy.NO_SHARD and mesh.ndim == 2 and mesh.size(1) == 1:
        return mesh  # that of the wrapper around
    if mesh.ndim != 1:
        raise ValueError(f"{strategy.name} takes a mesh of one dimension, not {mesh}")
    if strategy is ShardingStrategy.NO_SHARD:
        return DeviceMesh(kind, [[rank] for rank in mesh.mesh.tolist()])
    return mesh


def _grid(inside: Sequence[int], across: Sequence[int]) -> list[list[int]]:
    """The ranks by lines of shards, as far as this rank's two groups tell."""
    start = {rank: rank - inside[0] for rank in inside}
    here = next(rank for rank in across if rank in start)
    return [[rank - here + other for rank in inside] for other in across]


def _policy(mixed: MixedPrecision | None) -> MixedPrecisionPolicy | None:
    if mixed is None:
        return None
    return MixedPrecisionPolicy(
        mixed.param_dtype, mixed.reduce_dtype, cast_forward_inputs=mixed.cast_forward_inputs
    )


def _ignored(modules: Any, states: Any) -> dict[int, Any]:
    """Modules and parameters that stay as they are, by their ids."""
    made: dict[int, Any] = {}
    for one in itertools.chain(modules or (), states or ()):
        if not isinstance(one, (nn.Module, nn.Parameter)):
            raise TypeError(f"what is ignored is a Module or a Parameter, not {type(one).__name__}")
        if isinstance(one, FullyShardedDataParallel):
            raise ValueError("an ignored module is no FullyShardedDataParallel")
        made[id(one)] = one
    return made


def _params(ignored: dict[int, Any]) -> Iterator[nn.Parameter]:
    for one in ignored.values():
        if isinstance(one, nn.Parameter):
            yield one
        else:
            yield from one.parameters()


def _wrap_below(
    module: nn.Module, policy: Any, settings: dict[str, Any], ignored: dict[int, Any]
) -> None:
    if isinstance(policy, (set, frozenset, list, tuple)):
        from .wrap import ModuleWrapPolicy

        policy = ModuleWrapPolicy(policy)
    if not callable(policy):
        raise TypeError(f"auto_wrap_policy is a function or a set of classes, not {policy!r}")
    mixed = settings["mixed_precision"]
    held = {
        id(part) for one in ignored.values() if isinstance(one, nn.Module) for part in one.modules()
    }

    def make(part: nn.Module, own: dict[str, Any]) -> nn.Module:
        return FullyShardedDataParallel(part, **{**settings, **own})

    if mixed is not None and mixed._module_classes_to_ignore:
        kinds = tuple(mixed._module_classes_to_ignore or (_BatchNorm,))

        def apart(module: nn.Module, recurse: bool, nonwrapped_numel: int) -> Any:
            return recurse or ({"mixed_precision": None} if isinstance(module, kinds) else False)

        wrapped_below(module, apart, make, held)
    wrapped_below(module, policy, make, held)


def _initialise(
    module: nn.Module, init: Callable[[nn.Module], None] | None, mesh: DeviceMesh
) -> None:
    """Give values to what is on meta."""
    for part in module.modules():
        own = [*part._parameters.values(), *part._buffers.values()]
        if not any(one is not None and one.device.type == "meta" for one in own):
            continue
        if init is not None:
            init(part)
        elif hasattr(part, "reset_parameters"):
            part.to_empty(device=device_of(mesh), recurse=False)
            part.reset_parameters()
        else:
            raise ValueError(
                f"{type(part).__name__} has parameters on meta and no reset_parameters: give param_init_fn"
            )


def _take_from_first(module: nn.Module, mesh: DeviceMesh) -> None:
    from ..tensor._api import DTensor

    for tensor in itertools.chain(module.parameters(), module.buffers()):
        if isinstance(tensor, DTensor) or not tensor.numel():
            continue
        values = tensor.detach().to(device_of(mesh))
        for dim in range(mesh.ndim):
            broadcast(values, group=mesh.get_group(dim), group_src=0)
        if tensor.device != values.device:
            tensor.detach().copy_(values)


def _check_uniform(module: nn.Module, ignored: dict[int, Any]) -> None:
    """ValueError if one unit would mix frozen and trained parameters."""
    from ..tensor._api import DTensor

    skip = {id(param) for param in _params(ignored)}
    own = [
        (name, param)
        for name, param in module.named_parameters()
        if not isinstance(param, DTensor) and id(param) not in skip
    ]
    if len({param.requires_grad for _, param in own}) > 1:
        frozen = [name for name, param in own if not param.requires_grad]
        raise ValueError(
            f"one unit mixes trained parameters and frozen ones ({', '.join(frozen[:3])}): give "
            "use_orig_params=True"
        )


def _cast_buffers(module: nn.Module, dtype: taeda.dtype) -> None:
    for part in module.modules():
        for name, buffer in part._buffers.items():
            if buffer is not None and buffer.is_floating_point():
                part._buffers[name] = buffer.to(dtype)


def _prefetch(inner: Sequence[FullyShardedDataParallel], backward: Any, forward: bool) -> None:
    """Gathers ahead, in the order of the modules: forward the next, backward the one before."""
    units = [part.module.__dict__["_fsdp_unit"] for part in inner]
    for unit, after in itertools.pairwise(units):
        if forward and not unit.before_forward:
            unit.before_forward = [after]
        if backward is BackwardPrefetch.BACKWARD_PRE and not after.before_backward:
            after.before_backward = [unit]
