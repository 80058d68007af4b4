"""Formats source files as HTML, with the cost of each line."""

from __future__ import annotations

from collections import defaultdict
from html import escape
from pathlib import Path

from uncore.errors import UserError
from uncore.program import Program
from uncore.program.locate import source_of
from uncore.result import Observed, Point

LINES_AROUND = 3  # lines shown before and after a line that has costs
# A line off the critical path is hidden if its share of all waiting is below 1/MAX_HIDDEN_RATIO.
MAX_HIDDEN_RATIO = 2000


def annotated(program: Program, observed: Observed, point: Point) -> str:
    costs: dict[str, dict[int, list[float]]] = defaultdict(dict)
    ops, total_wait = max(point.ops, 1), max(observed.waited_ps, 1)
    for use in (use for line in observed.lines for use in line.uses if use.kind > -2):
        name, _, number = use.source.rpartition(":")
        if (
            name
            and number.isdigit()
            and (use.waited_ps * MAX_HIDDEN_RATIO > total_wait or use.critical_ps)
        ):
            line_costs = costs[name].setdefault(int(number), [0.0] * 3)
            for n, amount in enumerate((use.critical_ps / 1000, use.waited_ps / 1000, use.misses)):
                line_costs[n] += amount / ops
    weight = {
        name: -sum(cost[0] + cost[1] / 1e3 for cost in lines.values())
        for name, lines in costs.items()
    }
    max_critical_ns = max(
        (cost[0] for lines in costs.values() for cost in lines.values()), default=0.0
    )
    order = sorted(costs, key=weight.__getitem__)
    return "\n".join(
        _file(program, name, costs[name], max(max_critical_ns, 1e-9)) for name in order
    )


def _file(
    program: Program, name: str, costs: dict[int, list[float]], max_critical_ns: float
) -> str:
    text = _text(program, name)
    if not text:
        return ""
    shown = sorted(
        {
            n
            for c in costs
            for n in range(c - LINES_AROUND, c + LINES_AROUND + 1)
            if 0 < n <= len(text)
        }
    )
    rows, previous = [], 0
    for number in shown:
        if previous and number > previous + 1:
            rows.append('<tr class="gap"><td></td><td></td><td></td><td></td><td>...</td></tr>')
        previous = number
        cost = costs.get(number)
        shade = (
            f' style="background:rgba(var(--heat),{0.35 * cost[0] / max_critical_ns:.2f})"'
            if cost
            else ""
        )
        figures = "".join(f"<td>{v:.1f}</td>" for v in cost) if cost else "<td></td>" * 3
        rows.append(
            f"<tr{shade}>{figures}<td>{number}</td><td>{escape(text[number - 1])}</td></tr>"
        )
    heads = ("critical path, ns", "waited, ns", "misses", "line", name)
    head = "".join(f'<th scope="col"{" class=text" * (h == name)}>{escape(h)}</th>' for h in heads)
    return (
        f'<div class="wide" tabindex="0"><table class="source"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _text(program: Program, name: str) -> list[str]:
    try:
        source = source_of(program)
    except UserError:  # a program given as an ELF file has no source
        return []
    places: list[Path] = [source.parent, source.parent.parent]
    path = next((folder / name for folder in places if (folder / name).is_file()), None)
    return path.read_text(errors="replace").splitlines() if path else []
