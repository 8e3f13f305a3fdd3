"""The part of CuPy that is its own, and what is named as in SciPy."""


class errstate:
    now = "ignore"

    def __init__(self, *, linalg=None):
        self.value = linalg

    def __enter__(self):
        self.before, errstate.now = errstate.now, self.value

    def __exit__(self, *exception):
        errstate.now = self.before
