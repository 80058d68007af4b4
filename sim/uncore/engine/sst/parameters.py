"""Computes the parameters of each part of a simulation from the machine's numbers.

memHierarchy counts cycles: those of the core's clock, or in shared parts those of the clock of
`machine.core`.  It adds some cycles to every step. They are subtracted here, so that a hit takes as
long as on the machine.  These constants were measured; the test of matching times in
tests/sst/test_run.py fails if they are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uncore.engine.sst.network import CONTROL_BYTES, Network
from uncore.topology.machine import Core, Machine, Resolver

# longest loop whose SC must succeed eventually (RISC-V, constrained LR/SC)
LR_SC_LOOP_INSTRUCTIONS = 16
CROSSBAR_SPEEDUP = 2  # bandwidth of a merlin crossbar, as a multiple of that of its links
UNLIMITED_FLIT_PS = 20  # ps per flit if the machine's links have no limit
FLIT_BYTES = 4  # small, because each router delays a message by one flit
TAGS_ONLY = (1, 8)  # sets and ways of a level without data, because memHierarchy has no such level
WAYS_OF_TAGS = 4  # few, because memHierarchy's directory evicts even from sets that are not full
BUFFER_SIZE = "64KiB"  # holds all messages in flight, so that none waits for a buffer (rule F3)
PROTOCOLS = {"msi": "MSI"}  # other protocols become MESI: memHierarchy has neither F nor O

Params = dict[str, Any]


class SstParts:
    def __init__(self, machine: Machine, core: Core | None = None) -> None:
        self.machine = machine
        self.core = core or machine.core
        self.period = max(self.core.instruction, 1)
        self.clock = f"{self.period}ps"
        self.protocol = PROTOCOLS.get(machine.protocol, "MESI")

    def cycles(self, duration: int, added_cycles: int = 0) -> int:
        """Converts ps to cycles of the core's clock, and subtracts the `added_cycles` that
        memHierarchy itself adds.
        """
        return max(1, round(duration / self.period) - added_cycles)

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
        """Returns the parameters of one slice of a resolver's data. Lines are distributed over the
        slices in turn.
        """
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
        lines_above = max(
            core.l2_sets * core.l2_ways or core.l1_sets * core.l1_ways
            for core in self.machine.each_core
        )
        entries = 2 * max(sets * ways, cores * lines_above // slices)
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
            "entry_cache_size": 1 << 30,  # enough that no entry is stored in memory
            "access_latency_cycles": self.cycles(service, 1),
            "mshr_latency_cycles": 1,
        }

    def memory(self, region: Params) -> Params:
        frequency_text = f"{1000 / self.period:.9f}GHz"  # memHierarchy accepts no period here
        return region | {"clock": frequency_text, "backing": "malloc", "backing_init_zero": True}

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
        """Returns the parameters of a network interface at a router of merlin."""
        return {
            "network_bw": self.width(net),
            "network_input_buffer_size": BUFFER_SIZE,
            "network_output_buffer_size": BUFFER_SIZE,
        }

    def merlin(self, number: int, net: Network) -> Params:
        """Returns the parameters of a router of merlin."""
        return {
            "id": number,
            "num_ports": net.ports,
            "num_vns": 2,  # a mesh uses two channels, though it declares one
            "flit_size": f"{FLIT_BYTES}B",
            "link_bw": self.width(net),
            "xbar_bw": self.width(net, CROSSBAR_SPEEDUP),
            "input_buf_size": BUFFER_SIZE,
            "output_buf_size": BUFFER_SIZE,
        }

    def kingsley_link(self, net: Network) -> Params:
        return {"link_bw": self.width(net), "in_buf_size": BUFFER_SIZE, "out_buf_size": BUFFER_SIZE}

    def kingsley(self, net: Network) -> Params:
        """Returns the parameters of a router of kingsley; messages that pass through it have the
        same priority as those of its own endpoints.
        """
        return {
            "local_ports": net.local,
            "flit_size": f"{FLIT_BYTES}B",
            "link_bw": self.width(net),
            "input_buf_size": BUFFER_SIZE,
            "port_priority_equal": True,
        }

    def hop(self, net: Network) -> int:
        """Returns a router's latency in ps: the time of a flit on a link and in the crossbar."""
        return round(self.flit(net) * (1 + 1 / CROSSBAR_SPEEDUP))

    @staticmethod
    def flit(net: Network) -> float:
        """Returns the ps for which a flit occupies a link."""
        return max(net.busy * FLIT_BYTES / CONTROL_BYTES, UNLIMITED_FLIT_PS)

    def width(self, net: Network, times: int = 1) -> str:
        return f"{FLIT_BYTES * 1000 * times / self.flit(net):.3f}GB/s"

    def _cache(self, sets: int, ways: int) -> Params:
        return {
            "cache_frequency": self.clock,
            "cache_size": f"{sets * ways * self.machine.line}B",
            "associativity": ways,
            "cache_line_size": self.machine.line,
            "coherence_protocol": self.protocol,
        }
