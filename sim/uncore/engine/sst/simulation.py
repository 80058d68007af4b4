"""Describes a job as a simulation of SST: the SST component for each part of the machine.

    describe(job) -> the document of a Netlist

    a core                uncore.Hart, memHierarchy.Cache (L1), another (L2) if the core has one
    an inner resolver     memHierarchy.Cache at each stop of its slices, shared by its children
    the root              the same if it has data
    a memory node         memHierarchy.DirectoryController and MemController
    the fabric            a network of merlin below each resolver

The simulation includes only parts that the job's harts use, so it has no caches of idle cores, and
no slices that no used core reaches.  docs/engines.md lists how it differs from the machine in kind.
Invariant: latencies are those of the machine, in ps; those of memHierarchy are rounded to cycles of
the core's clock (parameters.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from uncore.engine.outside import homes
from uncore.engine.outside.run_folder import PROGRAM_FILE
from uncore.engine.sst.netlist import Netlist
from uncore.engine.sst.network import Network, network
from uncore.engine.sst.options import MESHES
from uncore.engine.sst.parameters import Params, SstParts
from uncore.errors import UserError
from uncore.topology.machine import Resolver
from uncore.topology.route import Routes

if TYPE_CHECKING:
    from uncore.job import Job

CORE_WIRE_PS = 1  # latency in ps between SST components of one core
# statistics of a cache: probes that take a copy away, and requests that reach the cache
LOSS_STATISTICS = ("Inv_recv", "FetchInv_recv", "ForceInv_recv")
REQUEST_STATISTICS = ("GetS_recv", "GetX_recv", "GetSX_recv")
MERLIN_TOPOLOGIES = {"router": "singlerouter", "ring": "torus", "mesh": "mesh", "full": "hyperx"}
# ports of a kingsley router, in the order in which `network` numbers those of a mesh
KINGSLEY_PORTS = ("east", "west", "north", "south")


@dataclass(frozen=True)
class _Attachment:
    """A cache or directory at a network: the slot for its network interface, its stop, and the
    cores above it.
    """

    path: str
    slot: str
    stop: int
    cores: frozenset[int] = frozenset()


def describe(job: Job, mesh: str = MESHES[0]) -> dict[str, Any]:
    """Returns the simulation of a job of one thread count; `mesh` names the element for meshes'
    routers.
    """
    return _SstSystem(job, mesh).netlist.document()


class _SstSystem:
    def __init__(self, job: Job, mesh: str) -> None:
        self.job, self.machine, self.mesh = job, job.machine, mesh
        self.parts, self.routes = SstParts(job.machine), Routes(job.machine)
        self.parts_of_core = [SstParts(job.machine, core) for core in job.machine.each_core]
        self.netlist = Netlist()
        self.harts = job.used_harts
        self.cores = [self.machine.core_of(hart) for hart in self.harts]
        self._make_harts()
        below = {core: [self._make_core(core)] for core in self.cores}
        for number, resolver in enumerate(self.machine.resolvers):
            attachments = [
                attachment for child in resolver.children for attachment in below.get(child, [])
            ]
            if resolver.parents and attachments:
                below[self.machine.cores + number] = self._make_level(resolver, attachments)
        self._make_root(below)

    # ---- cores

    def _make_harts(self) -> None:
        for number, core in enumerate(self.cores):
            parts = self.parts_of_core[core]
            params = parts.hart(number, len(self.harts), PROGRAM_FILE, self.job.watchdog)
            self.netlist.component(f"hart{number}", "uncore.Hart", params, number)
        stops = [self.machine.core_stops[core] for core in self.cores]
        for a in range(len(stops)):
            for b in range(a + 1, len(stops)):
                a_to_b = self.routes.distances(stops[b])[stops[a]]
                b_to_a = self.routes.distances(stops[a])[stops[b]]
                self.netlist.link(
                    (f"hart{a}", f"hart{b}", a_to_b), (f"hart{b}", f"hart{a}", b_to_a)
                )

    def _make_core(self, core: int) -> _Attachment:
        """Adds a core's private caches and returns the lowest one, which is connected to the
        network.
        """
        number, parts = self.cores.index(core), self.parts_of_core[core]
        interface = self.netlist.slot(
            f"hart{number}", "memory", "memHierarchy.standardInterface", {}
        )
        stop = self.machine.core_stops[core]
        lowest = self._cache(f"l1_{number}", parts.l1(), number)
        self.netlist.link((interface, "lowlink", CORE_WIRE_PS), (lowest, "highlink", CORE_WIRE_PS))
        if parts.core.l2_ways:
            upper, lowest = lowest, self._cache(f"l2_{number}", parts.l2(), number)
            self.netlist.link((upper, "lowlink", CORE_WIRE_PS), (lowest, "highlink", CORE_WIRE_PS))
        self.netlist.count(lowest, *LOSS_STATISTICS)
        return _Attachment(lowest, "lowlink", stop, frozenset({core}))

    def _cache(self, name: str, params: Params, part: int) -> str:
        return self.netlist.component(name, "memHierarchy.Cache", params, part)

    # ---- shared levels

    def _make_level(self, resolver: Resolver, uppers: Sequence[_Attachment]) -> list[_Attachment]:
        """Adds an inner resolver's slices and the network above them; returns the slices as the
        caches above the next level.
        """
        slices = self._make_slices(resolver, uppers)
        self._connect(resolver.name, [uppers, slices])
        return [replace(slice_, slot="lowlink") for slice_ in slices]

    def _make_slices(self, resolver: Resolver, uppers: Sequence[_Attachment]) -> list[_Attachment]:
        stops = list(dict.fromkeys(resolver.slices))
        cores = frozenset(core for upper in uppers for core in upper.cores)
        attachments = []
        for number, stop in enumerate(stops):
            params = self.parts.shared(resolver, number, len(stops), len(cores))
            path = self._cache(f"{resolver.name}_{number}", params, self._part(uppers, number))
            self.netlist.count(path, *REQUEST_STATISTICS)
            attachments.append(_Attachment(path, "highlink", stop, cores))
        return attachments

    def _part(self, uppers: Sequence[_Attachment], number: int) -> int:
        """Returns the part of one of the caches above, so that the slices are spread over the parts
        of these caches.
        """
        return int(
            self.netlist.part(uppers[number * len(uppers) // max(len(uppers), number + 1)].path)
        )

    # ---- memory

    def _make_root(self, below: dict[int, list[_Attachment]]) -> None:
        roots = [resolver for resolver in self.machine.resolvers if not resolver.parents]
        self._refuse_slices_below_slices(roots[0], below)
        children = dict.fromkeys(child for root in roots for child in root.children)
        uppers = [attachment for child in children for attachment in below.get(child, [])]
        levels: list[Sequence[_Attachment]] = [uppers]
        if roots[0].data != "none":
            levels.append(self._make_slices(roots[0], uppers))
        levels.append([self._make_home(roots, node) for node in homes.nodes(self.job)])
        self._connect("system", levels)

    def _refuse_slices_below_slices(
        self, root: Resolver, below: dict[int, list[_Attachment]]
    ) -> None:
        """Raises a UserError for a last level of several slices below another shared level, because
        memHierarchy finds no route from the cores to these slices (sst-elements of 2026).
        """
        inner = [n for n in below if n >= self.machine.cores]
        if root.data != "none" and len(set(root.slices)) > 1 and inner:
            name = self.machine.resolvers[inner[0] - self.machine.cores].name
            raise UserError(
                f"{self.machine.id}: {name} stands between cores and a last level of several"
                " slices, through which memHierarchy finds no way; write --with"
                f" {root.level}.resolver.slices=1"
            )

    def _make_home(self, roots: Sequence[Resolver], node: int) -> _Attachment:
        memory = self.machine.memories[node]
        root = next((root for root in roots if root.memory == node), roots[0])
        # if the root has slices, they own the lines, and this directory only forwards requests
        is_forwarding = root.data != "none"
        stop = memory.stop if is_forwarding else root.slices[0]
        part = node * len(self.harts) // len(self.machine.memories)
        region = self._region(node)
        directory = self.netlist.component(
            f"home{node}",
            "memHierarchy.DirectoryController",
            self.parts.directory(0 if is_forwarding else root.service, region),
            part,
        )
        self.netlist.count(directory, *REQUEST_STATISTICS)
        path = self.netlist.component(
            f"memory{node}", "memHierarchy.MemController", self.parts.memory(region), part
        )
        size = self.machine.ram
        self.netlist.slot(
            path, "backend", "memHierarchy.simpleMem", self.parts.backend(memory.latency, size)
        )
        to_memory = self.routes.distances(memory.stop)[stop]
        from_memory = self.routes.distances(stop)[memory.stop]
        self.netlist.link((directory, "lowlink", to_memory), (path, "highlink", from_memory))
        return _Attachment(directory, "highlink", stop)

    def _region(self, node: int) -> Params:
        """Returns the addresses of a node (rule A4)."""
        home = homes.region(self.job, node)
        first, last = home.start, home.start + home.size - 1
        if home.num_nodes == 1:
            return {"addr_range_start": first, "addr_range_end": last}
        turns_before, turns_after = home.node_index, home.num_nodes - home.node_index - 1
        return {
            "addr_range_start": first + turns_before * homes.PAGE_BYTES,
            "addr_range_end": last - turns_after * homes.PAGE_BYTES,
            "interleave_size": f"{homes.PAGE_BYTES}B",
            "interleave_step": f"{home.num_nodes * homes.PAGE_BYTES}B",
        }

    # ---- the fabric

    def _connect(self, name: str, levels: Sequence[Sequence[_Attachment]]) -> None:
        """Adds a network between levels of caches: each level sends requests to the next one, and
        probes to the previous one.
        """
        attachments = {attachment.path: attachment for level in levels for attachment in level}
        net = network(self.machine, self.routes, {path: s.stop for path, s in attachments.items()})
        element = self.mesh if net.shape == "mesh" else "merlin"
        routers = [self._make_router(name, net, n, element) for n in range(len(net.stops))]
        hop = self.parts.hop(net)
        interfaces = {
            attachment.path: self._make_interface(attachment, group, net, element)
            for group, level in enumerate(levels, 1)
            for attachment in level
        }
        for cable in net.cables:
            self.netlist.link(
                (*interfaces[cable.endpoint], cable.up),
                (routers[cable.router], _port(cable.port, element), cable.down - hop),
            )
        for wire in net.wires:
            self.netlist.link(
                (
                    routers[wire.source],
                    _port(wire.source_port, element),
                    wire.latency_to_target - hop,
                ),
                (
                    routers[wire.target],
                    _port(wire.target_port, element),
                    wire.latency_to_source - hop,
                ),
            )

    def _make_interface(
        self, attachment: _Attachment, group: int, net: Network, element: str
    ) -> tuple[str, str]:
        """Adds a cache's interface to a network; returns it and its port."""
        params = self.parts.nic(group, [group - 1], [group + 1])
        if element == "merlin":
            params |= self.parts.merlin_link(net)
        nic = self.netlist.slot(attachment.path, attachment.slot, "memHierarchy.MemNIC", params)
        if element == "merlin":
            return nic, "port"
        control = self.parts.kingsley_link(net)
        return self.netlist.slot(nic, "linkcontrol", "kingsley.linkcontrol", control), "rtr_port"

    def _make_router(self, name: str, net: Network, number: int, element: str) -> str:
        endpoints = [cable.endpoint for cable in net.cables if cable.router == number]
        part = self.netlist.part(endpoints[0]) if endpoints else 0
        name = f"{name}_net_{number}"
        if element == "kingsley":
            params = self.parts.kingsley(net)
            return self.netlist.component(name, "kingsley.noc_mesh", params, part)
        params = self.parts.merlin(number, net)
        path = self.netlist.component(name, "merlin.hr_router", params, part)
        shape = {} if net.shape == "router" else {"shape": net.size, "local_ports": net.local}
        self.netlist.slot(path, "topology", f"merlin.{MERLIN_TOPOLOGIES[net.shape]}", shape)
        return path


def _port(number: int, element: str) -> str:
    """Returns the element's name of a port; in a mesh, the ports to neighbouring routers have lower
    numbers than those to endpoints.
    """
    if element == "merlin":
        return f"port{number}"
    sides = len(KINGSLEY_PORTS)
    return KINGSLEY_PORTS[number] if number < sides else f"local{number - sides}"
