"""Pictures as data: a panel is one of these, whichever module draws it (plot.py, webpage.py).

curves(series, title, x, y)          lines, with bands of their repeats, and knees
grid(values, xs, ys, ...)            a value for each pair of two parameters, by colour
heat_map(matrix, boundaries, ...)    a square matrix of harts, by colour
bars(values, title, y)               groups of bars, vertical or horizontal
scatter(best, others, ...)           points by group, the best ones in front of the others
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from uncore.drawing.looks import Style, style

# label -> points; a point is x, y and, if known, both ends of its band
Series = Mapping[str, Sequence[Sequence[float]]]
Matrix = Sequence[Sequence[float]]

# suffix of the label of a measured series, drawn in the colour of the simulated one
MEASURED_SUFFIX = ", measured"
MAX_SERIES_PER_PANEL = 10  # a figure with more series gets one panel for each
HEIGHT_MARGIN = 1.12  # factor of free space above and below the curves
LOG_AXIS_RATIO = 20  # ratio of values above which their axis is logarithmic


@dataclass(frozen=True)
class Curves:
    series: Series
    title: str
    x: str
    y: str
    dashed: Sequence[str] = ()  # labels of the measured series
    knees: Mapping[str, Sequence[float]] = field(default_factory=dict)  # label -> point
    words: Sequence[str] = ()  # names of x = 0, 1, 2, ..., if the axis has no numbers
    # Labels of the series in all panels, so that a series has the same colour in each.
    labels: Sequence[str] = ()
    # smallest and largest height, to make panels comparable
    span: tuple[float, float] | None = None
    spread: Sequence[float] = ()  # ticks of other panels, to make panels comparable

    @property
    def own(self) -> list[str]:
        """Labels that need different colours."""
        labels = self.labels or self.series
        return list(dict.fromkeys(label.removesuffix(MEASURED_SUFFIX) for label in labels))

    def style(self, label: str) -> Style:
        chosen = style(self.own.index(label.removesuffix(MEASURED_SUFFIX)))
        return chosen._replace(line="dashed") if label in self.dashed else chosen

    def multiples(self) -> list[Curves]:
        """Returns this panel, or if it has too many series, a panel for each, named after it."""
        shown = {label.removesuffix(MEASURED_SUFFIX): None for label in self.series}
        if len(shown) <= MAX_SERIES_PER_PANEL:
            return [self]
        return [self._alone(label) for label in shown]

    def _alone(self, label: str) -> Curves:
        both = (label, label + MEASURED_SUFFIX)
        return replace(
            self,
            series={name: self.series[name] for name in both if name in self.series},
            knees={name: at for name, at in self.knees.items() if name == label},
            title=label,
            labels=(),
            span=self.heights,
            spread=self.ticks,
        )

    @property
    def ticks(self) -> list[float]:
        drawn = {p[0] for points in self.series.values() for p in points}
        return sorted(drawn.union(self.spread))

    @property
    def log_x(self) -> bool:
        return not self.words and min(self.ticks) > 0

    @property
    def heights(self) -> tuple[float, float]:
        """The smallest and the largest height, including bands."""
        heights = [height for points in self.series.values() for p in points for height in p[1:]]
        return self.span or (min(heights), max(heights))

    @property
    def log_y(self) -> bool:
        low, high = self.heights
        return low > 0 and high > LOG_AXIS_RATIO * low


@dataclass(frozen=True)
class HeatMap:
    matrix: Matrix
    # per level, outermost first: positions at which a member begins
    boundaries: Mapping[str, Sequence[int]]
    title: str
    unit: str
    span: tuple[float, float] | None = None  # ends of the colour scale, to make panels comparable
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
    lying: bool = False  # True: horizontal, for long names, with the first group at the top

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(label for group in self.values.values() for label in group))


@dataclass(frozen=True)
class Scatter:
    best: Mapping[str, Sequence[tuple[float, float]]]  # points by group; each group has a colour
    others: Mapping[str, Sequence[tuple[float, float]]]  # points of the same groups, drawn faintly
    outside: Sequence[tuple[float, float]]  # points that break a constraint
    title: str
    x: str
    y: str

    @property
    def labels(self) -> list[str]:
        return list(self.best)


Panel = Curves | HeatMap | Grid | Bars | Scatter
curves, heat_map, grid, bars, scatter = Curves, HeatMap, Grid, Bars, Scatter
