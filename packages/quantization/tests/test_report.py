"""The report as a table."""

from __future__ import annotations

from taeda.quantization import Report, Row


def test_text():
    rows = (
        Row("blocks.0.qkv", "int8", 4096, 1100, 0.00391, 0.0101, 0.0099),
        Row("head (tokens)", "float", 128, 128, note="rows of 100 numbers"),
    )
    report = Report(rows, 5000, 2004)
    assert str(report).splitlines() == [
        "layer          kind   bytes  after    error     ms  after",
        "blocks.0.qkv   int8   4,096  1,100  3.9e-03  0.010  0.010",
        "head (tokens)  float    128    128                         rows of 100 numbers",
        "model: 5,000 bytes, after 2,004 (0.40)",
    ]
    assert report.quantized == rows[:1]


def test_a_model_without_layers():
    assert str(Report((), 0, 0)).endswith("model: 0 bytes, after 0 (1.00)")
