"""Files are not read straight into a device's memory, and programs of text are not taken."""

import pytest

import taeda


def test_files_refuse():
    gds = taeda.cuda.gds
    calls = [gds.gds_register_buffer, gds.gds_deregister_buffer, gds.GdsFile.load_storage]
    for call in (*calls, lambda: gds.GdsFile("name", 0)):
        with pytest.raises(NotImplementedError, match=r"taeda\.load"):
            call()


def test_programs_of_text_refuse():
    with pytest.raises(NotImplementedError, match=r"taeda\.compile"):
        taeda.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x; }")
