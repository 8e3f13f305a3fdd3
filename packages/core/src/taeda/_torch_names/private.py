"""Private modules of torch that libraries import all the same, for `install_as_torch`: what each
name means here.
"""

from __future__ import annotations

import contextlib
import importlib
from types import ModuleType
from typing import Any

from .private_dispatch import Excluded, Key, KeySet
from .private_types import TYPES

__all__ = ["ELSEWHERE", "FILLED", "MENTIONED", "MODULES", "fetched", "made"]


def _same(function: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A decorator, with arguments or without, that leaves a function as it is: nothing here looks into it."""
    if callable(function):
        return function
    return lambda given: given


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Advice to a tracer, of which there is none."""


_MAPS = "taeda.vmap maps functions of tensors, and of classes that utils._pytree knows"


def _refused(place: str, names: str, why: str = _MAPS) -> dict[str, Any]:
    """Functions that libraries import, or put their own in the place of, and do not call."""

    def made(name: str) -> Any:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            raise RuntimeError(f"{place}.{name} does not exist in taeda: {why}")

        refuse.__name__ = refuse.__qualname__ = name
        return refuse

    return {name: made(name) for name in names.split()}


class _NoObject:
    """A class of which there are no objects."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"{type(self).__module__}.{type(self).__name__} does not exist in taeda")


def _class(name: str, module: str) -> type:
    return type(name, (_NoObject,), {"__module__": module})


#: what collections of tensors call to be mapped
_DIMENSIONS = {
    f"_{name}": f"taeda.func._collections:{name}" for name in ("add_batch_dim", "remove_batch_dim")
}
_SCRIPT_OBJECT = _class("ScriptObject", "torch")


def _was_off(value: bool) -> bool:
    """Advice to a compiler of theirs, which is off: False, as before."""
    return False


def _parse_to(*args: Any, **kwargs: Any) -> Any:
    """The device, dtype, non_blocking and memory format of a call `.to(...)`."""
    from taeda.nn.modules._convert import parse_to  # upward: a library moves a module of it

    return parse_to(*args, **kwargs)


def _is_tracing() -> bool:
    """Whether a call is traced."""
    from taeda.jit import is_tracing  # upward: it exists where somebody traces

    return bool(is_tracing())


def _is_profiled() -> bool:
    """Whether this thread is profiled."""
    from taeda.profiler import _collect  # upward: it exists where somebody profiles

    return _collect.is_recording()


def _end_profile() -> None:
    """End the profile of this thread, if there is one."""
    from taeda.profiler import _collect  # upward: it exists where somebody profiles

    _collect.stop_recording()


_SCRIPT = {
    name: _class(name, "torch.jit")
    for name in ("ScriptModule", "ScriptFunction", "RecursiveScriptModule", "TopLevelTracedModule")
}
_FAKE = {
    name: _class(name, "torch._subclasses.fake_tensor") for name in ("FakeTensor", "FakeTensorMode")
}
_FSDP = "taeda.distributed.fsdp:"
_HERE = "taeda._torch_names."
_UTILS, _OPS, _DISPATCH, _PRINTING, _OPTIM, _FUNCTORCH = (
    f"{_HERE}private_{part}:"
    for part in ("utils", "ops", "dispatch", "printing", "optim", "functorch")
)
#: names of public modules that libraries name at import, in annotations or as decorators, where ours has none
FILLED: dict[str, dict[str, Any]] = {
    "": {
        "ScriptModule": _SCRIPT["ScriptModule"], "ScriptObject": _SCRIPT_OBJECT,
        "Future": "taeda.futures:Future",
        "StorageBase": "taeda.storage:UntypedStorage", "_assert_async": f"{_OPS}assert_async",
        "_sample_dirichlet": f"{_OPS}sample_dirichlet", "_shape_as_tensor": f"{_OPS}shape_as_tensor",
        "_disable_dynamo": _same,
        "_convert_indices_from_coo_to_csr": f"{_OPS}coo_to_csr",
        "_convert_indices_from_csr_to_coo": f"{_OPS}csr_to_coo", "Storage": "taeda:FloatStorage",
        "legacy_contiguous_format": "taeda:contiguous_format", **TYPES,
        "_check_tensor_all_with": f"{_HERE}checks:_check_tensor_all_with",
    },
    "cuda": {"_lazy_call": f"{_UTILS}called_now",
        **{name: _class(name, "torch.cuda") for name in ("CUDAGraph", "Event", "Stream",
            "StreamContext", "graph")}},
    "backends": {"fp32_precision": f"{_UTILS}FP32_PRECISION"},
    "hub": {"tqdm": f"{_UTILS}progress"},
    "sparse": {f"{kind}Tensor": f"{_HERE}private_sparse:{kind}Tensor"
        for kind in ("Float", "Double", "Half", "Int", "Long", "BFloat16")},
    "mps": {"Event": _class("Event", "torch.mps")},
    "serialization": {"MAP_LOCATION": Any},  # what `map_location` may be, in annotations
    "autograd": {"_is_checkpoint_valid": lambda: True, "_profiler_enabled": _is_profiled,
        "_disable_profiler": _end_profile},
    "compiler": {
        "allow_in_graph": _same, "assume_constant_result": _same, "cudagraph_mark_step_begin": _nothing,
        "substitute_in_graph": lambda original, **options: _same,
    },
}  # fmt: skip
#: names by private module; a module is a package if another one lies below it
MODULES: dict[str, dict[str, Any]] = {
    "torch._dynamo": {
        "allow_in_graph": _same, "assume_constant_result": _same, "disable": _same,
        "is_compiling": lambda: False, "is_dynamo_supported": lambda: True, "mark_dynamic": _nothing,
        "mark_static": _nothing, "mark_static_address": _nothing, "reset": _nothing, "graph_break": _nothing,
        "OptimizedModule": _class("OptimizedModule", "torch._dynamo"),
    },
    "torch._dynamo.eval_frame": {"OptimizedModule": "taeda.compiler:OptimizedModule",
        "is_dynamo_supported": lambda: True},
    "torch.fx.passes.infra": {},
    "torch.fx.passes.infra.pass_base": {name: f"{_HERE}private_fx:{name}"
        for name in ("PassBase", "PassResult")},
    "torch.fx._pytree": {"tree_flatten_spec": f"{_HERE}private_fx:tree_flatten_spec",
        "tree_flatten": "taeda.utils._pytree:tree_flatten"},
    "torch.backends.kleidiai": {"is_available": lambda: False},
    "torch.cuda.amp.common": {"amp_definitely_not_available": f"{_UTILS}no_device"},
    "torch.cuda.amp.grad_scaler": {name: f"taeda.amp.grad_scaler:{name}" for name in ("GradScaler",
        "OptState")},
    "torch.nested._internal": {},
    "torch.nested._internal.nested_tensor": {"NestedTensor": "taeda.nested._tensor:NestedTensor",
        "nested_view_from_values_offsets": "taeda.nested:nested_tensor_from_jagged"},
    "torch.autograd.profiler_legacy": {"profile": "taeda.autograd.profiler:profile"},
    "torch.utils._triton": dict.fromkeys(("has_triton", "has_triton_package"), lambda: False),
    # their moving of classes between modules
    "torch.distributed._composable": {"fully_shard": f"{_FSDP}fully_shard"},
    "torch.distributed._composable.fsdp": {},
    "torch._dynamo.external_utils": {"is_compiling": lambda: False},
    "torch._dynamo.utils": {"is_compile_supported": lambda device_type: device_type == "cpu",
        "warn_once": f"{_UTILS}warn_once"},
    "torch._compile": {"_disable_dynamo": _same},
    # a promise of theirs about names that stay
    "torch.fx._compatibility": {"compatibility": _same},
    "torch.fx._symbolic_trace": {"compatibility": _same, "ScriptObject": _SCRIPT_OBJECT},
    "torch.optim.optimizer": {
        "_get_capturable_supported_devices": f"{_OPTIM}capturable_devices",
        "_use_grad_for_differentiable": f"{_OPTIM}with_gradients",
        "_default_to_fused_or_foreach": f"{_OPTIM}choose_kernels", "_get_value": f"{_OPTIM}number_of",
        "_dispatch_sqrt": f"{_OPTIM}root", "_view_as_real": f"{_OPTIM}reals_of",
    },
    # as a build of theirs without it says
    "torch.distributed.rpc": {"is_available": lambda: False},
    "torch.distributed._tensor": {"DTensor": "taeda.distributed.tensor:DTensor"},
    "torch._subclasses": _FAKE,
    "torch._subclasses.fake_tensor": {**_FAKE, "is_fake": f"{_DISPATCH}never"},
    "torch._subclasses.functional_tensor": {"mb_unwrap_functional_tensor": lambda tensor: tensor,
        "FunctionalTensor": _class("FunctionalTensor", "torch._subclasses.functional_tensor")},
    "torch._C": {
        "DispatchKey": Key(), "DispatchKeySet": KeySet, "_ExcludeDispatchKeyGuard": Excluded,
        "_are_functorch_transforms_active": f"{_DISPATCH}maps_at_work",
        "_is_torch_function_mode_enabled": f"{_DISPATCH}function_mode",
        "_is_alias_of": f"{_DISPATCH}shares",
        "_get_privateuse1_backend_name": f"{_DISPATCH}backend_name",
        **dict.fromkeys(("TensorBase", "_TensorBase"), "taeda:Tensor"),
        **{name: f"taeda:{name}" for name in ("Generator", "Size", "device", "dtype")},
        "_get_default_device": f"{_DISPATCH}default_device",
        "_LinAlgError": "taeda.linalg:LinAlgError", "is_grad_enabled": "taeda:is_grad_enabled",
        "_is_tracing": _is_tracing,
        **{name: _class(name, "torch._C") for name in "Argument Block Graph Node Type Value".split()},
        **dict.fromkeys(("_jit_set_profiling_executor", "_jit_set_profiling_mode"), _was_off),
        "_GLIBCXX_USE_CXX11_ABI": True,
    },
    "torch._C._functorch": {
        "is_batchedtensor": f"{_DISPATCH}is_mapped", "get_unwrapped": f"{_DISPATCH}value_of",
        "maybe_get_bdim": f"{_DISPATCH}dimension",
        **{f"is_{kind}": f"{_DISPATCH}never" for kind in ("legacy_batchedtensor",
            "gradtrackingtensor", "functionaltensor")},
        **_DIMENSIONS,
    },
    # how an exporter writes operators of theirs: there is none, so nobody will ask
    "torch.onnx": {"register_custom_op_symbolic": _nothing, "is_in_onnx_export": lambda: False,
        "TensorProtoDataType": "taeda.onnx:TensorProtoDataType"},
    "torch.onnx.symbolic_helper": {"parse_args": lambda *kinds: _same},
    "torch.onnx.symbolic_opset11": {},
    "torch.jit": {**_SCRIPT, "interface": _same, "Error": type("Error", (RuntimeError,), {}),
        "_script_if_tracing": _same, "_overload": _same, "_overload_method": _same},
    "torch.jit._script": _SCRIPT,
    "torch.jit.annotations": {"List": list, **{f"BroadcastingList{n}": list for n in (1, 2, 3)}},
    "torch._jit_internal": {"_copy_to_script_wrapper": _same, "_overload": _same, "List": list,
        "Dict": dict, "Tuple": tuple, **{f"BroadcastingList{n}": list for n in (1, 2, 3)}},
    "torch._C._nn": {"_parse_to": _parse_to},
    "torch.library": {"_scoped_library": "taeda._library.low_level:scoped_library"},
    "torch._custom_ops": {"impl_abstract": "taeda.library:register_fake"},
    "torch._ops": {name: f"taeda._library.operators:{name}" for name in ("OpOverload",
        "OpOverloadPacket")} | {"HigherOrderOperator": _class("HigherOrderOperator", "torch._ops")},
    "torch._utils": {
        "_get_device_index": f"{_UTILS}device_index", "_element_size": f"{_UTILS}element_size",
        "_get_available_device_type": f"{_UTILS}device_type",
        "_get_device_module": f"{_UTILS}device_module", "_flatten_dense_tensors": f"{_UTILS}flatten",
        "_unflatten_dense_tensors": f"{_UTILS}unflatten", "_take_tensors": f"{_UTILS}take",
        "_reorder_tensors_as": f"{_UTILS}reorder", "classproperty": f"{_UTILS}classproperty",
        "is_compiling": lambda: False,
    },
    "torch._tensor_str": {
        "PRINT_OPTS": f"{_PRINTING}options", "_tensor_str": f"{_PRINTING}tensor_str",
        "_str_intern": f"{_PRINTING}str_intern", "_add_suffixes": f"{_PRINTING}add_suffixes",
        **{name: f"taeda._tensor.printing:{name}" for name in ("get_printoptions", "printoptions",
            "set_printoptions")},
    },
    "torch.torch_version": {"TorchVersion": f"{_HERE}torch_version:TorchVersion"},
    "torch.sparse._triton_ops_meta": _refused("torch.sparse._triton_ops_meta", "get_meta minimize update",
        "it tunes kernels in a language that taeda does not speak"),
    "torch.autograd.variable": {"Variable": "taeda.autograd:Variable"},
    # indexing by a tensor under vmap needs no help here
    "torch._dynamo._trace_wrapped_higher_order_op": {"TransformGetItemToIndex": contextlib.nullcontext},
    # a package of theirs beside torch
    "functorch": {
        **{name: f"{_FUNCTORCH}{name}" for name in ("FunctionalModule", "FunctionalModuleWithBuffers")},
        "make_functional": f"{_FUNCTORCH}functional",
        "make_functional_with_buffers": f"{_FUNCTORCH}functional_with_buffers",
    },
    # there are no modes of fake tensors
    "torch._guards": {"active_fake_mode": _nothing, "detect_fake_mode": _nothing},
    "torch._VF": {}, "torch._tensor": {}, "torch._functorch": {},
    "torch._functorch.vmap": {"Tensor": "taeda:Tensor",
        **{name: f"taeda.utils._pytree:{name}" for name in ("tree_flatten", "tree_unflatten")},
        **_DIMENSIONS,
        "_maybe_remove_batch_dim": "taeda.func._collections:maybe_remove_batch_dim",
        **_refused("torch._functorch.vmap", "_broadcast_to_and_flatten _create_batched_inputs _get_name "
            "_process_batched_inputs _unwrap_batched _validate_and_get_batch_size")},
    "torch._functorch.apis": {}, "torch._functorch.eager_transforms": {},
}  # fmt: skip
#: operators without a row here, for which libraries register functions of their own classes
MENTIONED = ("_sparse_addmm", "_sparse_mm_reduce_impl")
#: private modules whose names are those of another one of ours
ELSEWHERE = {
    "torch.distributed._composable.fsdp": "taeda.distributed.fsdp",
    "functorch": "taeda.func", "torch._VF": "taeda", "torch._tensor": "taeda",
    **{f"torch._functorch{part}": "taeda.func" for part in ("", ".vmap", ".apis", ".eager_transforms")},
}  # fmt: skip


def fetched(value: Any) -> Any:
    """What stands in a table: itself, or what text such as "module:name" names."""
    if not isinstance(value, str):
        return value
    place, _, wanted = value.partition(":")
    return getattr(importlib.import_module(place), wanted)


def made(name: str) -> ModuleType:
    """A module of the table; what is named as "module:name" is fetched, and left out where its
    package is not installed.
    """
    module = ModuleType(name, f"{name}, as far as libraries name it: see taeda.install_as_torch.")
    for key, value in MODULES[name].items():
        with contextlib.suppress(ModuleNotFoundError):
            module.__dict__[key] = fetched(value)
    return module
