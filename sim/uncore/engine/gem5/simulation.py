"""Describes a job as a simulation of gem5: the gem5 object for each part of the machine.

    describe(job, protocol) -> the contents of system.json

    a hart                 RiscvTimingSimpleCPU: an instruction a cycle, plus its data's latency
    its code               SimpleMemory of its own, which answers before the next cycle (rule H1)
    a core's caches        one controller with a sequencer
    resolvers              banks (levels.py)
    a memory node          a directory (CHI: a memory controller) and SimpleMemory
    the fabric             SimpleNetwork (fabric.py)
    interrupts, console    HiFive's CLINT on an I/O bus, semihosting

The program runs on bare metal: all harts begin at its entry.  Caches and network share a clock
whose period is so short that the machine's latencies are nearly whole numbers of its cycles; the
harts have another clock. docs/engines.md lists how the simulation differs from the machine in kind.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from uncore.engine import initial_memory
from uncore.engine.gem5 import fabric
from uncore.engine.gem5.cache_parameters import Gem5Parts, core_in_use
from uncore.engine.gem5.document import Gem5Document, addresses, at, file, new, ref, refs, region
from uncore.engine.gem5.levels import Gem5Levels, levels
from uncore.engine.gem5.protocols import PROTOCOLS
from uncore.engine.outside import homes
from uncore.engine.outside.run_folder import PROGRAM_FILE

if TYPE_CHECKING:
    from uncore.job import Job

CODE_FILE = "code.bin"
# Devices of gem5's HiFive platform (src/dev/riscv/HiFive.py): address and size.
DEVICES = {
    "clint": (0x2000000, 0xC000),
    "plic": (0xC000000, 0x4000000),
    "uart": (0x10000000, 0x8),
}
INT_MAX = (1 << 31) - 1
PS_PER_SECOND = 10**12
# Product of the number of harts and the simulated time between two reports of progress. gem5 takes
# about half a second of host time to simulate that.
PROGRESS_HART_PS = 100_000_000


def describe(job: Job, protocol: str) -> dict[str, Any]:
    """Returns the gem5 simulation of a job of one thread count.

    Raises a UserError if the protocol cannot simulate it.
    """
    gem5_levels = levels(job, PROTOCOLS[protocol].several)
    return _Gem5System(job, gem5_levels, protocol).document.written()


def hertz(job: Job) -> int:
    """Returns the frequency of the harts' clock in Hz, by which the program measures time."""
    return round(PS_PER_SECOND / core_in_use(job).instruction)


class _Gem5System:
    def __init__(self, job: Job, gem5_levels: Gem5Levels, protocol: str) -> None:
        self.job, self.machine, self.levels = job, job.machine, gem5_levels
        self.document = Gem5Document(protocol, PROGRESS_HART_PS // len(gem5_levels.cores))
        self.protocol = PROTOCOLS[protocol]
        core_stops = [self.machine.core_stops[core] for core in gem5_levels.cores]
        self.stops = [
            *core_stops,
            *(bank.stop for bank in gem5_levels.banks),
            *self._memory_stops(),
        ]
        self.period = fabric.period(self.machine, self.stops)
        self.fabric = fabric.fabric(self.machine, self.stops, self.period)
        self.parts = Gem5Parts(job, gem5_levels, self.period, self.fabric.busy)
        self.harts = range(len(gem5_levels.cores))
        self._make_system()
        self._make_ruby()
        self._make_network()
        for hart in self.harts:
            self._make_hart(hart)
        self._make_devices()

    def _memory_stops(self) -> list[int]:
        return [self.machine.memories[node].stop for node in self.levels.nodes]

    # ---- common root of all objects

    def _make_system(self) -> None:
        add, nodes = self.document.add, range(len(self.levels.nodes))
        add("root", "Root", full_system=True, system=ref("system"))
        add(
            "system",
            "System",
            mem_mode="timing",
            mem_ranges=[addresses(homes.RAM_BASE, self.job.machine.ram)],
            mmap_using_noreserve=True,
            cache_line_size=self.machine.line,
            clk_domain=_clock(self.period),
            core_clock=_clock(self.parts.core.instruction),
            workload=new(
                "RiscvBareMetal",
                bootloader=file(PROGRAM_FILE),
                semihosting=new("RiscvSemihosting", cmd_line="guest"),
            ),
            ruby=ref("ruby"),
            platform=ref("platform"),
            iobus=ref("iobus"),
            loader=ref("loader"),
            cpu=refs(f"cpu{n}" for n in self.harts),
            code=refs(f"code{n}" for n in self.harts),
            memory=refs(f"memory{n}" for n in nodes),
        )
        add("iobus", "IOXBar")
        self.document.connect("system.system_port", "loader.in_ports")

    # ---- caches, memory, network

    def _make_ruby(self) -> None:
        add, protocol = self.document.add, self.protocol
        kinds = zip(
            ("private", "bank", "memory_node"),
            protocol.kinds,
            (protocol.private, protocol.bank, protocol.memory),
            (len(self.harts), len(self.levels.banks), len(self.levels.nodes)),
            strict=True,
        )
        new_objects = [
            (f"{name}{n}", kind, make, n) for name, kind, make, count in kinds for n in range(count)
        ]
        add(
            "ruby",
            "RubySystem",
            block_size_bytes=self.machine.line,
            memory_size_bits=48,
            number_of_virtual_networks=protocol.networks,
            num_of_sequencers=len(self.harts),
            network=ref("network"),
            controller=refs(name for name, *_ in new_objects),
        )
        add("loader", "RubyPortProxy", ruby_system=ref("ruby"))
        self.document.connect("loader.pio_request_port", "iobus.cpu_side_ports")
        for name, kind, make, n in new_objects:
            add(name, kind, **make(self.parts, n))
        for n in self.harts:
            self._make_sequencer(n)
        for n, node in enumerate(self.levels.nodes):
            self._make_memory(n, node)

    def _make_sequencer(self, hart: int) -> None:
        name = self.document.add(
            f"sequencer{hart}",
            "RubySequencer",
            version=hart,
            ruby_system=ref("ruby"),
            dcache=at(f"private{hart}.{self.protocol.data}"),
            deadlock_threshold=min(INT_MAX, self.job.watchdog // self.period),
        )
        for port in ("pio_request_port", "mem_request_port"):
            self.document.connect(f"{name}.{port}", "iobus.cpu_side_ports")
        self.document.connect(f"{name}.pio_response_port", "iobus.mem_side_ports")

    def _make_memory(self, number: int, node: int) -> None:
        memory = self.machine.memories[node]
        limit = (
            {"bandwidth": f"{self.machine.line * PS_PER_SECOND // memory.busy}B/s"}
            if memory.busy
            else {}
        )
        name = self.document.add(
            f"memory{number}",
            "SimpleMemory",
            range=region(homes.region(self.job, node)),
            latency=f"{max(1, memory.latency)}ps",
            **limit,
        )
        self.document.connect(f"memory_node{number}.memory_out_port", f"{name}.port")

    def _make_network(self) -> None:
        add, wires = self.document.add, self.fabric.wires
        endpoints = [f"private{n}" for n in self.harts]
        endpoints += [f"bank{n}" for n in range(len(self.levels.banks))]
        endpoints += [f"memory_node{n}" for n in range(len(self.levels.nodes))]
        add(
            "network",
            "SimpleNetwork",
            ruby_system=ref("ruby"),
            topology="uncore",
            number_of_virtual_networks=self.protocol.networks,
            control_msg_size=fabric.CONTROL_BYTES,
            endpoint_bandwidth=1,  # widths are in thousandths of a byte
            routers=refs(f"router{n}" for n in range(self.fabric.routers)),
            ext_links=refs(f"end{n}" for n in range(len(endpoints))),
            int_links=refs(f"wire{n}" for n in range(len(wires))),
            netifs=[],
        )
        output_counts = Counter(wire.source for wire in wires)
        output_counts.update(self.fabric.router[stop] for stop in self.stops)
        for n in range(self.fabric.routers):
            self._make_router(n, output_counts[n])
        self._make_ends(endpoints)
        self._make_wires(first=len(endpoints))

    def _make_ends(self, ends: list[str]) -> None:
        for n, (end, stop) in enumerate(zip(ends, self.stops, strict=True)):
            self.document.add(
                f"end{n}",
                "SimpleExtLink",
                link_id=n,
                ext_node=ref(end),
                int_node=ref(f"router{self.fabric.router[stop]}"),
                bandwidth_factor=fabric.NO_LIMIT,
                latency=1,
            )

    def _make_wires(self, first: int) -> None:
        for n, wire in enumerate(self.fabric.wires):
            self.document.add(
                f"wire{n}",
                "SimpleIntLink",
                link_id=first + n,
                src_node=ref(f"router{wire.source}"),
                dst_node=ref(f"router{wire.target}"),
                latency=wire.latency,
                weight=wire.latency,
                bandwidth_factor=wire.width,
            )
            self.document.call(f"wire{n}.setup_buffers", ref("network"))

    def _make_router(self, number: int, outputs: int) -> None:
        """Adds a router with buffers for each output.

        SimpleNetwork.setup_buffers would make as many buffers as there are inputs.  A router at the
        end of a shared medium has fewer inputs than outputs, so gem5 would read beyond the buffers.
        """
        self.document.add(
            f"router{number}",
            "Switch",
            router_id=number,
            int_routing_latency=0,
            ext_routing_latency=0,
            port_buffers=[new("SwitchPortBuffer")] * (outputs * self.protocol.networks),
        )

    # ---- harts and devices

    def _make_hart(self, number: int) -> None:
        add, connect, text = self.document.add, self.document.connect, initial_memory.text(self.job)
        devices = [addresses(*device) for device in DEVICES.values()]
        cpu = add(
            f"cpu{number}",
            "RiscvTimingSimpleCPU",
            cpu_id=number,
            clk_domain=at("system.core_clock"),
            **{"mmu.pma_checker": new("PMAChecker", uncacheable=devices)},
        )
        self.document.call(f"{cpu}.createThreads")
        self.document.call(f"{cpu}.createInterruptController")
        code = add(
            f"code{number}",
            "SimpleMemory",
            range=addresses(
                text.address, -(-len(text.data) // homes.PAGE_BYTES) * homes.PAGE_BYTES
            ),
            image_file=file(CODE_FILE),
            in_addr_map=False,
            conf_table_reported=False,
            latency="1ps",
            bandwidth="0B/s",  # no limit
        )
        connect(f"{cpu}.icache_port", f"{code}.port")
        for port in ("dcache_port", "mmu.itb.walker.port", "mmu.dtb.walker.port"):
            connect(f"{cpu}.{port}", f"sequencer{number}.in_ports")

    def _make_devices(self) -> None:
        """Adds CLINT, PLIC and UART.  The CLINT answers after the time for which an IPI occupies
        its sender, in addition to the time of the bus.
        """
        connect, send = self.document.connect, max(1, self.machine.interrupt.send)
        rtc = new("RiscvRTC", frequency=f"{hertz(self.job)}Hz")  # mtime and uc_now() count alike
        self.document.add("platform", "HiFive", rtc=rtc, **{"clint.pio_latency": f"{send}ps"})
        connect("platform.clint.int_pin", "platform.rtc.int_pin")
        for device in (*DEVICES, "pci_host"):
            connect(f"platform.{device}.pio", "iobus.mem_side_ports")
        self.document.call("platform.setNumCores", len(self.harts))
        self.document.call("platform.attachPlic")


def _clock(period: int) -> Any:
    return new("SrcClockDomain", clock=f"{period}ps", voltage_domain=new("VoltageDomain"))
