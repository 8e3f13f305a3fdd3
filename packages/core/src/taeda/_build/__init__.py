"""Building native code: used by the build hook, by `tools/run.py` (by path) and by C++ extensions."""
