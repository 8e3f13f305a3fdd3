"""NVRTC: device text in, an image for one architecture out.
TAEDA_LIBNVRTC names another library than the installed one.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

from ._libraries import MAJORS, newest_served, opened

__all__ = ["compile_text", "version"]


@cache
def library() -> ctypes.CDLL:
    """The library, from the environment, the wheels nvidia-cuda-nvrtc-*, or the system. A driver does
    not load what a compiler of a newer major version makes, so none such is taken.
    """
    major = newest_served()
    library = opened("nvrtc", "TAEDA_LIBNVRTC", major)
    if library is not None:
        return library
    wanted = os.environ.get("TAEDA_LIBNVRTC") or "NVRTC"
    if major < MAJORS[0]:
        wanted += f" of CUDA {major}, which is what the driver serves,"
    raise RuntimeError(
        f"kernels cannot be compiled: {wanted} was not found; "
        "install it with `pip install taeda-core[cuda12]`, or taeda-core[cuda13], by your driver's CUDA"
    )


@cache
def version() -> tuple[int, int]:
    """Major and minor version of NVRTC."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def compile_text(
    text: str, headers: dict[str, str], name: str, options: tuple[str, ...]
) -> tuple[bytes, str]:
    """The image of a program and the symbol of its kernel `name`. RuntimeError with the compiler's words."""
    nvrtc, program = library(), ctypes.c_void_p()
    strings = ctypes.c_char_p * max(len(headers), 1)
    texts = strings(*(value.encode() for value in headers.values()))
    included = strings(*(key.encode() for key in headers))
    failed = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), text.encode(), b"taeda.cu", len(headers), texts, included
    )
    if failed:
        raise RuntimeError(f"NVRTC does not take a program (code {failed})")
    try:
        nvrtc.nvrtcAddNameExpression(program, name.encode())
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if nvrtc.nvrtcCompileProgram(program, len(options), words):
            raise RuntimeError(f"the kernel {name} does not compile:\n{_log(nvrtc, program)}")
        symbol = ctypes.c_char_p()
        nvrtc.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(symbol))
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        image = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, image)
        return image.raw, (symbol.value or b"").decode()
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _log(nvrtc: ctypes.CDLL, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.value.decode(errors="replace")
