"""Declares the keywords of `uncore.run` and `uncore.sweep`, with their types.

    @takes(ONE)        each keyword has one value: `run`
    @takes(SEVERAL)    a list is an axis: `sweep`
    def run(machine, workload, threads, **given) -> Result: ...

    split(given)       the keywords of `make_job`, and those of `executed`

The meaning and the default of each keyword are declared with its field in job.py. The signature and
the help of the functions are made from these declarations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeAlias, TypeVar, cast

from uncore.engine import NO_OPTIONS, EngineOptions
from uncore.execution.pool import Workers
from uncore.execution.request import Counts, Value
from uncore.execution.uncertainty import DEFAULT_SAMPLES
from uncore.job import Job
from uncore.job.schema import options

T = TypeVar("T")
Several: TypeAlias = T | list[T] | tuple[T, ...]  # a value, or the values of an axis
Folder = str | Path | Mapping[str, str | bytes]  # or names and contents
Content = str | Path | bytes  # a file, or its bytes
Word = TypeVar("Word", contravariant=True)
Truth = TypeVar("Truth", contravariant=True)
Number = TypeVar("Number", contravariant=True)
M = TypeVar("M")
W = TypeVar("W")
R = TypeVar("R")
P = ParamSpec("P")


class Keywords(Protocol[Word, Truth, Number]):
    """Keywords of `run` and `sweep`; any other keyword, such as hold="50ns", sets a parameter of
    the workload.
    """

    def __call__(
        self,
        threads: Counts = (1,),
        *,
        parameters: Mapping[str, Number] = {},
        overrides: Mapping[str, Number] = {},
        engine: Word = ...,
        placement: Word = ...,
        home: Word = ...,
        slices: Word = ...,
        smt: Truth = ...,
        watchdog: str | int = ...,
        seeds: Iterable[int] | None = None,
        within: str | int | None = None,
        arguments: Iterable[str] = ...,
        system: Literal["machine", "free"] = ...,
        files: Folder = ...,
        stdin: Content = ...,
        expect_exit: int = ...,
        strict_calls: bool = ...,
        from_function: str = ...,
        to_function: str = ...,
        op: str = ...,
        samples: int = DEFAULT_SAMPLES,
        cores: Workers = 1,
        slow: bool = False,
        observed: bool = False,
        engine_options: EngineOptions = NO_OPTIONS,
        **named: Number,
    ) -> object: ...


ONE = cast("Keywords[str, bool, Value]", Keywords)
SEVERAL = cast("Keywords[Several[str], Several[bool], Several[Value]]", Keywords)
SIGNATURE = inspect.signature(Keywords.__call__)
EXECUTION_KEYWORDS = {  # keywords that are not fields of a job
    "samples": "number of machines drawn for `Result.intervals`, if numbers of the machine's file"
    " have intervals",
    "cores": "number of cores of this host, or a cluster (`uncore.execution.cluster.connected`)",
    "slow": "True allows more harts than the engine runs in reasonable time",
    "observed": "True keeps the observations that `uncore lines` shows",
    "engine_options": 'limits and options of engines: {"sst_threads": 4}',
}


def takes(
    keywords: Callable[P, object],
) -> Callable[[Callable[Concatenate[M, W, ...], R]], Callable[Concatenate[M, W, P], R]]:
    """Returns a decorator that adds the keywords to the signature and the help of a function."""

    def decorate(
        function: Callable[Concatenate[M, W, ...], R],
    ) -> Callable[Concatenate[M, W, P], R]:
        own_parameters = [*inspect.signature(function).parameters.values()][:2]
        function.__signature__ = _signature(own_parameters)  # type: ignore[attr-defined]
        function.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n{_help()}\n"
        return cast("Callable[Concatenate[M, W, P], R]", function)

    return decorate


def _signature(own_parameters: list[inspect.Parameter]) -> inspect.Signature:
    fields = options(Job)
    keyword_parameters = [
        parameter.replace(default=fields[name].default) if parameter.default is ... else parameter
        for name, parameter in SIGNATURE.parameters.items()
        if name != "self"
    ]
    return inspect.Signature([*own_parameters, *keyword_parameters])


def _help() -> str:
    about = {name: option.about for name, option in options(Job).items()} | EXECUTION_KEYWORDS
    return "\n".join(f"    {name}: {about[name]}" for name in SIGNATURE.parameters if name in about)


def split(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits keywords into those of `make_job`, with the workload's parameters, and those of
    `executed`.
    """
    named = {k: v for k, v in given.items() if k not in SIGNATURE.parameters}
    job_keywords = {
        "seeds": None,
        "within": None,
        **{k: v for k, v in given.items() if k not in named},
    }
    execution_keywords = {
        k: job_keywords.pop(k) for k in EXECUTION_KEYWORDS.keys() & job_keywords.keys() - {"slow"}
    }
    return job_keywords | {
        "parameters": {**given.get("parameters", {}), **named}
    }, execution_keywords
