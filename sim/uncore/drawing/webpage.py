"""Writes pictures as a self-contained web page, which includes the script of plotly.

`write(path, panels)` writes it.  Figures are plain data as plotly documents them
(https://plotly.com/javascript/reference).  Hovering over a point shows its values, and a click on
a label hides its series.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from pathlib import Path
from typing import Any

from uncore.drawing import standalone
from uncore.drawing.looks import style
from uncore.drawing.panels import HEIGHT_MARGIN, Bars, Curves, Grid, HeatMap, Panel, Scatter
from uncore.support.output_files import write_whole

PLOTLY_MARKERS = {
    **{"circle": "circle", "square": "square", "triangle": "triangle-up", "diamond": "diamond"},
    **{"down": "triangle-down", "plus": "cross", "star": "star", "cross": "x"},
}
# Pages make no requests, so the button that would upload the picture is removed.
PLOTLY_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["sendChartToCloud"]}
STYLE = """
main { padding: 12px 20px }
h1 { font-size: 18px; margin: 8px 0 }
.plot { height: calc(100vh - 90px); min-height: 380px; max-height: 760px }
"""
# Pictures take the colours of the page, which is dark if the reader's system is. On a narrow screen
# labels are below the picture.
SCRIPT = """const plots = document.querySelectorAll('.plot');
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
function draw() {
  const { color, backgroundColor } = getComputedStyle(document.body);
  const grid = { gridcolor: prefersDark.matches ? '#38404a' : '#e4e4e4' };
  const legend = innerWidth < 700 ? { legend: { orientation: 'h', y: -0.25 } } : {};
  const clear = { font: { color }, paper_bgcolor: backgroundColor, plot_bgcolor: backgroundColor };
  @FIGURES@.forEach(([traces, layout], i) => {
    const axes = { xaxis: { ...grid, ...layout.xaxis }, yaxis: { ...grid, ...layout.yaxis } };
    const margin = { t: 30, r: 20 };
    if (innerWidth < 700)
      for (const { colorbar } of traces)
        if (colorbar) Object.assign(colorbar, { orientation: 'h', y: -0.45, thickness: 14 });
    const whole = { ...clear, ...legend, margin, ...layout, ...axes };
    Plotly.react(plots[i], traces, whole, { ...@CONFIG@, responsive: true });
  });
}
prefersDark.addEventListener('change', draw);
draw();
"""
PLOTLY_LINES = {"solid": "solid", "dashdot": "dashdot", "dotted": "dot", "dashed": "dash"}

Parts = tuple[list[dict[str, Any]], dict[str, Any]]  # traces, layout


def write(path: Path, panels: Sequence[Panel]) -> None:
    """Writes a page with the panels one below the other."""
    from plotly.offline import get_plotlyjs  # noqa: PLC0415 (slow to load)

    figures = []
    for panel in panels:
        traces, layout = figure(panel)
        figures.append(_with_escaped_texts([traces, layout]))
    panel_html = (f'<h1>{escape(panel.title)}</h1><div class="plot"></div>' for panel in panels)
    body = f"<main>{''.join(panel_html)}</main>"
    data = {"FIGURES": figures, "CONFIG": PLOTLY_CONFIG}
    texts = {name: standalone.data(value) for name, value in data.items()}
    script = standalone.filled(SCRIPT, **texts)
    page = standalone.page(panels[0].title, body, STYLE, script, [get_plotlyjs()])
    write_whole(path, page)


def _with_escaped_texts(value: Any) -> Any:
    """Escapes texts, since plotly interprets some HTML in them, including links."""
    if isinstance(value, str):
        return escape(value, quote=False)
    if isinstance(value, dict):
        return {key: _with_escaped_texts(inner) for key, inner in value.items()}
    return (
        [_with_escaped_texts(inner) for inner in value]
        if isinstance(value, (list, tuple))
        else value
    )


@singledispatch
def figure(panel: Any) -> Parts:
    raise TypeError(f"expected a panel, got {type(panel).__name__}")


@figure.register(Curves)
def _(panel: Curves) -> Parts:
    traces: list[dict[str, Any]] = []
    for label, points in panel.series.items():
        traces += _series(panel, label, points)
    if panel.knees:
        xs, ys = zip(*panel.knees.values(), strict=True)
        ring = {"symbol": "circle-open", "size": 16, "color": "grey"}
        name = "knee: fewest threads for 9/10 of the most"
        traces.append({"x": xs, "y": ys, "mode": "markers", "marker": ring, "name": name})
    across: dict[str, Any] = {"title": {"text": panel.x}, "tickvals": panel.ticks}
    across |= {"ticktext": list(panel.words) or [f"{tick:g}" for tick in panel.ticks]}
    across |= {"type": "log"} if panel.log_x else {}
    up: dict[str, Any] = {"title": {"text": panel.y}}
    up |= {"type": "log"} if panel.log_y else {"rangemode": "tozero"}
    if panel.span:
        ends = [panel.span[0] / HEIGHT_MARGIN if panel.log_y else 0, panel.span[1] * HEIGHT_MARGIN]
        up["range"] = [math.log10(end) for end in ends] if panel.log_y else ends
    return traces, {"xaxis": across, "yaxis": up, "hovermode": "x unified"}


def _series(panel: Curves, label: str, points: Sequence[Sequence[float]]) -> Iterable[Any]:
    """Yields the traces of a series: its band, as a closed outline, and its line."""
    colour, marker, line = panel.style(label)
    xs, ys, *band = (list(values) for values in zip(*points, strict=True))
    if band:
        outline = {"x": [*xs, *xs[::-1]], "y": [*band[0], *band[1][::-1]], "fill": "toself"}
        quiet = {"hoverinfo": "skip", "showlegend": False, "legendgroup": label, "opacity": 0.25}
        yield {**outline, **quiet, "fillcolor": colour, "line": {"width": 0}, "mode": "lines"}
    yield {
        "x": xs,
        "y": ys,
        "name": label,
        "legendgroup": label,
        "mode": "lines+markers",
        "line": {"color": colour, "dash": PLOTLY_LINES[line]},
        "marker": {"symbol": PLOTLY_MARKERS[marker], "size": 7},
    }


def _heatmap_trace(values: Any, unit: str, span: tuple[float, float] | None) -> dict[str, Any]:
    scale = {"zmin": span[0], "zmax": span[1]} if span else {}
    bar = {"title": {"text": unit}}
    return {"type": "heatmap", "z": values, "colorscale": "Viridis", "colorbar": bar, **scale}


@figure.register(Grid)
def _(panel: Grid) -> Parts:
    trace = _heatmap_trace(panel.values, panel.unit, panel.span)
    trace |= {"x": list(panel.xs), "y": list(panel.ys), "texttemplate": "%{z:.3g}"}
    axes = {"xaxis": panel.x, "yaxis": panel.y}
    return [trace], {
        name: {"title": {"text": text}, "type": "category"} for name, text in axes.items()
    }


@figure.register(HeatMap)
def _(panel: HeatMap) -> Parts:
    values = [
        [
            None if column == row_number or value != value else value
            for column, value in enumerate(row)
        ]
        for row_number, row in enumerate(panel.matrix)
    ]
    trace = _heatmap_trace(values, panel.unit, panel.span)
    trace |= {"colorscale": "RdBu", "reversescale": True} if panel.signed else {}
    square = {"constrain": "domain", "showgrid": False, "zeroline": False}
    down = {"title": {"text": "hart"}, "autorange": "reversed", "scaleanchor": "x", **square}
    across = {"title": {"text": panel.axis}, **square}
    return [trace], {"xaxis": across, "yaxis": down, "shapes": list(_boundaries(panel))}


def _boundaries(panel: HeatMap) -> Iterable[dict[str, Any]]:
    """Yields horizontal and vertical lines at the positions where a member of a level begins."""
    ends = (-0.5, len(panel.matrix) - 0.5)
    for depth, starts in enumerate(panel.boundaries.values()):
        pen = {"color": "grey" if panel.signed else "white", "width": max(2.4 - 0.7 * depth, 0.5)}
        for start in (boundary - 0.5 for boundary in starts[1:]):
            for along, over in (("x", "y"), ("y", "x")):
                sides = {
                    f"{along}0": start,
                    f"{along}1": start,
                    f"{over}0": ends[0],
                    f"{over}1": ends[1],
                }
                yield {"type": "line", "line": pen, **sides}


@figure.register(Bars)
def _(panel: Bars) -> Parts:
    traces = []
    for number, label in enumerate(panel.labels):
        heights = [group.get(label) for group in panel.values.values()]
        colour = {"color": style(number).colour}
        sides = {"x": list(panel.values), "y": heights}
        if panel.horizontal:
            sides = {"orientation": "h", "x": heights, "y": list(panel.values)}
        traces.append({"type": "bar", "name": label, **sides, "marker": colour})
    layout: dict[str, Any] = {"barmode": "group", "yaxis": {"title": {"text": panel.y}}}
    if panel.horizontal:
        layout |= {"xaxis": layout["yaxis"], "yaxis": {"autorange": "reversed", "automargin": True}}
    return traces, layout


@figure.register(Scatter)
def _(panel: Scatter) -> Parts:
    quiet: dict[str, Any] = {"mode": "markers", "hoverinfo": "x+y"}
    grey = {"symbol": "x", "color": "#bbbbbb", "size": 6}
    traces = [_points(panel.outside, name="not allowed", marker=grey, **quiet)]
    for number, label in enumerate(panel.labels):
        colour, marker, _ = style(number)
        kind = {"symbol": PLOTLY_MARKERS[marker], "color": colour}
        faint = {**kind, "size": 6, "opacity": 0.3}
        best = {**kind, "size": 11, "line": {"width": 1, "color": "black"}}
        group = {"legendgroup": label, **quiet}
        traces.append(_points(panel.others[label], marker=faint, showlegend=False, **group))
        traces.append(_points(panel.best[label], marker=best, name=label, **group))
    return traces, {"xaxis": {"title": {"text": panel.x}}, "yaxis": {"title": {"text": panel.y}}}


def _points(points: Iterable[tuple[float, float]], **look: Any) -> dict[str, Any]:
    pairs = list(points)
    return {"x": [x for x, _ in pairs], "y": [y for _, y in pairs], **look}
