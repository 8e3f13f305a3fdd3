"""The part of CuPy that is named as SciPy."""
