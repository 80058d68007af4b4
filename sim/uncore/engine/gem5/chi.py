"""CHI: one kind of controller for every level of caches, each with a list of those below it.

According to gem5's sources (24.0, src/mem/ruby/protocol/chi/*.sm), a controller reads its tags for
`tagAccessLatency`, then performs its steps; a message leaves a cycle later.  A resolver becomes a
controller at each of its banks; those of the root are home nodes.  Parameters of a controller
select which data it keeps when they pass through it (rule R7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.gem5.buffers import buffers
from uncore.engine.gem5.document import Value, new, ref, refs
from uncore.engine.gem5.fabric import cycles
from uncore.topology.protocols import Protocol

if TYPE_CHECKING:
    from uncore.engine.gem5.cache_parameters import Gem5Parts

MAX_TRANSACTIONS = 256  # more than the number of cores, each of which waits for one transaction
SENDING_CYCLES = 2  # cycles to send: one in the buffer, one on the endpoint's link
# Number of instructions for which a core keeps a line after a failed SC. RISC-V guarantees that a
# loop of LR and SC with up to this many instructions succeeds eventually. The defaults of gem5 are
# cycles of a slower clock; they grow with each failure, from too few for a loop to far too many.
LR_SC_PROMISED_INSTRUCTIONS = 16
ALLOCATING_EVENTS = "readshared readunique readonce writeback seq_acc seq_line_write atomic".split()
DROPPING_EVENTS = (
    "dealloc_on_unique dealloc_on_shared dealloc_backinv_unique dealloc_backinv_shared".split()
)
# For each kind of a level's data: the events at which the level stores data, and those at which it
# drops them or the copies above it. A victim level keeps its data even when a core above requests
# the line for writing, which makes them stale. To drop dirty data, gem5 would first send them home,
# and the writer would wait.
DATA_POLICIES = {
    "private": ("readshared readunique readonce writeback seq_acc", DROPPING_EVENTS[2:]),
    "inclusive": ("readshared readunique readonce writeback", DROPPING_EVENTS[2:]),
    "victim": ("readshared readonce writeback atomic", []),
    "none": ("", DROPPING_EVENTS[:2]),
}
# Transitions that count as requests: a request that reaches a controller in a state in which it is
# not busy with the line.
_READ_EVENTS = ("ReadShared", "ReadNotSharedDirty", "ReadUnique", "ReadUnique_PoC", "CleanUnique")
_IDLE_STATES = (
    "I SC UC SD UD UD_T RU RSC RSD RUSC RUSD SC_RSC SD_RSC SD_RSD UC_RSC UC_RU UD_RU UD_RSD UD_RSC"
).split()
REQUEST_TRANSITIONS = tuple(f"{state}.{event}" for state in _IDLE_STATES for event in _READ_EVENTS)
# Transitions that count as losses: a snoop takes the line away from a holder, or from a core that
# waits for the right to write it.
_SNOOP_EVENTS = ("SnpUnique", "SnpUniqueFwd", "SnpCleanInvalid")
LOSS_TRANSITIONS = tuple(
    f"{state}.{event}" for state in "SC UC SD UD BUSY_INTR".split() for event in _SNOOP_EVENTS
)


def private(parts: Gem5Parts, number: int) -> dict[str, Value]:
    """Returns the parameters of a core's controller, which also performs its atomics."""
    tags = parts.hit
    return (
        _controller(parts, number, "private")
        | _downstream(parts.levels.asks[number])
        | {
            "cache": parts.private_cache(data=0),
            "sequencer": ref(f"sequencer{number}"),
            "send_evictions": True,
            "sc_lock_enabled": True,
            "sc_lock_base_latency_cy": cycles(
                LR_SC_PROMISED_INSTRUCTIONS * parts.core.instruction, parts.period
            ),
            "sc_lock_multiplier_inc": 1,
            "sc_lock_multiplier_max": 1,
            "read_miss_latency": max(0, cycles(parts.miss, parts.period) - SENDING_CYCLES),
            "snp_latency": max(0, cycles(parts.answer, parts.period) - tags - SENDING_CYCLES),
        }
    )


def bank(parts: Gem5Parts, number: int) -> dict[str, Value]:
    """Returns the parameters of a resolver's controller; version numbers continue after the
    cores'.
    """
    this_bank = parts.levels.banks[number]
    data, home = this_bank.resolver.data, not this_bank.below
    tags = parts.leave(this_bank.resolver.service)
    data_cycles = cycles(this_bank.resolver.data_hit, parts.period)
    memories = [ref(f"memory_node{n}") for n in range(len(parts.levels.nodes))]
    return (
        _controller(parts, len(parts.levels.cores) + number, data)
        | (
            _downstream(this_bank.below)
            if this_bank.below
            else {"downstream_destinations": memories}
        )
        | {
            "addr_ranges": [parts.lines(this_bank)],
            "cache": parts.bank_cache(this_bank, tags, data_cycles, hold=data == "inclusive"),
            "is_HN": home,
            "enable_DMT": home and data == "none",
            "enable_DCT": this_bank.resolver.reply == "direct",
        }
    )


def memory(parts: Gem5Parts, number: int) -> dict[str, Value]:
    """Returns the parameters of a memory node's controller."""
    parameters = {
        "version": number,
        "ruby_system": ref("ruby"),
        "addr_ranges": [parts.home(parts.levels.nodes[number])],
        "data_channel_size": parts.line,
        "response_latency": 1,
        "data_latency": 1,
        "to_memory_controller_latency": 1,
        "transitions_per_cycle": MAX_TRANSACTIONS,
    } | buffers(
        to="reqOut snpOut rspOut datOut",
        from_="reqIn snpIn rspIn datIn",
        at_once="triggerQueue reqRdy",
    )
    # The sender of a write continues once the write is in this queue, so the queue must be short.
    return parameters | {
        "requestToMemory": new("MessageBuffer", ordered=True, buffer_size=2),
        "responseFromMemory": new("MessageBuffer", ordered=True),
    }


def _controller(parts: Gem5Parts, version: int, data: str) -> dict[str, Value]:
    """Returns the parameters that all caches share; callers override some."""
    allocates, drops = DATA_POLICIES[data]
    machine = parts.job.machine
    return (
        {
            "version": version,
            "ruby_system": ref("ruby"),
            "sequencer": None,
            "prefetcher": None,
            "use_prefetcher": False,
            "send_evictions": False,
            "sc_lock_enabled": False,
            "is_HN": False,
            "enable_DMT": False,
            "enable_DCT": False,
            "allow_SD": Protocol(machine.protocol, machine.tables).keeps_dirty,
            "policy_type": 0,  # atomics are performed in the core
            "data_channel_size": parts.line,
            "number_of_TBEs": MAX_TRANSACTIONS,
            "number_of_repl_TBEs": MAX_TRANSACTIONS,
            "number_of_snoop_TBEs": MAX_TRANSACTIONS,
            "number_of_DVM_TBEs": 1,
            "number_of_DVM_snoop_TBEs": 1,
            "unify_repl_TBEs": False,
            "transitions_per_cycle": MAX_TRANSACTIONS,
        }
        | {f"alloc_on_{what}": what in allocates.split() for what in ALLOCATING_EVENTS}
        | {name: name in drops for name in DROPPING_EVENTS}
        | buffers(
            to="reqOut snpOut rspOut datOut",
            from_="reqIn snpIn rspIn datIn",
            local="mandatoryQueue prefetchQueue",
            at_once="triggerQueue reqRdy snpRdy",
            at_once_ordered="retryTriggerQueue replTriggerQueue",
        )
    )


def _downstream(banks: tuple[int, ...]) -> dict[str, Value]:
    return {"downstream_destinations": refs(f"bank{n}" for n in banks)}
