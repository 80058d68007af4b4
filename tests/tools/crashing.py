"""Runs work that may crash in a separate process.

    run_in_child(work, items, seconds) -> (item, end) for each item

The end of an item is the result of `work`, or `died STATUS`. Invariant: the list ends with the
first crash; the caller may call again with the other items.
"""

from __future__ import annotations

import json
import os
import signal
import traceback
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def run_in_child(
    work: Callable[[Item], str],
    items: Sequence[Item],
    seconds: int,
    prepare: Callable[[], None] = lambda: None,
) -> list[tuple[Item, str]]:
    """Runs all items in one child process. If an item takes longer than `seconds`, the child is
    killed, which counts as a crash.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        prepare()
        _batch(work, items, seconds, write_end)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as results:
        ends = [json.loads(line) for line in results]
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status and "traceback" not in ends[-1:]:
        ends = [*ends[: len(items) - 1], f"died {status}"]
    return list(zip(items, ends, strict=False))


def _batch(
    work: Callable[[Item], str], items: Sequence[Item], seconds: int, write_end: int
) -> None:
    """Runs the items in the child and writes the result of each."""
    with os.fdopen(write_end, "w", buffering=1) as out:
        for item in items:
            signal.alarm(seconds)
            try:
                end = work(item)
            except BaseException:
                out.write('"traceback"\n')
                out.flush()
                traceback.print_exc()
                os._exit(1)
            out.write(json.dumps(end) + "\n")
