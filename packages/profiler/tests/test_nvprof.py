"""Databases that nvprof wrote."""

import sqlite3

import pytest

from taeda.profiler._nvprof import load_nvprof

TABLES = """
CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id INTEGER, name INTEGER, timestamp INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (cbid INTEGER, start INTEGER, end INTEGER, correlationId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
    (name INTEGER, deviceId INTEGER, start INTEGER, end INTEGER, correlationId INTEGER);
INSERT INTO StringTable VALUES (1, 'outer'), (2, 'inner'), (3, 'a_kernel');
INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (7, 1, 1000), (8, 2, 2000), (8, 0, 5000), (7, 0, 9000);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (211, 3000, 3500, 42), (17, 3000, 3500, 43);
INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (3, 0, 6000, 8000, 42), (3, 0, 6000, 8000, 43);
"""


def test_ranges_and_their_kernels(tmp_path):
    path = tmp_path / "trace.nvvp"
    base = sqlite3.connect(path)
    base.executescript(TABLES)
    base.close()
    outer, inner = load_nvprof(path)
    assert (outer.name, outer.cpu_time_total) == ("outer", 8.0)
    assert (inner.name, inner.time_range.start, inner.cpu_time_total) == ("inner", 1.0, 3.0)
    assert outer.kernels == [] and inner.kernels == [("a_kernel", 0, 2.0)]


def test_what_is_no_trace_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_nvprof(tmp_path / "none")
    (tmp_path / "text").write_text("no database")
    with pytest.raises(ValueError, match="is no trace of nvprof"):
        load_nvprof(tmp_path / "text")
    sqlite3.connect(tmp_path / "empty").close()
    with pytest.raises(ValueError, match="no such table"):
        load_nvprof(tmp_path / "empty")
