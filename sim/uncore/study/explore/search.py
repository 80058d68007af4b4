"""Chooses the designs to try next.

    AllDesigns(choices)          tries all designs; used if the budget allows it
    Sampler(plan)                samples designs by Optuna's TPE (tree-structured Parzen estimator)

Both have `ask(count)`, which returns `count` new designs, or fewer if there are no more, and
`tell(design, score)`, which reports the result of a design.  The seed and the scores, in their
order, determine the designs.
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

RANDOM_DRAWS_DIVISOR = 4  # the first 1/4 of the budget is drawn at random, without an estimate
MAX_REPEATED_DRAWS = 50  # after so many repeated draws in a row no new design is expected


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
        return AllDesigns(plan.choices)
    return Sampler(plan)


class AllDesigns:
    def __init__(self, choices: Sequence[DesignChoice]) -> None:
        names = [choice.name for choice in choices]
        combined = product(*(choice.values for choice in choices))
        self._remaining = (dict(zip(names, values, strict=True)) for values in combined)

    def ask(self, count: int) -> list[Design]:
        return list(islice(self._remaining, count))

    def tell(self, design: Design, score: DesignScore | None) -> None:
        """Ignores the score."""


class Sampler:
    def __init__(self, plan: ExplorationPlan) -> None:
        self._plan = plan
        self._study = _study(plan)
        self._asked: dict[tuple[str, ...], optuna.Trial] = {}

    def ask(self, count: int) -> list[Design]:
        designs: list[Design] = []
        repeated_draws = 0
        while len(designs) < count and repeated_draws < MAX_REPEATED_DRAWS:
            trial = self._study.ask()
            design = {choice.name: _drawn_value(trial, choice) for choice in self._plan.choices}
            if tuple(design.values()) in self._asked:
                self._study.tell(trial, state=_failed_state())
                repeated_draws += 1
                continue
            self._asked[tuple(design.values())] = trial
            designs.append(design)
            repeated_draws = 0
        return designs

    def tell(self, design: Design, score: DesignScore | None) -> None:
        trial = self._asked[tuple(design.values())]
        if score is None:
            self._study.tell(trial, state=_failed_state())
            return
        for constraint, excess in zip(self._plan.constraints, score.excesses, strict=True):
            if excess is not None:
                trial.set_constraint(constraint.words, excess)
        # Optuna ignores the objectives of a design that a bound excludes, but it needs some.
        placeholder = [0.0] * len(self._plan.objectives)
        self._study.tell(trial, list(score.objectives) or placeholder)


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
        "maximize" if objective.maximise else "minimize" for objective in plan.objectives
    ]
    return optuna.create_study(sampler=sampler, directions=directions)


def _failed_state() -> Any:
    import optuna  # noqa: PLC0415 (slow to load)

    return optuna.trial.TrialState.FAIL


def _drawn_value(trial: optuna.Trial, choice: DesignChoice) -> str:
    if choice.ends:
        (low, unit), (high, _) = choice.ends
        amount = trial.suggest_float(choice.name, low, high, log=True)
        return str(Quantity(amount, unit).rounded())
    if choice.ordered:
        return choice.values[trial.suggest_int(choice.name, 0, len(choice.values) - 1)]
    return str(trial.suggest_categorical(choice.name, choice.values))
