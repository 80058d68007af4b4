"""CHI: one kind of controller for every level of caches, each with a list of those below it.

Read in gem5's sources (24.0, src/mem/ruby/protocol/chi/*.sm): a controller reads its tags for
`tagAccessLatency`, then its steps follow; what it sends leaves a cycle later.  A resolver is a
controller at each of its banks, the root's are home nodes.  What a level keeps of the data that
pass it (rule R7) are switches of its controllers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.gem5.buffers import buffers
from uncore.engine.gem5.document import Value, new, ref, refs
from uncore.engine.gem5.fabric import cycles
from uncore.topology.protocols import Protocol

if TYPE_CHECKING:
    from uncore.engine.gem5.cache_parameters import Gem5Parts

MAX_TRANSACTIONS = 256  # more than cores that wait for one each
SENT = 2  # cycles: one of the buffer it leaves by, one of the endpoint's link
# A line whose SC failed stays until the loop can have been done again; RISC-V promises success to
# one of so many instructions.  gem5's own figures are cycles of a clock that is slower than ours,
# and they grow: from too short for a loop to far too long.
PROMISED = 16
KEPT_KINDS = "readshared readunique readonce writeback seq_acc seq_line_write atomic".split()
LET_GO = "dealloc_on_unique dealloc_on_shared dealloc_backinv_unique dealloc_backinv_shared".split()
# Data that a level keeps of those that pass it, and the events at which it gives up them or the
# copies above. A victim that lets go when somebody above will write sends dirty data home first,
# and the writer waits: so it keeps them, to no use, instead.
DATA_POLICIES = {
    "private": ("readshared readunique readonce writeback seq_acc", LET_GO[2:]),
    "inclusive": ("readshared readunique readonce writeback", LET_GO[2:]),
    "victim": ("readshared readonce writeback atomic", []),
    "none": ("", LET_GO[:2]),
}
# Messages that reach a controller which is not busy with the line.
_READS = ("ReadShared", "ReadNotSharedDirty", "ReadUnique", "ReadUnique_PoC", "CleanUnique")
_STATES = (
    "I SC UC SD UD UD_T RU RSC RSD RUSC RUSD SC_RSC SD_RSC SD_RSD UC_RSC UC_RU UD_RU UD_RSD UD_RSC"
).split()
REQUESTS = tuple(f"{state}.{event}" for state in _STATES for event in _READS)
# Snoops that take a line away, where it is held, also by a core that waits for the right to write.
_TAKES = ("SnpUnique", "SnpUniqueFwd", "SnpCleanInvalid")
LOSSES = tuple(f"{state}.{event}" for state in "SC UC SD UD BUSY_INTR".split() for event in _TAKES)


def private(parts: Gem5Parts, number: int) -> dict[str, Value]:
    """A core's controller: its atomics are done here."""
    tags = parts.hit
    return (
        _controller(parts, number, "private")
        | _below(parts.levels.asks[number])
        | {
            "cache": parts.private_cache(data=0),
            "sequencer": ref(f"sequencer{number}"),
            "send_evictions": True,
            "sc_lock_enabled": True,
            "sc_lock_base_latency_cy": cycles(PROMISED * parts.core.instruction, parts.period),
            "sc_lock_multiplier_inc": 1,
            "sc_lock_multiplier_max": 1,
            "read_miss_latency": max(0, cycles(parts.miss, parts.period) - SENT),
            "snp_latency": max(0, cycles(parts.answer, parts.period) - tags - SENT),
        }
    )


def bank(parts: Gem5Parts, number: int) -> dict[str, Value]:
    """A resolver's controller; versions go on after the cores'."""
    this = parts.levels.banks[number]
    data, home = this.resolver.data, not this.below
    tags = parts.leave(this.resolver.service)
    hit = cycles(this.resolver.data_hit, parts.period)
    memories = [ref(f"memory_node{n}") for n in range(len(parts.levels.nodes))]
    return (
        _controller(parts, len(parts.levels.cores) + number, data)
        | (_below(this.below) if this.below else {"downstream_destinations": memories})
        | {
            "addr_ranges": [parts.lines(this)],
            "cache": parts.bank_cache(this, tags, hit, hold=data == "inclusive"),
            "is_HN": home,
            "enable_DMT": home and data == "none",
            "enable_DCT": this.resolver.reply == "direct",
        }
    )


def memory(parts: Gem5Parts, number: int) -> dict[str, Value]:
    """A memory node's controller."""
    made = {
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
    # A write is done for its sender when it is queued, so the queue must be short.
    return made | {
        "requestToMemory": new("MessageBuffer", ordered=True, buffer_size=2),
        "responseFromMemory": new("MessageBuffer", ordered=True),
    }


def _controller(parts: Gem5Parts, version: int, data: str) -> dict[str, Value]:
    """Parameters of all caches; a table's later entries replace them."""
    allocates, let_go = DATA_POLICIES[data]
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
            "policy_type": 0,  # atomics are near
            "data_channel_size": parts.line,
            "number_of_TBEs": MAX_TRANSACTIONS,
            "number_of_repl_TBEs": MAX_TRANSACTIONS,
            "number_of_snoop_TBEs": MAX_TRANSACTIONS,
            "number_of_DVM_TBEs": 1,
            "number_of_DVM_snoop_TBEs": 1,
            "unify_repl_TBEs": False,
            "transitions_per_cycle": MAX_TRANSACTIONS,
        }
        | {f"alloc_on_{what}": what in allocates.split() for what in KEPT_KINDS}
        | {name: name in let_go for name in LET_GO}
        | buffers(
            to="reqOut snpOut rspOut datOut",
            from_="reqIn snpIn rspIn datIn",
            local="mandatoryQueue prefetchQueue",
            at_once="triggerQueue reqRdy snpRdy",
            at_once_ordered="retryTriggerQueue replTriggerQueue",
        )
    )


def _below(banks: tuple[int, ...]) -> dict[str, Value]:
    return {"downstream_destinations": refs(f"bank{n}" for n in banks)}
