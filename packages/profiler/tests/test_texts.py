"""Times and memory as text, by size; names of operations."""

from taeda.profiler._texts import format_memory, format_time, operation


def test_times_in_their_units():
    assert [format_time(us) for us in (0.5, 1500, 2.5e6)] == ["0.500us", "1.500ms", "2.500s"]


def test_memory_in_its_units():
    texts = [format_memory(n) for n in (-8, 2048, 3 << 20, 1 << 30)]
    assert texts == ["-8 B", "2.00 KB", "3.00 MB", "1.00 GB"]


def test_operations_by_the_names_of_their_namespaces():
    assert [operation(op) for op in ("add.Tensor", "exp", "a::f", "a::f.out")] == [
        "aten::add", "aten::exp", "a::f", "a::f",
    ]  # fmt: skip
