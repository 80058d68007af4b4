"""Describes the controllers of gem5's protocols, with the machine's latencies for each step.

    PROTOCOLS["MESI_Two_Level"].private(parts, n)      the controller of a core's caches
                               .bank(parts, n)         of a bank of a shared cache
                               .memory(parts, n)       of a memory node
                               .misses                 transitions that read.py counts as requests
                               .losses                 transitions of the cores' controllers that
                                                       read.py counts as lost copies

The protocols' state machines (gem5 24.0, src/mem/ruby/protocol/*.sm) were read to find the latency
that each message waits before it leaves, and the buffers that join controllers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from uncore.engine.gem5 import chi
from uncore.engine.gem5.buffers import buffers
from uncore.engine.gem5.cache_parameters import Gem5Parts
from uncore.engine.gem5.document import Value, new, newer, ref
from uncore.engine.gem5.fabric import cycles
from uncore.engine.gem5.levels import Gem5Levels

Controller = Callable[[Gem5Parts, int], dict[str, Value]]  # returns a controller's parameters


@dataclass(frozen=True)
class Gem5Protocol:
    private: Controller
    bank: Controller
    memory: Controller
    kinds: tuple[str, str, str]  # gem5's names of the three controllers
    data: str  # name of the private controller's cache
    networks: int  # number of virtual networks
    misses: tuple[str, ...]  # transitions in which a core or a level requests a line or a right
    losses: tuple[str, ...]  # transitions in which a core loses its copy
    several: bool = False  # the protocol may have several shared levels, one below the other
    by_node: bool = True  # each memory node may have its own banks

    def controllers(self, levels: Gem5Levels) -> int:
        """Returns the largest number of controllers of one kind."""
        numbers = (len(levels.cores), len(levels.banks), len(levels.nodes))
        count_by_kind = dict.fromkeys(self.kinds, 0)
        for kind, number in zip(self.kinds, numbers, strict=True):
            count_by_kind[kind] += number
        return max(count_by_kind.values())


# ---- MESI_Two_Level: a bank blocks a line until the requester's unblock; owners reply directly


def _mesi_private(parts: Gem5Parts, number: int) -> dict[str, Value]:
    return {
        "version": number,
        "ruby_system": ref("ruby"),
        "L1Icache": parts.no_cache(),
        "L1Dcache": parts.private_cache(),
        "sequencer": ref(f"sequencer{number}"),
        "prefetcher": new("RubyPrefetcher", block_size=newer(parts.line)),
        "enable_prefetch": False,
        "send_evictions": True,  # otherwise the loss of a line does not end a reservation
        "l2_select_num_bits": len(parts.levels.banks).bit_length() - 1,
        "mandatory_queue_latency": parts.hit,
        "l1_request_latency": parts.leave(parts.miss),
        "l1_response_latency": parts.leave(parts.answer),
        "to_l2_latency": 1,
    } | buffers(
        to="requestFromL1Cache responseFromL1Cache unblockFromL1Cache",
        from_="requestToL1Cache responseToL1Cache",
        local="mandatoryQueue optionalQueue",
    )


def _mesi_bank(parts: Gem5Parts, number: int) -> dict[str, Value]:
    bank = parts.levels.banks[number]
    return {
        "version": number,
        "ruby_system": ref("ruby"),
        "L2cache": parts.bank_cache(bank),
        "to_l1_latency": parts.leave(bank.resolver.service),
        "l2_request_latency": parts.leave(bank.resolver.service),
        "l2_response_latency": parts.leave(parts.supply(bank)),
    } | buffers(
        to="DirRequestFromL2Cache L1RequestFromL2Cache responseFromL2Cache",
        from_="unblockToL2Cache L1RequestToL2Cache responseToL2Cache",
    )


def _mesi_directory(parts: Gem5Parts, number: int) -> dict[str, Value]:
    return {
        "version": number,
        "ruby_system": ref("ruby"),
        "addr_ranges": [parts.home(parts.levels.nodes[number])],
        "directory": new("RubyDirectoryMemory", block_size=newer(parts.line)),
        "to_mem_ctrl_latency": 1,
    } | buffers(
        to="responseFromDir",
        from_="requestToDir responseToDir",
        local="requestToMemory responseFromMemory",
    )


# ---- MOESI_CMP_directory: like MESI_Two_Level, but a new owner holds its line for a time (rule C4)


def _moesi_private(parts: Gem5Parts, number: int) -> dict[str, Value]:
    return {
        "version": number,
        "ruby_system": ref("ruby"),
        "L1Icache": parts.no_cache(),
        "L1Dcache": parts.private_cache(),  # its tag latency is that of a hit
        "sequencer": ref(f"sequencer{number}"),
        "send_evictions": True,
        "request_latency": parts.leave(parts.miss),
        "response_latency": parts.leave(parts.answer),
        "use_timeout_latency": cycles(parts.core.hold, parts.period),
    } | buffers(
        to="requestFromL1Cache responseFromL1Cache",
        from_="requestToL1Cache responseToL1Cache",
        local="mandatoryQueue",
        ordered="triggerQueue",
    )


def _moesi_bank(parts: Gem5Parts, number: int) -> dict[str, Value]:
    bank = parts.levels.banks[number]
    return {
        "version": number,
        "ruby_system": ref("ruby"),
        "addr_ranges": [parts.lines(bank)],
        # the latency is that of tags and data together
        "L2cache": parts.bank_cache(bank, parts.leave(parts.supply(bank))),
        "request_latency": parts.leave(bank.resolver.service),
        "response_latency": parts.leave(bank.resolver.service),
    } | buffers(
        to="GlobalRequestFromL2Cache L1RequestFromL2Cache responseFromL2Cache",
        from_="GlobalRequestToL2Cache L1RequestToL2Cache responseToL2Cache",
        ordered="triggerQueue",
    )


def _moesi_directory(parts: Gem5Parts, number: int) -> dict[str, Value]:
    return {
        "version": number,
        "ruby_system": ref("ruby"),
        "addr_ranges": [parts.home(parts.levels.nodes[number])],
        "directory": new("RubyDirectoryMemory", block_size=newer(parts.line)),
        "directory_latency": 1,
        "to_memory_controller_latency": 1,
    } | buffers(
        to="responseFromDir forwardFromDir",
        from_="requestToDir responseToDir",
        local="requestToMemory responseFromMemory",
        ordered="triggerQueue",
    )


CONTROLLER_KINDS = ("L1Cache_Controller", "L2Cache_Controller", "Directory_Controller")

PROTOCOLS: Mapping[str, Gem5Protocol] = {
    "MESI_Two_Level": Gem5Protocol(
        _mesi_private,
        _mesi_bank,
        _mesi_directory,
        CONTROLLER_KINDS,
        data="L1Dcache",
        networks=3,
        by_node=False,
        misses=("NP.Load", "NP.Store", "I.Load", "I.Store", "S.Store"),
        losses=("S.Inv", "E.Inv", "M.Inv", "SM.Inv", "E.Fwd_GETX", "M.Fwd_GETX"),
    ),
    "MOESI_CMP_directory": Gem5Protocol(
        _moesi_private,
        _moesi_bank,
        _moesi_directory,
        CONTROLLER_KINDS,
        data="L1Dcache",
        networks=3,
        misses=("I.Load", "I.Store", "S.Store", "O.Store"),
        losses=(
            *("S.Inv", "SM.Inv", "O.Fwd_GETX", "OM.Fwd_GETX", "M.Fwd_GETX", "MM.Fwd_GETX"),
            "MM.Fwd_GETS",  # a reader takes a written line away, and may write it
        ),
    ),
    "CHI": Gem5Protocol(
        chi.private,
        chi.bank,
        chi.memory,
        ("Cache_Controller", "Cache_Controller", "Memory_Controller"),
        data="cache",
        networks=4,
        several=True,
        misses=chi.REQUEST_TRANSITIONS,
        losses=chi.LOSS_TRANSITIONS,
    ),
}
