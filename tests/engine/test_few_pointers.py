"""Counts the children that a write probes at a directory with few pointers, by the number of
sharers (R11).

The figures agree with the literature: Agarwal, Simoni, Hennessy and Horowitz, "An evaluation of
directory schemes for cache coherence" (ISCA 1988), and Gupta, Weber and Mowry, "Reducing memory and
traffic requirements for scalable directory-based cache coherence schemes" (ICPP 1990).
"""

from __future__ import annotations

from math import ceil, log2

import polars
import pytest
from tests.support.runs import guest, logged

POINTERS = 4
START = 1_000_000_000  # ps; from programs/readers.c


def probes(cores: int, overflow: str, sharers: int) -> list[int]:
    """Cores read one line one after another, and then core 0 writes it. Returns the number of
    children probed by each of these requests.
    """
    pointer_settings = {"pointers": POINTERS, "overflow": overflow} if overflow else {}
    resolver = {"knows": "directory", **pointer_settings}
    overrides = {f"system.resolver.{key}": value for key, value in resolver.items()}
    width = 1 << (cores.bit_length() - 1) // 2
    mesh = f"mesh:{cores // width}x{width}"
    table, _ = logged(mesh, guest("readers"), cores, overrides=overrides, readers=sharers)
    records = table.filter(polars.col("request") >= START).sort("request")
    address = records.filter((polars.col("requester") == 0) & (polars.col("op") == "GetM"))[
        "line"
    ].first()
    return records.filter(polars.col("line") == address)["probes"].to_list()


def in_regions(cores: int, sharers: int) -> int:
    """Returns the number of children that a coarse vector probes: all in regions with a sharer."""
    region_size = ceil(cores / (POINTERS * ceil(log2(cores))))
    sharing_regions = {(1 + k * (cores - 1) // sharers) // region_size for k in range(sharers)}
    return sum(core // region_size in sharing_regions for core in range(1, cores))


@pytest.mark.parametrize("cores", [16, 64, pytest.param(256, marks=pytest.mark.long)])
@pytest.mark.parametrize("count", [2, 4, 5, 8, 12])
def test_write_probes_as_many_children_as_its_directory_scheme_implies(
    cores: int, count: int
) -> None:
    fits = count <= POINTERS
    expected = {
        "": count,
        "broadcast": count if fits else cores - 1,
        "coarse": count if fits else in_regions(cores, count),
        "evict": min(count, POINTERS),
    }
    written = {overflow: probes(cores, overflow, count)[-1] for overflow in expected}
    assert written == expected


@pytest.mark.parametrize("count", [4, 9])
def test_each_read_beyond_the_pointers_evicts_one_copy(count: int) -> None:
    """The second read probes the first reader, because that was the owner."""
    reads = probes(16, "evict", count)[:-1]
    assert reads == [0, 1] + [0] * (POINTERS - 2) + [1] * (count - POINTERS)
