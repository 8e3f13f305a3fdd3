"""NVIDIA's management library, by a stand-in of its Python package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import standin

LIBRARY = """
import types
started = 0
class NVMLError(Exception): pass
asked = []
def nvmlInit():
    global started
    if broken: raise NVMLError("Driver Not Loaded")
    started += 1
broken = False
def nvmlDeviceGetHandleByUUID(uuid):
    asked.append(uuid)
    return uuid
def nvmlDeviceGetUtilizationRates(handle): return types.SimpleNamespace(gpu=37, memory=12)
def nvmlDeviceGetMemoryInfo(handle): return types.SimpleNamespace(total=100, used=5 << 20, free=1)
def nvmlDeviceGetTemperature(handle, sensor): return {0: 55}[sensor]
def nvmlDeviceGetClockInfo(handle, clock): return {1: 1755}[clock]
def nvmlDeviceGetPowerUsage(handle): raise NVMLError("Not Supported")
def nvmlDeviceGetComputeRunningProcesses(handle):
    if handle[-1] == "1": return []
    return [
        types.SimpleNamespace(pid=17, usedGpuMemory=3 << 20),
        types.SimpleNamespace(pid=18, usedGpuMemory=None),
    ]
"""


def test_sensors_are_asked_by_uuid(tmp_path):
    (tmp_path / "pynvml.py").write_text(LIBRARY)
    standin.memory(
        f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
assert (cuda.utilization(), cuda.memory_usage(), cuda.device_memory_used()) == (37, 12, 5 << 20)
assert cuda.temperature(1) == 55 and cuda.clock_rate("cuda:1") == 1755
import pynvml
assert pynvml.asked[0] == "GPU-7ae0a000-0000-0000-0000-000000000001", "CUDA_VISIBLE_DEVICES renumbers"
assert pynvml.asked[3] == "GPU-7ae0a000-0000-0000-0000-000000000000"
assert cuda.list_gpu_processes(1).splitlines() == [
    "GPU:taeda stand-in",
    "process         17 uses 3.000 MB GPU memory",
    "process         18 uses memory unknown GPU memory",
]
assert cuda.list_gpu_processes(0).endswith("no processes are running")
refuses(RuntimeError, ["nvmlDeviceGetPowerUsage", "taeda stand-in", "Not Supported"], cuda.power_draw)
refuses(RuntimeError, ["2 CUDA devices"], lambda: cuda.temperature(2))
pynvml.broken = True
refuses(RuntimeError, ["does not start", "Driver Not Loaded", "the driver"], cuda.utilization)
""",
        CUDA_VISIBLE_DEVICES="1,0",
    )


def test_without_the_package_its_name_is_told():
    standin.memory("""
import sys
sys.modules["pynvml"] = None
refuses(ModuleNotFoundError, ["nvidia-ml-py", "taeda-core[cuda12]"], cuda.utilization)
""")
