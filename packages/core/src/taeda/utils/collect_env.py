"""Facts about this installation, for a report: `python -m taeda.utils.collect_env`, or
`python -m taeda` with a self-test.
"""

from __future__ import annotations

from taeda._doctor.facts import as_text, sections

__all__ = ["get_env_info", "get_pretty_env_info", "main", "pretty_str"]


def get_env_info() -> dict[str, dict[str, str]]:
    """Versions, devices, libraries and settings, by section and name.

    >>> get_env_info()["taeda"]["version"].split()[0] == taeda.__version__
    True
    """
    return {title: dict(rows) for title, rows in sections()}


def pretty_str(envinfo: dict[str, dict[str, str]]) -> str:
    """What `get_env_info` found, as lines of text.

    >>> env = taeda.utils.collect_env
    >>> "Python" in env.pretty_str(env.get_env_info())
    True
    """
    return as_text([(title, list(rows.items())) for title, rows in envinfo.items()])


def get_pretty_env_info() -> str:
    """The facts as lines of text.

    >>> "Python" in taeda.utils.collect_env.get_pretty_env_info()
    True
    """
    return pretty_str(get_env_info())


def main() -> None:
    """Print the facts.

    >>> import contextlib, io
    >>> with contextlib.redirect_stdout(io.StringIO()) as told:
    ...     taeda.utils.collect_env.main()
    >>> "Python" in told.getvalue()
    True
    """
    print(get_pretty_env_info(), end="")


if __name__ == "__main__":
    import sys

    from taeda.__main__ import until_nobody_reads

    def _run() -> int:
        main()
        return 0

    sys.exit(until_nobody_reads(_run))
