"""Runs points on the workers of a Dask cluster, on this computer or on others.

    with connected("tcp://head:8786") as cluster:    connects to a running scheduler
    with connected("tls://head:8786") as cluster:    encrypted, with keys of Dask's configuration
    with connected("local", 2) as cluster:           starts two processes for the block
        execute(jobs, cluster)                       as with a number of processes (pool.py)
    exposure_warning("tcp://head:8786") -> str       a warning if others can run code there

Anyone who can connect to a scheduler can run code on its workers. So `local` uses keys that are
made for this block and exist only in memory, and refuses other connections. If a worker is lost,
another worker runs the item that it was executing; its finished items have been received already.
Invariant: every answer comes from a worker with this process's copy of uncore; a worker with
another copy ends the work with a message.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

import cryptography  # noqa: F401 (Security.temporary needs it)
from distributed import Client, KilledWorker, LocalCluster, as_completed, get_worker
from distributed.comm import CommClosedError
from distributed.security import Security

from uncore.engine import copy
from uncore.errors import OutsideError, UserError
from uncore.execution.pool import OnItemProgress
from uncore.support.signals import held_back
from uncore.support.version import __version__

Item = TypeVar("Item")
Answer = TypeVar("Answer")

LOCAL_ADDRESS = "local"
ADDRESS_PATTERN = re.compile(r"(tcp|tls|wss?)://([^\s/:]+|\[[0-9a-fA-F:]+\]):\d{1,5}")
ENCRYPTED_SCHEMES = ("tls", "wss")
SCHEDULER_TIMEOUT_S = 10  # maximum wait for the scheduler's answer, and for a first worker
PROGRESS_INTERVAL_S = 0.2  # time between two progress reports of a worker


@contextmanager
def connected(address: str, cores: int = 1) -> Iterator[Cluster]:
    """Connects to a scheduler; `local` starts one with `cores` worker processes."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # uncore reports errors itself
    if address == LOCAL_ADDRESS:
        with (
            _local(cores) as processes,
            _client(processes.scheduler_address, processes.security) as client,
        ):
            yield Cluster(client, LOCAL_ADDRESS)
    else:
        with _client(address) as client:
            yield Cluster(client, address)


def _local(processes: int) -> LocalCluster:
    """Starts workers with blocked signals; Dask would restart a worker that a signal kills."""
    quiet: Any = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
    security = Security.temporary()
    with held_back():
        return LocalCluster(
            processes, threads_per_worker=1, memory_limit=0, security=security, **quiet
        )


def exposure_warning(address: str) -> str:
    """Returns a warning if others can run code through this scheduler; empty if its connections are
    encrypted or local.
    """
    match = ADDRESS_PATTERN.fullmatch(address)
    if not match or match[1] in ENCRYPTED_SCHEMES or _is_loopback(match[2].strip("[]")):
        return ""
    return (
        f"--cluster {address}: whoever reaches this port runs code on the workers and here, and"
        " reads along; write tls:// with keys of yours, as docs/cli.md says (Beyond one computer)"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def _client(address: str, security: Security | None = None) -> Iterator[Client]:
    """Connects to a scheduler with the keys `security`, or if it is None, with those of Dask's
    configuration.
    """
    if not ADDRESS_PATTERN.fullmatch(address):
        raise UserError(
            f"--cluster {address}: expected a scheduler's address, like tcp://head:8786, or local"
        )
    keys = security or Security()
    if address.partition(":")[0] in ENCRYPTED_SCHEMES and not keys.tls_client_cert:
        raise UserError(
            f"--cluster {address}: needs keys, and Dask's configuration here names none;"
            " docs/cli.md (Beyond one computer) says how to make them"
        )
    try:
        client = Client(address, timeout=SCHEDULER_TIMEOUT_S, set_as_default=False, security=keys)
    except (OSError, ValueError) as error:
        raise UserError(
            f"--cluster {address}: no scheduler answers there ({error}); `dask scheduler` starts"
            " one and says its address, like tcp://head:8786; or write --cluster local"
        ) from None
    with client:
        yield client


class Cluster:
    """Workers of a scheduler, each checked to have this process's copy of uncore."""

    def __init__(self, client: Client, address: str) -> None:
        self._client, self._address = client, address
        try:
            client.wait_for_workers(1, timeout=SCHEDULER_TIMEOUT_S)
        except TimeoutError:
            raise UserError(
                f"--cluster {address}: the scheduler has no workers; on each computer write"
                f" `dask worker {address} --nthreads 1 --nworkers auto`"
            ) from None
        for worker, identity in client.run(_own_identity, on_error="return").items():
            _refuse_others(_own_identity(), identity, worker)

    def finished(
        self, work: Callable[..., Answer], items: Sequence[Item], on_progress: OnItemProgress
    ) -> Iterator[Answer]:
        """Yields the answers of `work(item, tick=...)` as they arrive; calls `on_progress` with the
        progress.
        """
        topic = f"uncore-{uuid.uuid4().hex}"
        futures = [
            self._client.submit(
                _answer, work, item, topic, _own_identity(), key=f"{topic}-{number}", pure=False
            )
            for number, item in enumerate(items)
        ]
        future_of = {future.key: future for future in futures}
        under_way: dict[str, int] = {}

        def on_event(event: tuple[float, tuple[str, int, int]]) -> None:
            key, operations, reached = event[1]
            under_way[key] = operations
            # An answer may arrive before the last ticks of its item.
            for ended in [other for other in under_way if future_of[other].done()]:
                del under_way[ended]
            on_progress(sum(under_way.values()), reached, len(under_way))

        self._client.subscribe_topic(topic, on_event)
        try:
            for future in as_completed(futures, loop=self._client.loop):
                yield self._result(future)
        finally:
            if self._client.status == "running":  # the scheduler is still connected
                self._client.unsubscribe_topic(topic)
                self._client.cancel(futures)

    def _result(self, future: Any) -> Any:
        try:
            return future.result()
        except KilledWorker as error:
            raise OutsideError(
                f"--cluster {self._address}: a point was given up, since every worker that ran it"
                f" died, the last one {error.last_worker.address}: perhaps of too little memory;"
                " what is finished is kept: --resume"
            ) from None
        except (CancelledError, CommClosedError):
            raise OutsideError(
                f"--cluster {self._address}: the scheduler is gone; what is finished is kept:"
                " --resume"
            ) from None


def _own_identity() -> tuple[str, str]:
    return __version__, copy.content()


def _refuse_others(own: tuple[str, str], identity: Any, worker: str) -> None:
    if isinstance(identity, BaseException):
        raise UserError(
            f"worker {worker}: cannot load uncore ({type(identity).__name__}: {identity}); install"
            f" uncore {own[0]} there"
        )
    if tuple(identity) != own:
        raise UserError(
            f"worker {worker}: has another copy of uncore ({identity[0]}, content"
            f" {identity[1][:12]}; here {own[0]}, content {own[1][:12]}), whose outcomes may"
            " differ; install the same wheel there"
        )


def _answer(work: Callable[..., Any], item: Any, topic: str, requester: tuple[str, str]) -> Any:
    """Runs an item on a worker. Checks the worker's copy again, because it may have joined after
    the first check.
    """
    worker = get_worker()
    _refuse_others(requester, _own_identity(), worker.address)
    key = worker.get_current_task()
    last_report_s = time.monotonic()

    def tick(operations: int, reached: int) -> None:
        nonlocal last_report_s
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":  # the item was cancelled
            raise KeyboardInterrupt
        if time.monotonic() - last_report_s >= PROGRESS_INTERVAL_S:
            last_report_s = time.monotonic()
            worker.log_event(topic, (key, operations, reached))

    return work(item, tick=tick)
