"""L. The transaction log, with which engines are compared.

Its columns are the fields of `ServedRequest`; the reader of a log sorts and numbers the requests
(L8).
"""

from __future__ import annotations

from dataclasses import dataclass

from uncore.engine.reference.message import NOBODY, Message


class Log:
    """All records of a run, by requester and number, which identify a request."""

    def __init__(self, line: int) -> None:
        """`line`: size of a line, in bytes."""
        self.line = line
        self.records: dict[tuple[int, int], ServedRequest] = {}

    def closed(self) -> list[ServedRequest]:
        """L1: returns the records of the closed transactions."""
        return [record for record in self.records.values() if record.close != NOBODY]

    def opened(self, request: Message, owner: int, now: int) -> ServedRequest:
        """L2, L3, L7.1, L7.2: adds a record when a resolver begins to serve a request."""
        record = ServedRequest(
            requester=request.sender,
            number=request.number,
            resolver=request.receiver,
            line=request.line * self.line,
            op=request.kind,
            owner=owner,
            request=request.left_at,
            open=now,
        )
        self.records[record.requester, record.number] = record
        return record

    def reached(self, answer: Message, now: int) -> None:
        """Records the arrival of data, a right, a PutAck or a value at the requester."""
        if record := self.records.get((answer.receiver, answer.number)):
            record.reached(now)


@dataclass(slots=True)
class ServedRequest:
    """One request that a resolver served."""

    requester: int
    number: int
    resolver: int
    line: int
    op: str
    owner: int
    request: int
    open: int
    source: int = NOBODY
    right: str = ""
    probes: int = 0
    probe: int = NOBODY
    data: int = NOBODY
    close: int = NOBODY

    def granted(self, right: str, source: int) -> None:
        """L4.1 to L4.4, L5: records the right that was granted, and the sender of the bytes."""
        self.right, self.source = right, source

    def asked(self, children: int, now: int) -> None:
        """L6: records that `children` more children were probed."""
        if children and not self.probes:
            self.probe = now
        self.probes += children

    def reached(self, now: int) -> None:
        """L7.3: records that the answer has reached the requester."""
        self.data = now

    def closes(self, now: int) -> None:
        """L7.4: records the end of the transaction."""
        self.close = now
