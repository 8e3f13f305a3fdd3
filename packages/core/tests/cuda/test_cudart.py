"""CUDA's runtime by name, on the stand-in driver."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import standin


def test_functions_of_the_runtime_act_on_the_driver():
    standin.run(
        standin.MEMORY
        + """
runtime = cuda.cudart()
success = runtime.cudaError.success
assert success == 0 and cuda.is_initialized()
assert runtime.cudaProfilerStart() == success and runtime.cudaProfilerStop() == success
assert runtime.cudaMemGetInfo(1) == cuda.mem_get_info(1)
x = taeda.arange(2000.0)
address, size = x.data_ptr(), x.numel() * 4
assert runtime.cudaHostRegister(address, size, 0) == success
assert x.cuda().cpu().tolist() == x.tolist()
assert int(runtime.cudaHostRegister(address, size, 0)) == 712, "twice"
assert runtime.cudaHostUnregister(address) == success
assert int(runtime.cudaHostUnregister(address)) == 713
assert "illegal memory access" in runtime.cudaGetErrorString(700)
refuses(AttributeError, ["cudaMalloc"], lambda: runtime.cudaMalloc(8))
""",
    )


def test_a_driver_that_fails_is_told_by_its_code():
    standin.run(
        standin.MEMORY
        + """
runtime = cuda.cudart()
assert int(runtime.cudaProfilerStart()) == 1
assert runtime.cudaProfilerStart() == runtime.cudaError.success
""",
        TAEDA_NULL_FAIL="cuProfilerStart:1:1",
    )


def test_without_a_driver_there_is_no_runtime():
    standin.run(
        standin.MEMORY + "refuses(RuntimeError, ['no NVIDIA driver'], cuda.cudart)",
        TAEDA_LIBCUDA="/nowhere/libcuda.so.1",
    )
