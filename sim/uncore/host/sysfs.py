"""Reads this computer's description from Linux's /sys and /proc.

    read(root, only) -> Computer  `root` is a tree like "/", perhaps recorded on another computer
    setting(root) -> Setting      settings that affect measurements: kernel, clocks, governor, host

The formats are those of the kernel's Documentation/ABI/stable/sysfs-devices-system-cpu and -node. A
file that a kernel or a virtual machine leaves out is an unknown fact, not an error; only a computer
without any processor cannot be described.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from uncore.errors import UserError
from uncore.host.computer import Cache, Computer, Cpu, Node, cpu_list, of_one_line

UNIT_BYTES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Setting(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the computer; an empty text means that the system did not report it."""

    kernel: Annotated[str, Meta(description="release")]
    clock_source: Annotated[
        str, Meta(description="source of the kernel's clock, with which everything is timed")
    ]
    hypervisor: Annotated[str, Meta(description="name of the hypervisor; empty if none is visible")]
    governor: Annotated[str, Meta(description="governor of the processors' clocks")]
    boost: Annotated[str, Meta(description="1: clocks above the nominal one are allowed")]
    smt: Annotated[str, Meta(description="on, off, notsupported, ...")]
    microcode: Annotated[str, Meta(description="revision")]
    load: Annotated[float, Meta(description="mean number of runnable tasks in the minute before")]


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path, default: int = 0) -> int:
    text = _text(path)
    return int(text) if text.lstrip("-").isdigit() else default


def read(root: Path = Path("/"), only: Collection[int] | None = None) -> Computer:
    """Reads all processors that are online, or those of them in `only`."""
    system = root / "sys/devices/system"
    online = cpu_list(_text(system / "cpu/online"))
    online = online if only is None else tuple(cpu for cpu in online if cpu in only)
    if not online:
        raise UserError(
            f"{system / 'cpu/online'}: expected the processors that are online, like 0-63;"
            " uncore measure needs Linux with /sys, or --hwloc FILE to describe another machine"
        )
    cpuinfo = _cpuinfo(root)
    mhz, clock = _clock(system, online[0], cpuinfo)
    present = cpu_list(_text(system / "cpu/present"))
    return Computer(
        vendor=cpuinfo.get("vendor_id", ""),
        family=_int(cpuinfo.get("cpu family", "")),
        model=_int(cpuinfo.get("model", "")),
        name=cpuinfo.get("model name", "unknown processor"),
        mhz=mhz,
        clock=clock,
        cpus=tuple(_cpu(system, number, online) for number in online),
        offline=tuple(sorted(set(present) - set(online))),
        caches=_caches(system, online),
        nodes=_nodes(system, online),
        source="sysfs",
    )


def _cpuinfo(root: Path) -> dict[str, str]:
    """Returns the entry of the first processor in /proc/cpuinfo; the keys that are used have the
    same values for the others.
    """
    lines = _text(root / "proc/cpuinfo").split("\n\n")[0].splitlines()
    pairs = (line.partition(":") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _int(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _clock(system: Path, cpu: int, cpuinfo: dict[str, str]) -> tuple[float, str]:
    if khz := _number(system / f"cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"):
        return khz / 1000, "cpufreq: highest clock"
    now = cpuinfo.get("cpu MHz", "")
    try:
        return float(now), "/proc/cpuinfo: clock at the time; the boost clock is not told"
    except ValueError:
        return 0, ""


def _cpu(system: Path, number: int, online: tuple[int, ...]) -> Cpu:
    topology = system / f"cpu/cpu{number}/topology"
    # older kernels have only the second name
    names = ("core_cpus_list", "thread_siblings_list")
    siblings = next(filter(None, (_text(topology / name) for name in names)), str(number))
    return Cpu(
        number=number,
        # some machines report -1: unknown
        package=max(0, _number(topology / "physical_package_id")),
        die=max(0, _number(topology / "die_id")),
        core=tuple(cpu for cpu in cpu_list(siblings) if cpu in online) or (number,),
        mhz=_number(system / f"cpu/cpu{number}/cpufreq/cpuinfo_max_freq") / 1000,
    )


def _caches(system: Path, online: tuple[int, ...]) -> tuple[Cache, ...]:
    caches = set()
    for number in online:
        for index in (system / f"cpu/cpu{number}/cache").glob("index[0-9]*"):
            if _text(index / "type") != "Instruction":
                caches.add(_cache(index, number, online))
    return of_one_line(caches)


def _cache(index: Path, cpu: int, online: tuple[int, ...]) -> Cache:
    size = _text(index / "size")
    sharing_cpus = cpu_list(_text(index / "shared_cpu_list")) or (cpu,)
    return Cache(
        level=_number(index / "level"),
        size=_int(size[:-1]) * UNIT_BYTES[size[-1]] if size[-1:] in UNIT_BYTES else _int(size),
        ways=_number(index / "ways_of_associativity"),
        cpus=tuple(cpu for cpu in sharing_cpus if cpu in online),
        line=_number(index / "coherency_line_size"),
    )


def _nodes(system: Path, online: tuple[int, ...]) -> tuple[Node, ...]:
    """Returns the memory nodes; numbers may have gaps, and a kernel without NUMA has one node."""
    paths = sorted((system / "node").glob("node[0-9]*"), key=lambda p: int(p.name[4:]))
    nodes = [
        Node(
            number=int(path.name[4:]),
            cpus=tuple(cpu for cpu in cpu_list(_text(path / "cpulist")) if cpu in online),
            memory=_memory(path),
        )
        for path in paths
    ]
    return tuple(nodes) or (Node(0, online, 1),)


def _memory(node: Path) -> int:
    for line in _text(node / "meminfo").splitlines():
        words = line.split()
        if "MemTotal:" in words:
            return int(words[words.index("MemTotal:") + 1]) * 1024
    return 0


def setting(root: Path = Path("/")) -> Setting:
    system = root / "sys/devices/system"
    cpuinfo = _cpuinfo(root)
    load = _text(root / "proc/loadavg").split()
    return Setting(
        kernel=_text(root / "proc/sys/kernel/osrelease"),
        clock_source=_text(system / "clocksource/clocksource0/current_clocksource"),
        hypervisor=_hypervisor(root, cpuinfo),
        governor=_text(system / "cpu/cpu0/cpufreq/scaling_governor"),
        boost=_text(system / "cpu/cpufreq/boost"),
        smt=_text(system / "cpu/smt/control"),
        microcode=cpuinfo.get("microcode", ""),
        load=float(load[0]) if load else 0.0,
    )


def _hypervisor(root: Path, cpuinfo: dict[str, str]) -> str:
    """Returns the hypervisor's name, from the firmware's tables or Xen; "" if CPUID reports
    none.
    """
    if "hypervisor" not in cpuinfo.get("flags", "").split():
        return ""
    names = (_text(root / "sys/hypervisor/type"), _text(root / "sys/class/dmi/id/sys_vendor"))
    return next(filter(None, names), "yes, of a name not told")
