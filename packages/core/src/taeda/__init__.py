"""taeda: tensors, automatic differentiation and neural networks.

Operations, dtypes and the Tensor type come from the compiled core; everything else loads when first named.

>>> import taeda
>>> taeda.ones(2, 3).sum()
tensor(6.)
"""

from __future__ import annotations

import math as _math
from pkgutil import extend_path

# done already where the package is compiled: csrc/package
__path__ = extend_path(__path__, __name__)

from ._parts.packages import greet_neighbours as _greet_neighbours
from ._parts.packages import install_packages as _install_packages
from ._parts.packages import name_place as _name_place

_install_packages()  # the same

from ._native import core as _core  # noqa: E402 - the same
from ._parts import install_hint, lazy_attributes  # noqa: E402 - imports come after the finder
from ._tracebacks import install as _install_tracebacks  # noqa: E402 - the same

#: what the compiled module holds that is public; everything else of it is for the packages of taeda
_NATIVE = """
    Generator OutOfMemoryError Size Tensor bfloat16 bool cdouble cfloat chalf channels_last channels_last_3d
    complex128 complex32 complex64 contiguous_format default_generator device double dtype
    float float16 float32 float64 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz
    float8_e8m0fnu get_default_device get_default_dtype get_num_threads half int int16 int32
    int64 int8 is_grad_enabled is_inference_mode_enabled jagged layout long memory_format
    preserve_format qint32 qint8 quint2x4 quint4x2 quint8 set_default_device
    set_default_dtype set_num_threads short sparse_bsc sparse_bsr sparse_coo sparse_csc
    sparse_csr strided uint16 uint32 uint64 uint8
""".split()
globals().update({n: vars(_core)[n] for n in _NATIVE})
_VARIADIC = ("chain_matmul", "einsum", "tensordot")  # taeda.functional gives them their public form
globals().update({n: f for n, f in _core.functions[""].items() if n not in _VARIADIC})
inf, nan, pi, e, newaxis = _math.inf, _math.nan, _math.pi, _math.e, None

from . import _tensor  # noqa: E402 - needs the types above
from ._memory_table import memory_table as _memory_table  # noqa: E402
from ._native.blas import place as _place_of_blas  # noqa: E402
from ._tensor.creation import as_tensor, asarray, from_numpy, frombuffer, tensor  # noqa: E402
from ._tensor.facts import (  # noqa: E402
    can_cast,
    finfo,
    iinfo,
    is_complex,
    is_conj,
    is_floating_point,
    is_inference,
    is_neg,
    is_nonzero,
    is_signed,
    is_storage,
    is_tensor,
    numel,
    promote_types,
    result_type,
    typename,
)

_EXPORTS = {
    **dict.fromkeys(
        ("enable_grad", "no_grad", "set_grad_enabled", "inference_mode"), "autograd"
    ),
    **dict.fromkeys(("manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state"), "random"),
    **dict.fromkeys(("save", "load"), "serialization"),
    **dict.fromkeys(
        ("align_tensors", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
            "broadcast_tensors", "cartesian_prod", "chain_matmul", "einsum", "histogramdd", "lu",
            "meshgrid", "pca_lowrank", "resize_as_", "svd_lowrank", "tensordot", "unique",
            "unique_consecutive"),
        "functional",
    ),
    **dict.fromkeys(
        ("detach_", "get_device", "get_file_path", "init_num_threads", "is_distributed",
         "is_same_size", "is_vulkan_available",
         "to_dlpack"),
        "_torch_names.tensor_facts",
    ),
    **dict.fromkeys(
        ("affine_grid_generator", "alpha_dropout", "alpha_dropout_", "conv_tbc",
         "cosine_similarity", "ctc_loss", "embedding_bag",
         "embedding_renorm_", "feature_alpha_dropout", "feature_alpha_dropout_", "feature_dropout",
         "feature_dropout_",
         "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "norm_except_dim",
         "pairwise_distance", "pdist"),
        "nn._top",
    ),
    **dict.fromkeys(
        ("gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu", "rnn_relu_cell", "rnn_tanh",
            "rnn_tanh_cell"), "nn._top_recurrent"
    ),
    **dict.fromkeys(
        ("is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"), "autograd.anomaly_mode"
    ),
    "__version__": "version",
    "PyTorchFileReader": "_io.pt.record_reader",
    "install_as_torch": "_torch_names.as_torch",
    "lobpcg": "_composite._eigen_block",
    "compile": "compiler",
    **dict.fromkeys(
        ("hspmm", "smm", "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor",
         "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor", "sspaddmm"),
        "sparse",
    ),
    **dict.fromkeys(("dsmm", "hsmm", "saddmm", "spmm"), "sparse._old_names"),
    **dict.fromkeys(
        ("_empty_affine_quantized", "_make_per_channel_quantized_tensor",
         "_make_per_tensor_quantized_tensor", "choose_qparams_optimized", "dequantize", "int_repr",
         "q_per_channel_axis",
         "q_per_channel_scales", "q_per_channel_zero_points", "q_scale", "q_zero_point",
         "quantize_per_channel", "quantize_per_tensor", "quantize_per_tensor_dynamic",
         "quantized_batch_norm", "quantized_max_pool1d", "quantized_max_pool2d",
         "quantized_max_pool3d"),
        "quantization._public",
    ),
    **dict.fromkeys(
        ("per_channel_affine", "per_channel_affine_float_qparams", "per_channel_symmetric",
         "per_tensor_affine", "per_tensor_symmetric", "qscheme"),
        "_tensor.qschemes",
    ),
    "vmap": "func",
    "set_printoptions": "_tensor.printing",
    **dict.fromkeys(
        ("BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor",
         "HalfTensor", "IntTensor", "LongTensor",
         "ShortTensor", "set_default_tensor_type"),
        "_tensor.legacy_types",
    ),
    "from_dlpack": "utils.dlpack",
    **dict.fromkeys(("autocast", "GradScaler"), "amp"),
    **dict.fromkeys(
        ("autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
         "get_autocast_dtype", "is_autocast_cache_enabled", "is_autocast_enabled",
         "set_autocast_cache_enabled", "set_autocast_dtype", "set_autocast_enabled"),
        "_layers.autocast",
    ),
    **dict.fromkeys(
        ("get_autocast_cpu_dtype", "get_autocast_gpu_dtype", "is_autocast_cpu_enabled",
         "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_gpu_dtype"),
        "_layers.autocast_names",
    ),
    **dict.fromkeys((
        "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode",
        "get_float32_matmul_precision", "get_num_interop_threads",
        "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
        "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
        "set_num_interop_threads", "set_warn_always", "use_deterministic_algorithms"),
        "_settings",
    ),
    **dict.fromkeys(("SymBool", "SymFloat", "SymInt", "_assert", "cond", "sym_float",
        "sym_fresh_size", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sum"),
        "_torch_names.symbolic"),
    **dict.fromkeys(("_check", "_check_index", "_check_is_size", "_check_not_implemented",
        "_check_tensor_all", "_check_type", "_check_value", "_check_with"), "_torch_names.checks"),
    **dict.fromkeys(
        ("compiled_with_cxx11_abi", "get_device_module", "has_cuda", "has_cudnn", "has_lapack",
         "has_mkl", "has_mkldnn", "has_mps", "has_openmp", "has_spectral"),
        "_torch_names.build_facts",
    ),
    "from_file": "_tensor.creation",
    "Tag": "_library.tags",
    **dict.fromkeys(("Event", "Stream"), "_streams"),
    **dict.fromkeys(("UntypedStorage", "TypedStorage"), "storage"),
    **dict.fromkeys(
        (f"{kind}Storage" for kind in (
            "BFloat16", "Bool", "Byte", "Char", "ComplexDouble", "ComplexFloat", "Double", "Float",
            "Half", "Int", "Long", "QInt32",
            "QInt8", "QUInt2x4", "QUInt4x2", "QUInt8", "Short",
        )),
        "storage",
    ),
    **{
        name: f"{name}:"
        for name in (
            "__config__", "__future__", "accelerator", "array_api", "backends", "cpu", "mps",
            "mtia", "quasirandom", "xpu", "random", "testing", "overrides", "serialization",
            "return_types", "functional", "fft", "hub", "linalg", "signal", "special", "types",
            "utils", "_C", "storage", "cuda", "version", "multiprocessing", "ops", "classes", "library",
        )
    },
}  # fmt: skip
__getattr__, __dir__ = lazy_attributes(__name__, _EXPORTS)
for _name, _value in list(globals().items()):
    _name_place(_value, __name__, _name)
install_hint()
_core.set_blas_path(*_place_of_blas())
_core.memory_set_table(_memory_table)
_greet_neighbours()
_install_tracebacks()
