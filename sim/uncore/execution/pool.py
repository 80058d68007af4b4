"""Work for several processes, which end with the process that gave it to them, however that ends.

    mapped(work, items, cores)      the answers in the items' order
    finished(work, items, cores)    the answers as they come
    Workers                         a number of processes of this computer; or those of a cluster,
                                    with `finished` as a method

Signals that end a program reach every process of a terminal or of a group.  The parent alone
answers them: it keeps what is finished, and has its workers stop: their work gets a
KeyboardInterrupt, which it may answer.  They are killed after LAST_ANSWERS_TIMEOUT_S, by a second
signal, when the parent leaves the loop early, or by the kernel when the parent is gone.

Workers are forked, so work and items are in their memory: the number of an item and its answer is
all that passes between processes.
Invariant: no worker outlives its parent, and none dies before it.
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
STOP = signal.SIGUSR1  # from the parent to a worker
LAST_ANSWERS_TIMEOUT_S = 30  # for work that looks at signals between its steps


class Heard(Protocol):
    """A callback for progress: operations of all items under way, simulated time (ps) of the item
    that reports, and how many items have reported."""

    def __call__(self, operations: int, reached: int, under_way: int = 1) -> None: ...


def unheard(operations: int, reached: int, under_way: int = 1) -> None:
    """Ignores progress."""


class ClusterCrew(Protocol):
    """Workers of a cluster (cluster.py)."""

    def finished(
        self, work: Callable[..., Answer], items: Sequence[Item], heard: Heard
    ) -> Iterator[Answer]: ...


Workers: TypeAlias = int | ClusterCrew


def mapped(work: Callable[[Item], Answer], items: Sequence[Item], cores: int) -> Iterator[Answer]:
    """Answers in the items' order; in this process where one core is enough."""
    if min(cores, len(items)) <= 1:
        yield from map(work, items)
        return
    with _workers(min(cores, len(items)), partial(_answer, work, items)) as executor:
        with held_back():
            answers = executor.map(_numbered, range(len(items)))
        yield from answers


def finished(work: Callable[[Item], Answer], items: Sequence[Item], cores: int) -> Iterator[Answer]:
    """Answers as they come; after a signal those of work under way, then KeyboardInterrupt."""
    from concurrent.futures import as_completed  # noqa: PLC0415 (slow to load)

    with _workers(min(cores, len(items)), partial(_answer, work, items)) as executor:
        with held_back():
            futures = [executor.submit(_numbered, number) for number in range(len(items))]
        left = set(futures)
        try:
            for future in as_completed(futures):
                left.remove(future)
                yield future.result()
        except KeyboardInterrupt:
            yield from _last_answers(left)
            raise


def _last_answers(futures: set[Future[Any]]) -> Iterator[Any]:
    """Has the workers stop: what work under way answers, and what was finished before."""
    import multiprocessing  # noqa: PLC0415 (slow to load)
    from concurrent.futures import wait  # noqa: PLC0415 (slow to load)

    begun = [future for future in futures if not future.cancel()]
    for child in multiprocessing.active_children():
        if child.pid:
            os.kill(child.pid, STOP)
    for future in wait(begun, LAST_ANSWERS_TIMEOUT_S).done:
        if not future.exception() and (answer := future.result()) is not NO_ANSWER:
            yield answer


def _answer(work: Callable[[Item], Answer], items: Sequence[Item], number: int) -> Answer:
    return work(items[number])


class Nothing(Enum):
    """The answer of work that was stopped and says no more."""

    NO_ANSWER = 0


NO_ANSWER = Nothing.NO_ANSWER
_numbered_work: Callable[[int], Any]  # in a worker: _answer with the work and the items
_at_work = _stopped = False  # in a worker: whether a signal interrupts work; whether one has come


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
    """Interrupts work once; between pieces of work the worker must go on, to answer."""
    global _stopped
    was, _stopped = _stopped, True
    if _at_work and not was:
        raise KeyboardInterrupt


@contextmanager
def _workers(cores: int, work: Callable[[int], Any]) -> Iterator[ProcessPoolExecutor]:
    """A pool of forked workers; an exception in the block kills them."""
    import multiprocessing  # noqa: PLC0415 (slow to load)
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 (slow to load)

    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(cores, context, _begin, (os.getpid(), work)) as executor:
        try:
            yield executor
        except BaseException:
            for child in multiprocessing.active_children():
                child.kill()
            executor.shutdown(
                cancel_futures=True
            )  # waits for its thread, with which an exit would race
            raise


def _begin(parent: int, work: Callable[[int], Any]) -> None:
    """Prepares a worker: its work, what signals do, and its end with the parent."""
    global _numbered_work
    _numbered_work = work
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(STOP, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 (slow to load)

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before prctl took effect
            os._exit(1)
