"""Writes objects of hwloc as XML text, for tests.

nested(("Package", 2, ""), ("Core", 4, ""), ("PU", 2, ""))    2 packages, each with 4 cores of 2 PUs
document(objects, more)                                       a complete file
"""

from __future__ import annotations

from math import prod


def nested(*kinds: tuple[str, int, str], first: int = 0) -> str:
    """Returns nested objects of hwloc. Each of `kinds` is (type, number in its parent, XML
    attributes).
    """
    if not kinds:
        return ""
    (kind, many, more), *inner = kinds
    each = prod(count for _, count, _ in inner)
    numbers = range(first, first + many * each, each)
    return "".join(
        f"<object type='{kind}' os_index='{number // each}' {more}>"
        f"{nested(*inner, first=number)}</object>"
        for number in numbers
    )


def document(objects: str, more: str = "") -> str:
    return f"<topology version='2.0'><object type='Machine'>{objects}</object>{more}</topology>"


def cache(kib: int, ways: int = 8) -> str:
    return f"cache_size='{kib << 10}' cache_associativity='{ways}'"


def node(number: int, cpus: int, many: int) -> str:
    """Returns a memory node of `many` processors, beginning with the processor `cpus`."""
    arguments = [
        ((1 << many) - 1 << cpus) >> 32 * word & 0xFFFFFFFF
        for word in range((cpus + many) // 32 + 1)
    ]
    cpuset = ",".join(f"{word:#010x}" for word in reversed(arguments))
    return f"<object type='NUMANode' os_index='{number}' local_memory='8' cpuset='{cpuset}'/>"
