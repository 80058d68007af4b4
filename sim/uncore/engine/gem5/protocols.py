"""gem5's protocols of one shared level: their controllers, with what the machine takes for a step.

    PROTOCOLS["MESI_Two_Level"].private(parts, n)      the controller of a core's caches
                               .bank(parts, bank)      of a bank of the shared cache
                               .directory(parts, node)
                               .misses, .losses        transitions that read.py counts

What is here was read in the protocols' state machines (gem5 24.0, src/mem/ruby/protocol/*.sm):
which latency each message waits before it leaves, and by which buffers controllers are joined.  A
latency is written in turns of the network's clock, one less because the endpoint's link takes one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uncore.engine.gem5.document import Value, at, new, ref, region
from uncore.engine.gem5.fabric import turns
from uncore.engine.gem5.levels import Bank, Levels
from uncore.engine.outside import homes

if TYPE_CHECKING:
    from uncore.job import Job

LINE = 64
LINE_BITS = 6
NETWORKS = 3  # virtual ones, of both protocols
WAYS_OF_TAGS = 16
SPARE = 2  # a level without data holds so many times the lines of the caches above


class Parts:
    """The machine's numbers, in gem5's units."""

    def __init__(self, job: Job, levels: Levels, period: int, busy: int) -> None:
        self.job, self.levels, self.period, self.busy = job, levels, period, busy
        self.core, self.shared = job.machine.core, levels.shared
        self.hit = max(1, self.core.l1_hit // period - 1)  # heard at the core's next turn

    def leave(self, duration: int) -> int:
        """Turns that a message waits before it leaves, of a duration until it is on its way."""
        return max(1, turns(duration, self.period) - 1)

    @property
    def private_sets(self) -> tuple[int, int]:
        """Sets and ways of a core's caches, of which gem5 makes one: the lower holds all lines."""
        core = self.core
        return (core.l2_sets, core.l2_ways) if core.l2_sets else (core.l1_sets, core.l1_ways)

    @property
    def miss(self) -> int:
        """ps from an access to its request's leaving, beyond what a hit takes (rule H5); what a
        load takes when its line is there goes with it."""
        return self.core.l2_hit + self.core.l1_hit - self.hit * self.period

    @property
    def answer(self) -> int:
        """ps from a probe to its answer (rule C2), and the time of the answer's bytes."""
        return self.core.l2_hit + self.busy

    @property
    def supply(self) -> int:
        """ps until the level's own data leave; without any, the memory's do (rules R6, M1)."""
        if self.shared.data != "none":
            return self.shared.service + self.shared.data_hit
        return self.shared.service + self.job.machine.memories[self.levels.nodes[0]].latency

    def private_cache(self) -> Value:
        sets, ways = self.private_sets
        return _cache(sets, ways, LINE_BITS, self.hit)

    def no_cache(self) -> Value:
        """For instructions, which come from elsewhere."""
        return _cache(2, 1, LINE_BITS, self.hit)

    def bank_cache(self, bank: Bank, latency: int = 1) -> Value:
        """Inclusive: it must hold at least what the caches above it do."""
        sets, ways = self.private_sets
        above = len(self.levels.cores) * sets * ways
        own = self.shared.data_sets * self.shared.data_ways
        ways = self.shared.data_ways or WAYS_OF_TAGS
        lines = max(own, SPARE * above) // len(self.levels.banks)
        first = LINE_BITS + bank.shares.bit_length() - 1
        return _cache(max(1, lines // ways), ways, first, latency)

    def home(self, node: int) -> Value:
        return region(homes.region(self.job, node))


def _cache(sets: int, ways: int, first_bit: int, latency: int = 1) -> Value:
    """RubyCache indexes with whole bits and wants one at least."""
    sets = max(2, 1 << sets.bit_length() - 1)
    return new(
        "RubyCache",
        size=f"{sets * ways * LINE}B",
        assoc=ways,
        start_index_bit=first_bit,
        tagAccessLatency=latency,
        replacement_policy=new("LRURP"),
    )


Controller = tuple[str, dict[str, Value]]  # type and values


def buffers(to: str, from_: str, local: str = "", triggers: str = "") -> dict[str, Value]:
    """Message buffers by name: to and from the network, within the controller, and those whose
    messages take no time."""
    made = {name: new("MessageBuffer", out_port=at("network.in_port")) for name in to.split()}
    made |= {n: new("MessageBuffer", in_port=at("network.out_port")) for n in from_.split()}
    made |= {name: new("MessageBuffer") for name in local.split()}
    return made | {name: new("MessageBuffer", ordered=True) for name in triggers.split()}


@dataclass(frozen=True)
class Protocol:
    private: Callable[[Parts, int], Controller]
    bank: Callable[[Parts, Bank], Controller]
    directory: Callable[[Parts, int], Controller]
    misses: tuple[str, ...]  # a core asks for a line or a right
    losses: tuple[str, ...]  # a copy is taken away


def _common(number: int) -> dict[str, Value]:
    return {"version": number, "ruby_system": ref("ruby")}


# ---- MESI_Two_Level: a bank blocks its line until the requester's unblock; owners answer directly


def _mesi_private(parts: Parts, number: int) -> Controller:
    values = _common(number) | {
        "L1Icache": parts.no_cache(),
        "L1Dcache": parts.private_cache(),
        "sequencer": ref(f"sequencer{number}"),
        "prefetcher": new("RubyPrefetcher"),
        "enable_prefetch": False,
        "send_evictions": True,  # or an LR is not told that its line has gone
        "l2_select_num_bits": len(parts.levels.banks).bit_length() - 1,
        "mandatory_queue_latency": parts.hit,
        "l1_request_latency": parts.leave(parts.miss),
        "l1_response_latency": parts.leave(parts.answer),
        "to_l2_latency": 1,
    }
    values |= buffers(
        to="requestFromL1Cache responseFromL1Cache unblockFromL1Cache",
        from_="requestToL1Cache responseToL1Cache",
        local="mandatoryQueue optionalQueue",
    )
    return "L1Cache_Controller", values


def _mesi_bank(parts: Parts, bank: Bank) -> Controller:
    values = _common(parts.levels.banks.index(bank)) | {
        "L2cache": parts.bank_cache(bank),
        "to_l1_latency": parts.leave(parts.shared.service),
        "l2_request_latency": parts.leave(parts.shared.service),
        "l2_response_latency": parts.leave(parts.supply),
    }
    values |= buffers(
        to="DirRequestFromL2Cache L1RequestFromL2Cache responseFromL2Cache",
        from_="unblockToL2Cache L1RequestToL2Cache responseToL2Cache",
    )
    return "L2Cache_Controller", values


def _mesi_directory(parts: Parts, node: int) -> Controller:
    values = _common(parts.levels.nodes.index(node)) | {
        "addr_ranges": [parts.home(node)],
        "directory": new("RubyDirectoryMemory"),
        "to_mem_ctrl_latency": 1,
    }
    values |= buffers(
        to="responseFromDir",
        from_="requestToDir responseToDir",
        local="requestToMemory responseFromMemory",
    )
    return "Directory_Controller", values


# ---- MOESI_CMP_directory: the same, and a new owner keeps its line for a while (rule C4's hold)


def _moesi_private(parts: Parts, number: int) -> Controller:
    values = _common(number) | {
        "L1Icache": parts.no_cache(),
        "L1Dcache": parts.private_cache(),  # its tag latency is a hit's
        "sequencer": ref(f"sequencer{number}"),
        "send_evictions": True,
        "request_latency": parts.leave(parts.miss),
        "response_latency": parts.leave(parts.answer),
        "use_timeout_latency": turns(parts.core.hold, parts.period),
    }
    values |= buffers(
        to="requestFromL1Cache responseFromL1Cache",
        from_="requestToL1Cache responseToL1Cache",
        local="mandatoryQueue",
        triggers="triggerQueue",
    )
    return "L1Cache_Controller", values


def _moesi_bank(parts: Parts, bank: Bank) -> Controller:
    home = homes.Region(homes.RAM, homes.whole(parts.job))
    if bank.node is not None:
        home = homes.region(parts.job, bank.node)
    values = _common(parts.levels.banks.index(bank)) | {
        "addr_ranges": [region(home, LINE_BITS, bank.shares, bank.turn)],
        "L2cache": parts.bank_cache(bank, parts.leave(parts.supply)),  # its tag latency is data's
        "request_latency": parts.leave(parts.shared.service),
        "response_latency": parts.leave(parts.shared.service),
    }
    values |= buffers(
        to="GlobalRequestFromL2Cache L1RequestFromL2Cache responseFromL2Cache",
        from_="GlobalRequestToL2Cache L1RequestToL2Cache responseToL2Cache",
        triggers="triggerQueue",
    )
    return "L2Cache_Controller", values


def _moesi_directory(parts: Parts, node: int) -> Controller:
    values = _common(parts.levels.nodes.index(node)) | {
        "addr_ranges": [parts.home(node)],
        "directory": new("RubyDirectoryMemory"),
        "directory_latency": 1,
        "to_memory_controller_latency": 1,
    }
    values |= buffers(
        to="responseFromDir forwardFromDir",
        from_="requestToDir responseToDir",
        local="requestToMemory responseFromMemory",
        triggers="triggerQueue",
    )
    return "Directory_Controller", values


PROTOCOLS: Mapping[str, Protocol] = {
    "MESI_Two_Level": Protocol(
        _mesi_private,
        _mesi_bank,
        _mesi_directory,
        misses=("NP.Load", "NP.Store", "I.Load", "I.Store", "S.Store"),
        losses=("S.Inv", "E.Inv", "M.Inv", "SM.Inv", "E.Fwd_GETX", "M.Fwd_GETX"),
    ),
    "MOESI_CMP_directory": Protocol(
        _moesi_private,
        _moesi_bank,
        _moesi_directory,
        misses=("I.Load", "I.Store", "S.Store", "O.Store"),
        losses=(
            *("S.Inv", "SM.Inv", "O.Fwd_GETX", "OM.Fwd_GETX", "M.Fwd_GETX", "MM.Fwd_GETX"),
            "MM.Fwd_GETS",  # a reader takes a written line with the right to write it
        ),
    ),
}
