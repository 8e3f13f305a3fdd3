"""Each environment variable that PyTorch documents stands once in the table, and what acts is read."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs/environment.md").read_text(), re.M)
TABLE = dict(ROWS)

NCCL = """ASYNC_ERROR_HANDLING HIGH_PRIORITY BLOCKING_WAIT DUMP_ON_TIMEOUT DESYNC_DEBUG ENABLE_TIMING
    ENABLE_MONITORING HEARTBEAT_TIMEOUT_SEC TRACE_BUFFER_SIZE TRACE_CPP_STACK COORD_CHECK_MILSEC
    WAIT_TIMEOUT_DUMP_MILSEC DEBUG_INFO_TEMP_FILE DEBUG_INFO_PIPE_FILE NAN_CHECK
    USE_COMM_NONBLOCKING AVOID_RECORD_STREAMS"""
DOCUMENTED = """OMP_NUM_THREADS MKL_NUM_THREADS PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_CUDA_ALLOC_CONF
    PYTORCH_NVML_BASED_CUDA_CHECK TORCH_CUDNN_V8_API_LRU_CACHE_LIMIT TORCH_CUDNN_V8_API_DISABLED
    TORCH_CUDNN_V8_API_DEBUG TORCH_ALLOW_TF32_CUBLAS_OVERRIDE CUDA_VISIBLE_DEVICES CUDA_LAUNCH_BLOCKING
    CUBLAS_WORKSPACE_CONFIG CUDNN_CONV_WSCAP_DBG CUBLASLT_WORKSPACE_SIZE CUDNN_ERRATA_JSON_FILE
    NVIDIA_TF32_OVERRIDE PYTORCH_DEBUG_MPS_ALLOCATOR PYTORCH_MPS_LOG_PROFILE_INFO
    PYTORCH_MPS_TRACE_SIGNPOSTS PYTORCH_MPS_HIGH_WATERMARK_RATIO PYTORCH_MPS_LOW_WATERMARK_RATIO
    PYTORCH_MPS_FAST_MATH PYTORCH_MPS_PREFER_METAL PYTORCH_ENABLE_MPS_FALLBACK
    TORCH_SHOW_CPP_STACKTRACES TORCH_CPP_LOG_LEVEL TORCH_LOGS TORCH_FORCE_WEIGHTS_ONLY_LOAD
    TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT TORCH_DEVICE_BACKEND_AUTOLOAD"""
NAMES = (*DOCUMENTED.split(), *(f"TORCH_NCCL_{name}" for name in NCCL.split()))


@pytest.fixture(scope="module")
def sources():
    """The text of all that runs."""
    kinds = ("*.py", "*.c", "*.h")
    parts = (
        path
        for package in (ROOT / "packages").iterdir()
        for folder in ("src", "csrc")
        for kind in kinds
        for path in (package / folder).rglob(kind)
    )
    return "\n".join(path.read_text(errors="replace") for path in parts)


def test_every_documented_variable_stands_once():
    assert [name for name in NAMES if [row[0] for row in ROWS].count(name) != 1] == []


@pytest.mark.parametrize("name", TABLE)
def test_what_acts_is_read_and_what_is_not_has_a_reason(sources, name):
    words = TABLE[name]
    acts = f'"{name}"' in sources or f"`{name}`" in sources
    if words.startswith("acts"):
        assert acts, f"{name} is said to act, and nothing reads it"
    else:
        assert words.startswith(("no use: ", "no use, for the same reason", "read by the library"))
        assert f'"{name}"' not in sources, (
            f"{name} is read, and the table says that it is of no use"
        )
