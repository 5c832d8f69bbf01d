#!/usr/bin/env python3
"""Markdown tables out of the JSON that sluice_benchmarks writes. Usage: table.py RESULTS.json

First a table of the cases that have a bar, then nanoseconds per operation of every contender. All
numbers come from the file; a case that did not run says so.
"""

import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def cases(results):
    """(operation, contender, row) of every run; repetitions are kept, aggregates are not."""
    for row in results["benchmarks"]:
        if row.get("run_type") != "aggregate":
            operation, contender = row["name"].split("/")[:2]
            yield operation, contender, row


def table(header, rows):
    lines = [header, ["---"] * len(header)] + rows
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def counted(results):
    """Allocation cases are many and all have the same bar: one row with the worst."""
    found = [row for operation, _, row in cases(results) if operation.startswith("allocations_")]
    ran = [row for row in found if "value" in row]
    if not ran:
        return []
    worst = max(ran, key=lambda row: row["value"])
    return [[f"allocations per operation, {len(ran)} cases, worst", "", *measured(worst),
             f"{worst['bar']:g}", "yes" if worst["met"] else "no"]]


def judged(results):
    rows = []
    for operation, contender, row in cases(results):
        name = f"{operation}/{contender}"
        if row.get("error_occurred"):
            why = "did not run: " + row["error_message"]
            rows.append([name, row.get("label", ""), "", why, "", ""])
        elif "bar" in row and not operation.startswith("allocations_"):
            rows.append([name, row.get("label", ""), *measured(row), f"{row['bar']:g}",
                         "yes" if row["met"] else "no"])
    header = ["case", "against", "ns", "ratio [q1, q3]", "bar", "met"]
    return table(header, rows + counted(results))


def measured(row):
    if "ratio" not in row:
        return ["", f"{row['value']:g}"]
    return [f"{row['ours_ns']:.0f} / {row['baseline_ns']:.0f}",
            f"{row['ratio']:.2f} [{row['ratio_q1']:.2f}, {row['ratio_q3']:.2f}]"]


def compared(results):
    """One row per contender, one column per operation; a baseline's ns are medians over pairs."""
    operations, contenders, cells = [], [], {}

    def put(contender, operation, value):
        if operation not in operations:
            operations.append(operation)
        if contender not in contenders:
            contenders.append(contender)
        cells.setdefault((contender, operation), []).append(value)

    for operation, contender, row in cases(results):
        if "ratio" in row and operation != "noise":
            put(row["label"], operation, row["baseline_ns"])
            put(contender, operation, row["ours_ns"])

    def cell(contender, operation):
        values = sorted(cells.get((contender, operation), []))
        return f"{values[len(values) // 2]:,.0f}".replace(",", " ") if values else "–"

    rows = [[contender, *(cell(contender, operation) for operation in operations)]
            for contender in contenders]
    return table(["ns per operation", *operations], rows)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    results = load(sys.argv[1])
    context = results["context"]
    print(f"{context['date']}, {context['num_cpus']} processors at {context['mhz_per_cpu']} MHz, "
          f"{context['file_system']}; medians of {context['rounds']} rounds of "
          f"{context['round_ms']} ms a side\n")
    print(judged(results), end="\n\n")
    print(compared(results))


if __name__ == "__main__":
    main()
