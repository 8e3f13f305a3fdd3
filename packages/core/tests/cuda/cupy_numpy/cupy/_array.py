import functools

import numpy as np

from . import cuda


class ndarray:
    def __init__(self, values, memory=None):
        self._values, self._memory = values, memory

    shape = property(lambda self: self._values.shape)
    dtype = property(lambda self: self._values.dtype)

    def astype(self, dtype):
        return ndarray(self._values.astype(dtype))

    size = property(lambda self: self._values.size)

    def __getitem__(self, key):
        return ndarray(self._values[key])

    def __setitem__(self, key, value):
        import taeda

        assert self._memory is not None, "results are written"
        assert type(value) is ndarray, f"CuPy takes its own arrays only, got {type(value)}"
        assert value.shape == self._values[key].shape, (value.shape, self.shape)
        self._values = np.array(self._values)
        self._values[key] = value._values
        self._memory.copy_(taeda.from_numpy(self._values))


def from_dlpack(array):
    """The protocol is gone through; the values are copied."""
    kind, index = array.__dlpack_device__()
    assert kind == 2 and index == cuda.Device.now, (kind, index, cuda.Device.now)
    array.__dlpack__(stream=cuda.ExternalStream.now or 1)
    return ndarray(array.cpu().numpy(), array)


def asnumpy(a):
    return np.array(a._values)


def asarray(a, dtype=None):
    return ndarray(np.array(a, dtype))


def _wrapped(made):
    if isinstance(made, tuple):
        return tuple(map(_wrapped, made))
    return ndarray(np.asarray(made))


def on_arrays(function):
    """CuPy's functions take CuPy's arrays, and keep float32 where NumPy may not."""

    @functools.wraps(function)
    def call(*arguments, **named):
        assert not any(isinstance(a, np.ndarray) for a in arguments), "CuPy refuses NumPy's arrays"
        plain = [a._values if isinstance(a, ndarray) else a for a in arguments]
        return _wrapped(function(*plain, **named))

    return call
