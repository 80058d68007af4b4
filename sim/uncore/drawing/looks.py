"""The look of all pictures: colours, markers, lines and fonts, for every module that draws.

style(number)       colour, marker and line of a series: all different
STYLE               matplotlib's parameters
INK, SOFT, EDGE     text, lesser text, lines that only divide; SOFT can be read on white and on grey
"""

from __future__ import annotations

from typing import Any, NamedTuple

# Distinct for colour-blind readers too (Okabe and Ito).
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31"]
MARKERS = ["circle", "square", "triangle", "diamond", "down", "plus", "star", "cross"]
LINES = ["solid", "dashdot", "dotted"]  # dashed: measurements
INK, SOFT, EDGE = "#1c2128", "#57606a", "#b5bac0"
STYLE: Any = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "legend.frameon": False,
    "svg.fonttype": "none",
}


class Style(NamedTuple):
    colour: str
    marker: str
    line: str


def style(number: int) -> Style:
    """After as many as there are colours, markers shift and lines change: 64 are different."""
    turn, colour = divmod(number, len(COLOURS))
    return Style(COLOURS[colour], MARKERS[(colour + turn) % len(MARKERS)], LINES[turn % len(LINES)])
