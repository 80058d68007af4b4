"""The parameters of each part of a simulation, from the machine's numbers.

memHierarchy counts in cycles, here of the core's clock (of shared parts: of `machine.core`),
and spends some of its own on every step.  What it spends is subtracted, so that a hit takes what it
takes on the machine; the constants were measured, and the matching table of
tests/sst/test_run.py tells when they no longer hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uncore.engine.sst.network import CONTROL_BYTES, Network
from uncore.topology.machine import Core, Machine, Resolver

# longest loop whose SC must succeed some time (RISC-V, constrained LR/SC)
LR_SC_LOOP_INSTRUCTIONS = 16
ROUTERS_PER_FLIT = 2  # a merlin crossbar runs so many times faster than its links
FAST = 20  # ps of a flit where the machine's links have no limit
FLIT = 4  # bytes; small, because every router takes the time of one
TAGS_ONLY = (1, 8)  # sets and ways of a level without data, which memHierarchy does not have
WAYS_OF_TAGS = 4  # few: the directory evicts from a set that has room
BUFFER = "64KiB"  # more than all messages under way: nothing waits for room (rule F3)
PROTOCOLS = {"msi": "MSI"}  # all others are MESI: memHierarchy has neither F nor O

Params = dict[str, Any]


class SstParts:
    def __init__(self, machine: Machine, core: Core | None = None) -> None:
        self.machine = machine
        self.core = core or machine.core
        self.period = max(self.core.instruction, 1)
        self.clock = f"{self.period}ps"
        self.protocol = PROTOCOLS.get(machine.protocol, "MESI")

    def cycles(self, duration: int, less: int = 0) -> int:
        """Cycles of the core's clock, without those that memHierarchy spends anyway."""
        return max(1, round(duration / self.period) - less)

    def hart(self, number: int, harts: int, program: str, watchdog: int) -> Params:
        core, interrupt = self.core, self.machine.interrupt
        return {
            "id": number,
            "harts": harts,
            "program": program,
            "ram": self.machine.ram,
            "instruction": self.period,
            "mispredict": core.mispredict,
            "pause": core.pause,
            "forward": core.l1_hit,
            "lr": max(0, core.atomic - core.l1_hit),
            "amo": max(0, core.atomic - 2 * core.l1_hit),
            "stores": max(1, core.store_buffer),
            "send": interrupt.send,
            "accept": interrupt.accept,
            "entry": interrupt.entry,
            "exit": interrupt.exit,
            "watchdog": watchdog,
        }

    def l1(self) -> Params:
        core = self.core
        cycles = core.atomic + core.mispredict + LR_SC_LOOP_INSTRUCTIONS * self.period
        return self._cache(core.l1_sets, core.l1_ways) | {
            "L1": True,
            "access_latency_cycles": self.cycles(core.l1_hit, 1),
            "tag_access_latency_cycles": 1,
            "mshr_latency_cycles": 1,
            "llsc_block_cycles": self.cycles(cycles),
        }

    def l2(self) -> Params:
        core = self.core
        return self._cache(core.l2_sets, core.l2_ways) | {
            "access_latency_cycles": self.cycles(core.l2_hit + core.l1_hit, 5),
            "tag_access_latency_cycles": self.cycles(core.l2_hit, 3),
            "mshr_latency_cycles": self.cycles(core.l1_hit, 2),
        }

    def shared(self, resolver: Resolver, slice_: int, slices: int, cores: int) -> Params:
        """One slice of a resolver's data; every slice takes the lines whose turn it is."""
        sets, ways = resolver.data_sets // slices, resolver.data_ways
        if resolver.data == "none":
            sets, ways = TAGS_ONLY
        params = self._cache(max(1, sets), ways) | {
            "access_latency_cycles": self.cycles(resolver.service + resolver.data_hit, 1),
            "tag_access_latency_cycles": self.cycles(resolver.service, 1),
            "mshr_latency_cycles": 1,
            "num_cache_slices": slices,
            "slice_id": slice_,
            "slice_allocation_policy": "rr",
        }
        if resolver.data == "inclusive":
            return params
        below = max(
            core.l2_sets * core.l2_ways or core.l1_sets * core.l1_ways
            for core in self.machine.each_core
        )
        entries = 2 * max(sets * ways, cores * below // slices)
        return params | {
            "cache_type": "noninclusive_with_directory",
            "noninclusive_directory_entries": 1 << (entries - 1).bit_length(),
            "noninclusive_directory_associativity": WAYS_OF_TAGS,
        }

    def directory(self, service: int, region: Params) -> Params:
        return region | {
            "clock": self.clock,
            "coherence_protocol": self.protocol,
            "cache_line_size": self.machine.line,
            "entry_cache_size": 1 << 30,  # entries beside the line: none is kept in memory
            "access_latency_cycles": self.cycles(service, 1),
            "mshr_latency_cycles": 1,
        }

    def memory(self, region: Params) -> Params:
        hertz = f"{1000 / self.period:.9f}GHz"  # it takes no period
        return region | {"clock": hertz, "backing": "malloc", "backing_init_zero": True}

    def backend(self, latency: int, size: int) -> Params:
        return {"access_time": f"{max(latency, 1)}ps", "mem_size": f"{size}B"}

    def nic(self, group: int, above: Sequence[int], below: Sequence[int]) -> Params:
        return {
            "group": group,
            "sources": list(above),
            "destinations": list(below),
            "min_packet_size": f"{CONTROL_BYTES}B",
        }

    def merlin_link(self, net: Network) -> Params:
        """The parameters of a network interface that meets a router of merlin."""
        return {
            "network_bw": self.width(net),
            "network_input_buffer_size": BUFFER,
            "network_output_buffer_size": BUFFER,
        }

    def merlin(self, number: int, net: Network) -> Params:
        """A router."""
        return {
            "id": number,
            "num_ports": net.ports,
            "num_vns": 2,  # a mesh uses two channels, and says it needs one
            "flit_size": f"{FLIT}B",
            "link_bw": self.width(net),
            "xbar_bw": self.width(net, ROUTERS_PER_FLIT),
            "input_buf_size": BUFFER,
            "output_buf_size": BUFFER,
        }

    def kingsley_link(self, net: Network) -> Params:
        return {"link_bw": self.width(net), "in_buf_size": BUFFER, "out_buf_size": BUFFER}

    def kingsley(self, net: Network) -> Params:
        """A router; messages from afar wait no longer than those that begin here."""
        return {
            "local_ports": net.local,
            "flit_size": f"{FLIT}B",
            "link_bw": self.width(net),
            "input_buf_size": BUFFER,
            "port_priority_equal": True,
        }

    def hop(self, net: Network) -> int:
        """ps that a router itself takes: a cycle of its crossbar, a flit's time."""
        return round(self.flit(net) * (1 + 1 / ROUTERS_PER_FLIT))

    @staticmethod
    def flit(net: Network) -> float:
        """ps that a flit keeps a link."""
        return max(net.busy * FLIT / CONTROL_BYTES, FAST)

    def width(self, net: Network, times: int = 1) -> str:
        return f"{FLIT * 1000 * times / self.flit(net):.3f}GB/s"

    def _cache(self, sets: int, ways: int) -> Params:
        return {
            "cache_frequency": self.clock,
            "cache_size": f"{sets * ways * self.machine.line}B",
            "associativity": ways,
            "cache_line_size": self.machine.line,
            "coherence_protocol": self.protocol,
        }
