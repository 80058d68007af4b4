"""The look of all pictures: colours, markers, lines and fonts, for every module that draws.

style(number)       returns colour, marker and line of a series; different for the first 64 series
STYLE               parameters of matplotlib
INK, SOFT, EDGE     colours of text, of secondary text (readable on white and grey), and of
                    separating lines
"""

from __future__ import annotations

from typing import Any, NamedTuple

# Colours that colour-blind readers can distinguish, too (Okabe and Ito).
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31"]
MARKERS = ["circle", "square", "triangle", "diamond", "down", "plus", "star", "cross"]
LINE_STYLES = ["solid", "dashdot", "dotted"]  # dashed lines are reserved for measurements
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
    """Returns the style of series `number`.  Colours repeat after len(COLOURS) series; each
    repetition shifts the markers by one and takes the next line style, so the first 64 styles
    differ.
    """
    repetition, colour = divmod(number, len(COLOURS))
    marker = MARKERS[(colour + repetition) % len(MARKERS)]
    return Style(COLOURS[colour], marker, LINE_STYLES[repetition % len(LINE_STYLES)])
