"""The page stays small, whatever ran, and is well-formed."""

from taeda.profiler._collect import Range
from taeda.profiler._ledger import Peak
from taeda.profiler._page import Shown, page
from taeda.profiler._roofline import Limits, Work
from taeda.profiler._wastes import Finding


def noted(count, name, title="long.py", took=10**10):
    ranges, curve = [], []
    for number in range(count):
        one = Range(name(number), "", "cpu_op", None)
        one.start, one.end = number * 10**6, number * 10**6 + 10**5 + number
        ranges.append(one)
        curve.append((one.end, number * 10**9, f"{name(number)}:{number}"))
    peak = Peak(5, 0, {name(0): 3, "b.py:2": 2})
    work = {name(number): Work(1, 1000, 2000, 500) for number in range(count)}
    found = [Finding(name(number), name(number), "much") for number in range(count)]
    return Shown(title, ranges, took, curve, peak, found, work, Limits(1e11, 1e10))


def test_a_long_run_is_below_two_megabytes():
    for name in (lambda n: "aten::add", lambda n: f"{n}" + "\u20ac" * 200):
        data = page(noted(40_000, name))
        assert len(data) < 2 * 10**6 and b"15,000 longest of 40,000" in data


def test_names_are_text():
    data = page(noted(3, lambda n: "</script><b>@DATA@", "<i>.py")).decode()
    assert "<b>@DATA" not in data and "<i>.py" not in data and data.count("</script>") == 1


def test_nothing_ran():
    assert b"None was found." in page(Shown("empty.py", [], 0, findings=[]))
    assert b"Nobody looked" in page(Shown("empty.py", [], 0))


def test_lines_of_peaks_stand_on_the_page():
    data = page(noted(10, lambda n: "a.py")).decode()
    assert "a.py:9" in data and "8.38 GB" in data  # the highest point and its line
    assert "<td>b.py:2</td><td>2 B</td><td>40</td>" in data  # who held what there
    assert "<td>4.00</td><td>2.00</td><td>0.50</td><td>5</td>" in data  # under the roof


def test_no_network_is_asked():
    data = page(noted(10, str)).decode()
    assert "http" not in data and "src=" not in data and "@import" not in data
