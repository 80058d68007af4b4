"""Panels: the contents of a picture as data, which plot.py or webpage.py draws.

curves(series, title, x, y)          lines, with bands for the spread of repeats, and knees
grid(values, xs, ys, ...)            a value for each pair of two parameters, by colour
heat_map(matrix, boundaries, ...)    a square matrix of harts, by colour
bars(values, title, y)               groups of bars, vertical or horizontal
scatter(best, others, ...)           points by group, the best ones in front of the others
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from uncore.drawing.looks import Style, style

# Maps the label of a series to its points; a point is (x, y) or (x, y, low, high), where low and
# high are the ends of its band.
Series = Mapping[str, Sequence[Sequence[float]]]
Matrix = Sequence[Sequence[float]]

# ends the label of a measured series, which is drawn in the colour of the simulated series
MEASURED_SUFFIX = ", measured"
MAX_SERIES_PER_PANEL = 10  # if there are more series, each gets a panel of its own
HEIGHT_MARGIN = 1.12  # factor by which the vertical axis extends beyond the curves
LOG_AXIS_RATIO = 20  # if largest and smallest value differ by more, the axis is logarithmic


@dataclass(frozen=True)
class Curves:
    series: Series
    title: str
    x: str
    y: str
    dashed: Sequence[str] = ()  # labels of the measured series
    knees: Mapping[str, Sequence[float]] = field(default_factory=dict)  # label -> (x, y)
    words: Sequence[str] = ()  # labels of x = 0, 1, 2, ..., if the values of x are no numbers
    # Labels of the series in all panels, so that a series has the same colour in each.
    labels: Sequence[str] = ()
    # smallest and largest height over several panels, which makes them comparable
    span: tuple[float, float] | None = None
    extra_ticks: Sequence[float] = ()  # ticks of other panels, which make the axes equal

    @property
    def series_labels(self) -> list[str]:
        """Returns the labels that need different colours: measured series share a colour with the
        simulated ones.
        """
        labels = self.labels or self.series
        return list(dict.fromkeys(label.removesuffix(MEASURED_SUFFIX) for label in labels))

    def style(self, label: str) -> Style:
        chosen = style(self.series_labels.index(label.removesuffix(MEASURED_SUFFIX)))
        return chosen._replace(line="dashed") if label in self.dashed else chosen

    def multiples(self) -> list[Curves]:
        """Returns this panel alone; if it has too many series, a panel for each of them."""
        shown = {label.removesuffix(MEASURED_SUFFIX): None for label in self.series}
        if len(shown) <= MAX_SERIES_PER_PANEL:
            return [self]
        return [self._alone(label) for label in shown]

    def _alone(self, label: str) -> Curves:
        labels = (label, label + MEASURED_SUFFIX)
        return replace(
            self,
            series={name: self.series[name] for name in labels if name in self.series},
            knees={name: point for name, point in self.knees.items() if name == label},
            title=label,
            labels=(),
            span=self.heights,
            extra_ticks=self.ticks,
        )

    @property
    def ticks(self) -> list[float]:
        drawn = {p[0] for points in self.series.values() for p in points}
        return sorted(drawn.union(self.extra_ticks))

    @property
    def log_x(self) -> bool:
        return not self.words and min(self.ticks) > 0

    @property
    def heights(self) -> tuple[float, float]:
        """Returns the smallest and the largest height, including bands."""
        heights = [height for points in self.series.values() for p in points for height in p[1:]]
        return self.span or (min(heights), max(heights))

    @property
    def log_y(self) -> bool:
        low, high = self.heights
        return low > 0 and high > LOG_AXIS_RATIO * low


@dataclass(frozen=True)
class HeatMap:
    matrix: Matrix
    # for each level, outermost first: the positions at which its members begin
    boundaries: Mapping[str, Sequence[int]]
    title: str
    unit: str
    span: tuple[float, float] | None = None  # ends of the colour scale, if several panels share it
    signed: bool = False  # True: white is 0

    @property
    def axis(self) -> str:
        named = [level for level, starts in self.boundaries.items() if len(starts) > 1]
        return f"hart   (lines: {', '.join(named)})" if named else "hart"


@dataclass(frozen=True)
class Grid:
    values: Sequence[Sequence[float | None]]  # a row for each of `ys`
    xs: Sequence[str]
    ys: Sequence[str]
    title: str
    x: str
    y: str
    unit: str
    span: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bars:
    values: Mapping[str, Mapping[str, float]]  # group -> label -> height
    title: str
    y: str
    horizontal: bool = False  # for long names; the first group is at the top

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(label for group in self.values.values() for label in group))


@dataclass(frozen=True)
class Scatter:
    best: Mapping[str, Sequence[tuple[float, float]]]  # points by group; each group has a colour
    others: Mapping[str, Sequence[tuple[float, float]]]  # other points by group, drawn faintly
    outside: Sequence[tuple[float, float]]  # points that break a constraint
    title: str
    x: str
    y: str

    @property
    def labels(self) -> list[str]:
        return list(self.best)


Panel = Curves | HeatMap | Grid | Bars | Scatter
curves, heat_map, grid, bars, scatter = Curves, HeatMap, Grid, Bars, Scatter
