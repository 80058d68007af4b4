"""Pictures as data: a panel is one of these, whichever module draws it (plot.py, webpage.py).

curves(series, title, x, y)          lines, with bands of their repeats, and knees
grid(values, xs, ys, ...)            a value for each pair of two parameters, by colour
heat_map(matrix, boundaries, ...)    a square matrix of harts, by colour
bars(values, title, y)               groups of bars, standing or lying
scatter(best, others, ...)           points by their groups, those that matter before the rest
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from uncore.drawing.looks import Style, style

Series = Mapping[str, Sequence[Sequence[float]]]  # label -> points: x, y, and ends of a band
Matrix = Sequence[Sequence[float]]

# ends the label of a series drawn in the colour of the simulated one
MEASURED_SUFFIX = ", measured"
MAX_SERIES = 10  # in one panel; of more, each has its own
MARGIN = 1.12  # above and below what is drawn
LOG_AXIS_RATIO = 20  # a larger ratio of values is drawn on a logarithmic axis


@dataclass(frozen=True)
class Curves:
    series: Series
    title: str
    x: str
    y: str
    dashed: Sequence[str] = ()  # measurements
    knees: Mapping[str, Sequence[float]] = field(default_factory=dict)  # label -> point
    words: Sequence[str] = ()  # at x = 0, 1, 2 ...: what is no number
    # labels of all panels' series, so that a series looks alike in each panel
    labels: Sequence[str] = ()
    span: tuple[float, float] | None = None  # least and largest height, so that panels compare
    spread: Sequence[float] = ()  # further ticks, so that panels compare

    @property
    def own(self) -> list[str]:
        """Labels of different colours."""
        labels = self.labels or self.series
        return list(dict.fromkeys(label.removesuffix(MEASURED_SUFFIX) for label in labels))

    def style(self, label: str) -> Style:
        chosen = style(self.own.index(label.removesuffix(MEASURED_SUFFIX)))
        return chosen._replace(line="dashed") if label in self.dashed else chosen

    def multiples(self) -> list[Curves]:
        """The panel; or, where it cannot hold all series, one for each, called as it is."""
        shown = {label.removesuffix(MEASURED_SUFFIX): None for label in self.series}
        if len(shown) <= MAX_SERIES:
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
        """The least and the greatest, of bands too."""
        heights = [height for points in self.series.values() for p in points for height in p[1:]]
        return self.span or (min(heights), max(heights))

    @property
    def log_y(self) -> bool:
        low, high = self.heights
        return low > 0 and high > LOG_AXIS_RATIO * low


@dataclass(frozen=True)
class HeatMap:
    matrix: Matrix
    boundaries: Mapping[str, Sequence[int]]  # per level, outermost first: where a member begins
    title: str
    unit: str
    span: tuple[float, float] | None = None  # ends of the scale, so that panels compare
    signed: bool = False  # white is 0

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
    lying: bool = False  # True for groups with long names; the first group is above

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
