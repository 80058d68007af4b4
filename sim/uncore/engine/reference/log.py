"""The transaction log (rules L): what engines are compared by."""

from __future__ import annotations

from dataclasses import dataclass

from uncore.engine.reference.message import LINE, NOBODY, Message


@dataclass(slots=True)
class Record:
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

    def asked(self, children: int, now: int) -> None:
        """L6."""
        if children and not self.probes:
            self.probe = now
        self.probes += children

    def granted(self, right: str, source: int) -> None:
        """L4, L5."""
        self.right, self.source = right, source

    def done(self, now: int) -> None:
        """L7."""
        self.close = now


class Log:
    """All records of a run, by the two words that name a request for good (L2)."""

    def __init__(self) -> None:
        self.records: dict[tuple[int, int], Record] = {}

    def opened(self, request: Message, owner: int, now: int) -> Record:
        """L3, L7."""
        record = Record(
            requester=request.sender,
            number=request.number,
            resolver=request.receiver,
            line=request.line * LINE,
            op=request.kind,
            owner=owner,
            request=request.left,
            open=now,
        )
        self.records[record.requester, record.number] = record
        return record

    def reached(self, answer: Message, now: int) -> None:
        """Data, a grant or a PutAck is with the requester."""
        if record := self.records.get((answer.receiver, answer.number)):
            record.data = now

    def closed(self) -> list[Record]:
        """L1: what is in the log when the run has ended."""
        return [record for record in self.records.values() if record.close != NOBODY]
