"""Choice of the designs to try next.

    Everything(choices)          all designs, if the budget allows
    Sampler(choices, ...)        Optuna's estimator of good and bad designs (TPE)

Both have `ask(count)`, which returns designs that it has not returned before, fewer when none are
left, and `tell(design, score)`, which gives the result of a design.  The seed and the scores, in
their order, determine the designs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from uncore.errors import UserError
from uncore.study.explore.plan import Design, DesignChoice, ExplorationPlan
from uncore.study.explore.quantity import Quantity

if TYPE_CHECKING:
    import optuna

RANDOM_DRAWS_DIVISOR = 4  # this part of the budget is drawn at random before anything is estimated
MAX_REPEATED_DRAWS = 50  # repeated draws in a row after which no new design is expected


class DesignScore(NamedTuple):
    """The score of a design that could be run."""

    objectives: Sequence[float]  # empty if a bound excludes the design before any run
    excesses: Sequence[float | None]  # one per constraint: at most 0 if it holds; None: unknown


class Searcher(Protocol):
    def ask(self, count: int) -> list[Design]: ...

    def tell(self, design: Design, score: DesignScore | None) -> None: ...


def searcher(plan: ExplorationPlan) -> Searcher:
    finite = all(choice.values for choice in plan.choices)
    if finite and prod(len(choice.values) for choice in plan.choices) <= plan.designs:
        return Everything(plan.choices)
    return Sampler(plan)


class Everything:
    def __init__(self, choices: Sequence[DesignChoice]) -> None:
        names = [choice.name for choice in choices]
        combined = product(*(choice.values for choice in choices))
        self._rest = (dict(zip(names, values, strict=True)) for values in combined)

    def ask(self, count: int) -> list[Design]:
        return list(islice(self._rest, count))

    def tell(self, design: Design, score: DesignScore | None) -> None:
        """Ignores the score."""


class Sampler:
    def __init__(self, plan: ExplorationPlan) -> None:
        self._plan = plan
        self._study = _study(plan)
        self._asked: dict[tuple[str, ...], optuna.Trial] = {}

    def ask(self, count: int) -> list[Design]:
        designs: list[Design] = []
        stale = 0
        while len(designs) < count and stale < MAX_REPEATED_DRAWS:
            trial = self._study.ask()
            design = {choice.name: _drawn(trial, choice) for choice in self._plan.choices}
            if tuple(design.values()) in self._asked:
                self._study.tell(trial, state=_failed())
                stale += 1
                continue
            self._asked[tuple(design.values())] = trial
            designs.append(design)
            stale = 0
        return designs

    def tell(self, design: Design, score: DesignScore | None) -> None:
        trial = self._asked[tuple(design.values())]
        if score is None:
            self._study.tell(trial, state=_failed())
            return
        for constraint, excess in zip(self._plan.constraints, score.excesses, strict=True):
            if excess is not None:
                trial.set_constraint(constraint.words, excess)
        unread = [0.0] * len(self._plan.objectives)  # objectives of a design that a bound excludes
        self._study.tell(trial, list(score.objectives) or unread)


def _study(plan: ExplorationPlan) -> Any:
    try:
        import optuna  # noqa: PLC0415 (slow to load)
    except ImportError:
        raise UserError(
            f"{plan.written.file}: more designs than are to be tried ({plan.designs}) need the"
            " package optuna, which is not installed; write: pip install 'uncore[explore]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(
        seed=plan.written.values.search.seed,
        n_startup_trials=max(plan.designs // RANDOM_DRAWS_DIVISOR, 1),
        multivariate=True,
        constant_liar=True,  # unfinished trials count as bad, so that a batch is spread
    )
    directions: Any = [
        "maximize" if objective.most else "minimize" for objective in plan.objectives
    ]
    return optuna.create_study(sampler=sampler, directions=directions)


def _failed() -> Any:
    import optuna  # noqa: PLC0415 (slow to load)

    return optuna.trial.TrialState.FAIL


def _drawn(trial: optuna.Trial, choice: DesignChoice) -> str:
    if choice.ends:
        (low, unit), (high, _) = choice.ends
        amount = trial.suggest_float(choice.name, low, high, log=True)
        return str(Quantity(amount, unit).rounded())
    if choice.ordered:
        return choice.values[trial.suggest_int(choice.name, 0, len(choice.values) - 1)]
    return str(trial.suggest_categorical(choice.name, choice.values))
