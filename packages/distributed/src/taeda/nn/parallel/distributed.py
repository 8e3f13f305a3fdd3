"""A module on many processes: each computes on its own inputs, and all get the mean of the gradients."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed._bucket_view import GradBucket
from taeda.distributed._calls import Call
from taeda.distributed._collectives import broadcast
from taeda.distributed._groups.world import the_group
from taeda.distributed.algorithms.join import Join, Joinable, JoinHook

from ._reducer import Reducer
from ._sparse import sparse_names

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(nn.Module, Joinable):
    """Calls `module`; when its backward ends, every rank's gradients are the mean over all ranks.

    Every process makes one, with the same module; the parameters and buffers become those of rank
    0. Gradients travel in buckets of `bucket_cap_mb` (25 by default, the first one of 1) while
    backward still computes.

    Raises ValueError before `init_process_group`, and for parameters of devices that the backend
    does not carry; RuntimeError if nothing needs a gradient; DistMismatchError if the ranks'
    parameters differ in number or shape.

    Args:
        module: the module; its parameters stay its own.
        device_ids: None, or the one device of this process.
        output_device: None, or the same device.
        dim: the dimension of the batch, as `DataParallel` has it; nothing is parted here
            (default: 0).
        broadcast_buffers: True, the default: buffers become those of rank 0 before each forward
            in training.
        init_sync: True, the default, gives all ranks the parameters and buffers of rank 0; False
            leaves each its own.
        process_group: the ranks; None is the default group. Not with `device_mesh`.
        bucket_cap_mb: how many MiB of gradients travel together; None is 25, and 1 for the first.
        find_unused_parameters: True lets a rank give no gradient to some parameters. It then
            gives what they hold, or zero; a parameter without new gradients on all ranks keeps
            what it has. With False, the default, they are an error.
        check_reduction: True wants all gradients of each backward, not of several together; False
            is the default.
        gradient_as_bucket_view: True makes gradients views of the buckets, which saves a copy;
            False is the default.
        static_graph: True promises that every step uses the same parameters as often as the first
            one does. Then some may get no gradient, and others several in one backward (reentrant
            checkpoints). RuntimeError when a step differs. False is the default.
        delay_all_reduce_named_params: None: NotImplementedError for others.
        param_to_hook_all_reduce: None: NotImplementedError for others.
        mixed_precision: None: NotImplementedError for others.
        device_mesh: a mesh whose one dimension is the group. Not with `process_group` (default:
            None).
        skip_all_reduce_unused_params: True is the same, and buckets of such parameters are not
            reduced: they must be the same on all ranks, or RuntimeError. False is the default.

    >>> import taeda.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = taeda.nn.parallel.DistributedDataParallel(taeda.nn.Linear(2, 1))
    >>> model(taeda.ones(4, 2)).sum().backward()
    >>> model.module.bias.grad
    tensor([4.])
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        module: nn.Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
    ) -> None:
        super().__init__()
        Joinable.__init__(self)
        _refuse_unsupported(
            delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision
        )
        if process_group is not None and device_mesh is not None:
            raise RuntimeError("give process_group or device_mesh, not both")
        if device_mesh is not None:
            process_group = _group_of(device_mesh)
        group = the_group(process_group, "DistributedDataParallel")
        if group is None:
            raise ValueError("DistributedDataParallel: this process is not in the process_group")
        named = _parameters(module)
        device = _check_devices(device_ids, output_device, named, group.device_types)
        if bucket_cap_mb is not None and not bucket_cap_mb > 0:
            raise ValueError(f"bucket_cap_mb must be more than 0, not {bucket_cap_mb}")
        self.module, self.process_group, self.dim = module, group, dim
        here = [device] if device.type == "cuda" and device_ids else None
        self.device_ids, self.output_device, self.device = here, here and here[0], device
        self.device_mesh, self.static_graph = device_mesh, static_graph
        self.broadcast_buffers, self.find_unused_parameters = (
            broadcast_buffers,
            find_unused_parameters,
        )
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = True
        ignored = getattr(module, "_ddp_params_and_buffers_to_ignore", ())
        self.parameters_to_ignore = set(ignored)
        self._buffers_sent = [b for name, b in module.named_buffers() if name not in ignored]
        self._owners, self._counts = _owners(module, ignored), _counts(module)
        self._frozen: set[int] = set()  # ids of parameters that needed gradients, and do not now
        self._compare(named)
        if init_sync:
            _send_from_first([param.detach() for _, param in named], group)
            _send_from_first([buffer.detach() for buffer in self._buffers_sent], group)
        cap = None if bucket_cap_mb is None else int(bucket_cap_mb * (1 << 20))
        skips = skip_all_reduce_unused_params
        self.reducer = Reducer(
            group.lane(device.type),
            named,
            cap,
            gradient_as_bucket_view,
            find_unused_parameters or skips,
            static_graph,
            skips,
            check_reduction,
            sparse_names(module),
        )
        self._joined: _Joined | None = None

    def _compare(self, named: Sequence[tuple[str, Tensor]]) -> None:
        """All ranks have parameters of the same shapes in the same order, or DistMismatchError says
        where they part.
        """
        parts = [
            f"{name} {tuple(p.shape)} {str(p.dtype).removeprefix('taeda.')}" for name, p in named
        ]
        self._compare_text(f"{len(parts)} parameters: {', '.join(parts)}")

    def _compare_text(self, text: str) -> None:
        if len(text) > 500:
            text = f"{text[:400]}... {zlib.crc32(text.encode()):08x}"
        call = Call("DistributedDataParallel", f"DistributedDataParallel({text})")
        self.process_group.run(call, lambda engine, deadline: None)

    # ---- forward ----

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        reducer = self.reducer
        learns = taeda.is_grad_enabled()
        averages = learns and self.require_backward_grad_sync
        if averages:
            self._check_unchanged()
            reducer.check_finished()
            self._notify_join()
        if self.broadcast_buffers and self.require_backward_grad_sync and self.training:
            self._send_buffers()
        if self.device_ids:
            inputs, kwargs = _moved(inputs, self.device), _moved(kwargs, self.device)
        outputs = self.module(*inputs, **kwargs)
        if averages:
            reducer.prepare(outputs)
        elif learns:
            reducer.keep_local(outputs)
        return outputs

    def _notify_join(self) -> None:
        work = Join.notify_join_context(self)
        if work is not None:
            work.wait()
        if self._joined is not None:
            self._joined.tell(self.reducer)
        else:
            self.reducer.late.tell(0, joins=False)

    def _send_buffers(self) -> None:
        if self._buffers_sent and self.process_group.size() > 1:
            _send_from_first([buffer.detach() for buffer in self._buffers_sent], self.process_group)

    def _check_unchanged(self) -> None:
        frozen: set[int] = set()
        for owner, name, param, needs in self._owners:
            now = owner._parameters.get(name)
            if now is param and param.requires_grad is needs:
                continue
            if now is not param or not needs:
                raise RuntimeError(
                    f"the parameter {name!r} of {type(owner).__name__} was replaced, removed or "
                    "unfrozen after the module was wrapped: wrap it again"
                )
            frozen.add(id(param))
        if frozen != self._frozen:
            self._freeze(frozen)
        if any(n != (len(m._parameters), len(m._modules)) for m, n in self._counts):
            self._check_none_added()

    def _freeze(self, frozen: set[int]) -> None:
        """Parameters with these ids need no gradient now. DistMismatchError unless that is so on
        all ranks.
        """
        reducer = self.reducer
        numbers = {n for n, param in enumerate(reducer.params) if id(param) in frozen}
        self._compare_text(f"frozen: {', '.join(reducer.names[n] for n in sorted(numbers))}")
        reducer.freeze(numbers)
        self._frozen = frozen

    def _check_none_added(self) -> None:
        """Modules have others than they had; without parameters they may."""
        known = {id(param) for _, _, param, _ in self._owners}
        added = [
            name
            for name, param in self.module.named_parameters()
            if id(param) not in known and name not in self.parameters_to_ignore
        ]
        if added:
            raise RuntimeError(
                f"{', '.join(map(repr, added))} joined the module after it was wrapped, so no "
                "gradient of it would be averaged: wrap the module again"
            )
        self._counts = _counts(self.module)

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(
        module: nn.Module, params_and_buffers_to_ignore: Collection[str]
    ) -> None:
        """Wrappers made of `module` from now on leave these parameters and buffers, by their names,
        to the caller: they are not sent, averaged or watched.
        """
        names = params_and_buffers_to_ignore
        module._ddp_params_and_buffers_to_ignore = names
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            if name in names:
                tensor._ddp_ignored = True  # type: ignore[attr-defined]  # others look at it

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Inside, gradients stay local and add up; the first backward after it reduces the sum."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = self.reducer.sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = self.reducer.sync = before

    # ---- communication hooks ----

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        """Let `hook(state, bucket)` reduce each bucket; it returns a Future of one tensor, the bucket's mean.

        Once per module: RuntimeError for a second. TypeError for no callable, ValueError for annotations of
        other types.
        """
        if not callable(hook):
            raise TypeError(f"a communication hook is callable, not {type(hook).__name__}")
        _check_annotations(hook)
        if self.reducer.sparse:
            raise RuntimeError(
                "a communication hook gets dense buckets, and this module has an Embedding with sparse=True"
            )
        if self.reducer.hook is not None:
            raise RuntimeError("this module has a communication hook already; it takes one")
        self.reducer.hook, self.reducer.hook_state = hook, state

    # ---- join ----

    @contextmanager
    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Iterator[None]:
        """Ranks may have different numbers of inputs: who has run out takes part in the others'
        steps with zeros.
        """
        with Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        ):
            yield

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a rank does when it has run out of inputs. `divide_by_initial_world_size` as in `join`."""
        if self.reducer.sparse:
            names = ", ".join(self.reducer.names[n] for n in sorted(self.reducer.sparse))
            raise RuntimeError(
                f"join: {names} gets sparse gradients, of which a rank without inputs cannot tell what the "
                "others have already. Give all ranks as many inputs, or make the Embedding with sparse=False"
            )
        self._joined = _Joined(self, kwargs.get("divide_by_initial_world_size", True))
        self.reducer.late.tell(0, joins=True)
        return self._joined

    @property
    def join_device(self) -> taeda.device:
        """The processor."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The group."""
        return self.process_group

    def __getstate__(self) -> Any:
        raise TypeError(
            "DistributedDataParallel belongs to its processes: save module.state_dict(), or pickle .module"
        )


class _Joined(JoinHook):
    """A rank that has run out of inputs."""

    def __init__(self, ddp: DistributedDataParallel, by_initial: bool) -> None:
        self._ddp, self._by_initial = ddp, by_initial

    def tell(self, reducer: Reducer) -> None:
        """How many ranks have inputs, and by what number a sum is divided."""
        group = self._ddp.process_group
        reducer.divide_by = self.divisor()
        reducer.late.tell(group.size() - Join.active(group), joins=True)

    def divisor(self) -> int:
        """By how much a sum is divided: by all ranks, or by those that still have inputs."""
        group = self._ddp.process_group
        return group.size() if self._by_initial else Join.active(group)

    def main_hook(self) -> None:
        ddp = self._ddp
        self.tell(ddp.reducer)
        if ddp.broadcast_buffers and ddp.training:
            ddp._send_buffers()
        ddp.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """Everybody takes the parameters and buffers of a rank that trained to the end."""
        ddp = self._ddp
        root = Join.last_joiner(ddp.process_group, is_last_joiner)
        tensors = [param.detach() for param in ddp.reducer.params]
        tensors += [buffer.detach() for buffer in ddp._buffers_sent]
        _send_from(tensors, ddp.process_group, root)
        ddp.reducer.divide_by = ddp.process_group.size()
        ddp.reducer.late.tell(0, joins=False)
        ddp._joined = None


# ---- the constructor's parts ----


def _refuse_unsupported(delayed: Any, hooked: Any, mixed: Any) -> None:
    for name, value in (
        ("delay_all_reduce_named_params", delayed),
        ("param_to_hook_all_reduce", hooked),
        ("mixed_precision", mixed),
    ):
        if value is not None:
            raise NotImplementedError(
                f"{name} is not in this release"
                + (
                    "; use taeda.autocast and taeda.amp.GradScaler"
                    if name == "mixed_precision"
                    else ""
                )
            )


def _group_of(mesh: Any) -> Any:
    if mesh.ndim != 1:
        raise RuntimeError(
            f"DistributedDataParallel takes a mesh of one dimension, not of {mesh.ndim}"
        )
    return mesh.get_group(0)


def _parameters(module: nn.Module) -> list[tuple[str, Tensor]]:
    if not isinstance(module, nn.Module):
        raise TypeError(f"DistributedDataParallel wraps a Module, not {type(module).__name__}")
    ignored = getattr(module, "_ddp_params_and_buffers_to_ignore", ())
    named: list[tuple[str, Tensor]] = [
        (name, p)
        for name, p in module.named_parameters()
        if p.requires_grad and name not in ignored
    ]
    if not named:
        raise RuntimeError(
            "DistributedDataParallel is not needed: no parameter of the module requires a gradient"
        )
    lazy = [name for name, p in named if isinstance(p, nn.UninitializedParameter)]
    if lazy:
        raise RuntimeError(
            f"parameters without a shape yet: {', '.join(lazy)}; run a forward before wrapping"
        )
    return named


def _check_devices(
    device_ids: Any,
    output_device: Any,
    named: Sequence[tuple[str, Tensor]],
    wanted: Sequence[str],
) -> taeda.device:
    """The one device of all parameters. ValueError if there are several, or the backend carries
    another kind.
    """
    devices = {str(param.device): param.device for _, param in named}
    if len(devices) > 1:
        raise ValueError(
            f"parameters are on {', '.join(sorted(devices))}; a process has one device: start one for each"
        )
    (device,) = devices.values()
    if device.type not in wanted:
        raise ValueError(
            f"parameters are on {device}; the group's backend reduces on the "
            f"{' and '.join(wanted)} only"
        )
    if device.type == "cpu" and (device_ids or output_device is not None):
        raise ValueError(
            f"device_ids {device_ids} and output_device {output_device} are for modules on one "
            "GPU; this one is on "
            "the cpu: leave them out"
        )
    for given in [*(device_ids or ()), *([] if output_device is None else [output_device])]:
        named_device = (
            taeda.device("cuda", given) if isinstance(given, int) else taeda.device(given)
        )
        if (named_device.type, named_device.index or 0) != (device.type, device.index or 0):
            raise ValueError(f"the module is on {device}, but {named_device} is asked for")
    return device


def _moved(value: Any, device: taeda.device) -> Any:
    """Tensors of nested lists, tuples and dicts on the device: what `device_ids` asks for."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: _moved(part, device) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_moved(part, device) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(part, device) for part in value)
    return value


def _owners(
    module: nn.Module, ignored: Collection[str]
) -> list[tuple[nn.Module, str, Tensor, bool]]:
    return [
        (owner, name, param, param.requires_grad)
        for prefix, owner in module.named_modules()
        for name, param in owner._parameters.items()
        if param is not None and (f"{prefix}.{name}" if prefix else name) not in ignored
    ]


def _counts(module: nn.Module) -> list[tuple[nn.Module, tuple[int, int]]]:
    """How many parameters and modules each module has of its own: cheap to compare before each forward."""
    return [(part, (len(part._parameters), len(part._modules))) for part in module.modules()]


def _send_from_first(tensors: Sequence[Tensor], group: Any) -> None:
    _send_from(tensors, group, 0)


def _send_from(tensors: Sequence[Tensor], group: Any, root: int) -> None:
    """Tensors become those of the group's number `root`, joined by dtype in messages of at most 250 MB."""
    by_dtype: dict[Any, list[Tensor]] = {}
    for tensor in tensors:
        by_dtype.setdefault(tensor.dtype, []).append(tensor)
    for some in by_dtype.values():
        for part in _portions(some, 250 << 20):
            joined = taeda.cat([tensor.reshape(-1) for tensor in part])
            broadcast(joined, group=group, group_src=root)
            if group.rank() != root:
                for tensor, piece in zip(
                    part, joined.split([t.numel() for t in part]), strict=True
                ):
                    tensor.copy_(piece.view(tensor.shape))


def _portions(tensors: Sequence[Tensor], limit: int) -> Iterator[list[Tensor]]:
    part: list[Tensor] = []
    nbytes = 0
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        if part and nbytes + size > limit:
            yield part
            part, nbytes = [], 0
        part.append(tensor)
        nbytes += size
    if part:
        yield part


def _check_annotations(hook: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(hook)
    except (TypeError, ValueError):  # a builtin says nothing of its parameters
        return
    params = list(signature.parameters.values())
    if len(params) < 2:
        raise ValueError("a communication hook takes two arguments: state and bucket")
    kinds = (inspect.Parameter.empty, GradBucket, "GradBucket", "dist.GradBucket")
    if params[1].annotation not in kinds:
        raise ValueError(
            f"the second argument of a communication hook is a GradBucket, not {params[1].annotation!r}"
        )
    returned = signature.return_annotation
    if returned is not inspect.Signature.empty and "Future" not in str(returned):
        raise ValueError(f"a communication hook returns a Future of a tensor, not {returned!r}")
