"""Runs work in several processes, which end when the process that started them ends, even if it is
killed.

    mapped(work, items, cores)      yields the answers in the order of the items
    finished(work, items, cores)    yields the answers in the order in which they are ready
    Workers                         a number of processes of this computer, or the workers of a
                                    cluster, with `finished` as a method

Signals that end a program reach every process of a terminal or of a group. Only the parent handles
them: it keeps the finished answers, and stops its workers by a KeyboardInterrupt in their work,
which may still return an answer. Workers are killed after LAST_ANSWERS_TIMEOUT_S, by a second
signal, when the parent leaves the loop early, or by the kernel when the parent dies.

Workers are forked, so that work and items are in their memory. Processes exchange only the number
of an item and its answer. Invariant: no worker outlives its parent.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from uncore.support.signals import ENDING, held_back

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from types import FrameType

Item = TypeVar("Item")
Answer = TypeVar("Answer")

PR_SET_PDEATHSIG = 1  # Linux, prctl(2)
STOP_SIGNAL = signal.SIGUSR1  # sent by the parent to a worker
LAST_ANSWERS_TIMEOUT_S = 30  # long enough for work that checks signals between its steps


class OnItemProgress(Protocol):
    """A callback for progress. Its arguments are the number of operations of all running items, the
    simulated time (ps) of the item that reports, and the number of running items.
    """

    def __call__(self, operations: int, reached: int, under_way: int = 1) -> None: ...


def ignore_item_progress(operations: int, reached: int, under_way: int = 1) -> None:
    """Ignores progress."""


class ClusterCrew(Protocol):
    """Workers of a cluster (cluster.py)."""

    def finished(
        self, work: Callable[..., Answer], items: Sequence[Item], on_progress: OnItemProgress
    ) -> Iterator[Answer]: ...


Workers: TypeAlias = int | ClusterCrew


def mapped(work: Callable[[Item], Answer], items: Sequence[Item], cores: int) -> Iterator[Answer]:
    """Yields the answers in the order of the items. If one core is enough, this process does the
    work.
    """
    if min(cores, len(items)) <= 1:
        yield from map(work, items)
        return
    with _workers(min(cores, len(items)), partial(_answer, work, items)) as executor:
        with held_back():
            answers = executor.map(_numbered, range(len(items)))
        yield from answers


def finished(work: Callable[[Item], Answer], items: Sequence[Item], cores: int) -> Iterator[Answer]:
    """Yields the answers in the order in which they are ready. After a signal, also yields those of
    interrupted work, and then raises KeyboardInterrupt.
    """
    from concurrent.futures import as_completed  # noqa: PLC0415 (slow to load)

    with _workers(min(cores, len(items)), partial(_answer, work, items)) as executor:
        with held_back():
            futures = [executor.submit(_numbered, number) for number in range(len(items))]
        unfinished = set(futures)
        try:
            for future in as_completed(futures):
                unfinished.remove(future)
                yield future.result()
        except KeyboardInterrupt:
            yield from _last_answers(unfinished)
            raise


def _last_answers(futures: set[Future[Any]]) -> Iterator[Any]:
    """Stops the workers. Yields the answers of interrupted work, and those that were ready."""
    import multiprocessing  # noqa: PLC0415 (slow to load)
    from concurrent.futures import wait  # noqa: PLC0415 (slow to load)

    running = [future for future in futures if not future.cancel()]
    for child in multiprocessing.active_children():
        if child.pid:
            os.kill(child.pid, STOP_SIGNAL)
    for future in wait(running, LAST_ANSWERS_TIMEOUT_S).done:
        if not future.exception() and (answer := future.result()) is not NO_ANSWER:
            yield answer


def _answer(work: Callable[[Item], Answer], items: Sequence[Item], number: int) -> Answer:
    return work(items[number])


class Nothing(Enum):
    """The type of the answer of work that was stopped without an answer."""

    NO_ANSWER = 0


NO_ANSWER = Nothing.NO_ANSWER
_numbered_work: Callable[[int], Any]  # in a worker: _answer with the work and the items
# Flags of a worker: work is running, so that a signal interrupts it; a signal has arrived.
_at_work = _stopped = False


def _numbered(number: int) -> Any:
    global _at_work
    try:
        _at_work = True
        if _stopped:
            return NO_ANSWER
        return _numbered_work(number)
    except KeyboardInterrupt:
        return NO_ANSWER
    finally:
        _at_work = False


def _stop(number: int, frame: FrameType | None) -> None:
    """Handles STOP_SIGNAL, by interrupting running work once. Between items the worker must not be
    interrupted, because it may be sending an answer.
    """
    global _stopped
    was_stopped, _stopped = _stopped, True
    if _at_work and not was_stopped:
        raise KeyboardInterrupt


@contextmanager
def _workers(cores: int, work: Callable[[int], Any]) -> Iterator[ProcessPoolExecutor]:
    """Yields a pool of forked workers; an exception in the block kills them."""
    import multiprocessing  # noqa: PLC0415 (slow to load)
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 (slow to load)

    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(cores, context, _begin, (os.getpid(), work)) as executor:
        try:
            yield executor
        except BaseException:
            for child in multiprocessing.active_children():
                child.kill()
            # waits for the executor's thread, because exiting at the same time would be a race
            executor.shutdown(cancel_futures=True)
            raise


def _begin(parent: int, work: Callable[[int], Any]) -> None:
    """Prepares a worker: its work, its signal handlers, and its end when the parent dies."""
    global _numbered_work
    _numbered_work = work
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(STOP_SIGNAL, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 (slow to load)

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before prctl took effect
            os._exit(1)
