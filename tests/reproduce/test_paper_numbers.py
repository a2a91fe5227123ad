"""The paper's numbers are all there, and cells say what seeds say."""

from __future__ import annotations

import math

from reproduce.comparison import paper_tables, paper_value

# numbers, and dashes
CELLS = {
    "table1": (35, 0), "table2": (197, 7), "table3": (18, 0), "table4": (54, 0),
    "table5": (36, 0), "table6": (36, 0), "table7": (36, 0), "table8": (42, 0),
    "table9": (36, 0), "table10": (95, 1), "table11": (240, 12),
}  # fmt: skip


def test_no_number_of_the_paper_is_missing() -> None:
    found = {}
    for name, groups in paper_tables().items():
        numbers = [
            one for group in groups.values() for row in group["rows"].values() for one in row
        ]
        dashes = sum(math.isnan(one) for one in numbers)
        found[name] = (len(numbers) - dashes, dashes)
    assert found == CELLS


def test_a_number_is_the_one_in_the_paper() -> None:
    # looked up in the paper one by one
    for table, group, row, column, number in (
        ("table1", "facts", "SMAP", "anomalous, %", 12.83),
        ("table2", "F1", "Ours", "MSL", 96.7),
        ("table2", "F1", "NPSR", "SMD", 85.0),
        ("table2", "AUC", "Ours", "WADI", 99.7),
        ("table3", "F1", "Ours", "NeurIPS-TS", 86.6),
        ("table4", "F1", "20:40", "PSM", 93.5),
        ("table5", "F1", "elu", "SWaT", 95.4),
        ("table6", "F1", "Anomaly Transformer: + dynamic scoring", "SMD", 93.6),
        ("table7", "F1", "300", "SMAP", 96.9),
        ("table8", "F1", "0", "MSL", 92.7),
        ("table9", "F1", "10%", "WADI", 88.8),
        ("table10", "F1", "Ours", "SMAP", 45.2),
        ("table11", "MSL", "epoch, s", "softmax", 42.9),
    ):
        assert paper_value(table, group, row, column) == number
    # a dash and cells that are not there
    assert paper_value("table2", "F1", "TimesNet", "WADI") is None
    assert paper_value("table2", "F1", "random score", "MSL") is None
    assert paper_value("table2", "F1", "Ours", "NeurIPS-TS") is None
    assert paper_value("table11", "NeurIPS-TS", "epoch, s", "softmax") is None
