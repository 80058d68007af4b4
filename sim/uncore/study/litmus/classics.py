"""The classical litmus tests, each in all variants.

Names and shapes are those of Alglave, Maranget and Tautschnig, "Herding cats" (2014); the RISC-V
memory model was developed with the tests of this paper. A shape states which locations each thread
loads and stores. A variant states how: with plain accesses, with fences, with acquire and release
atomics, or with LR/SC. With dependencies, PPO is the tests ppoaa and ppoca of the paper. SRR is S
with an additional load in the second thread, to test address dependencies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from uncore.study.litmus.events import DEPENDENCIES, Link, Litmus, LitmusAccess, Style

# `|` separates threads; Wx1 stores 1 to x, Rx loads x.
SHAPES = {
    "MP": "Wx1 Wy1 | Ry Rx",
    "SB": "Wx1 Ry | Wy1 Rx",
    "LB": "Rx Wy1 | Ry Wx1",
    "S": "Wx2 Wy1 | Ry Wx1",
    "R": "Wx1 Wy1 | Wy2 Rx",
    "2+2W": "Wx1 Wy2 | Wy1 Wx2",
    "IRIW": "Wx1 | Wy1 | Rx Ry | Ry Rx",
    "WRC": "Wx1 | Rx Wy1 | Ry Rx",
    "RWC": "Wx1 | Rx Ry | Wy1 Rx",
    "CoRR": "Wx1 | Rx Rx",
    "CoWW": "Wx1 Wx2 | Rx Rx",
    "CoWR": "Wx1 Rx | Wx2",
    "CoRW": "Rx Wx1 | Wx2",
    "PPO": "Wx1 Wy1 | Ry Wz1 Rz Rx",
    "SRR": "Wx1 Wy1 | Ry Rz Wx2",
}

# Changes an access of a plain shape. The arguments are the number of its thread, and the access.
Change = Callable[[int, LitmusAccess], LitmusAccess]


def parse(text: str) -> tuple[tuple[LitmusAccess, ...], ...]:
    """Parses a value of SHAPES into threads of plain accesses."""
    return tuple(
        tuple(LitmusAccess(word[0] == "W", word[1], int(word[2:] or 0)) for word in thread.split())
        for thread in text.split("|")
    )


def tests() -> list[Litmus]:
    """Returns every shape in every variant; leaves out variants that are equal to earlier ones."""
    distinct: dict[tuple[tuple[LitmusAccess, ...], ...], Litmus] = {}
    for name, text in SHAPES.items():
        plain = parse(text)
        for variant, change in _variants(len(plain)):
            threads = tuple(
                _with_valid_links([change(number, access) for access in thread], thread)
                for number, thread in enumerate(plain)
            )
            distinct.setdefault(threads, Litmus(name, variant, threads))
    return list(distinct.values())


def _variants(threads: int) -> Iterator[tuple[str, Change]]:
    yield "", lambda _, access: access
    links: tuple[Link, ...] = ("fence rw,rw", "fence.tso", "fence w,w", "fence r,r", *DEPENDENCIES)
    for link in links:
        yield link, _with_link(link, set(range(threads)))
    # fences in some threads only; accesses of the other threads may still be reordered
    for fences in product((False, True), repeat=threads):
        fenced_threads = {number for number, is_fenced in enumerate(fences) if is_fenced}
        if fenced_threads:
            label = "+".join("fence" if is_fenced else "po" for is_fenced in fences)
            yield label, _with_link("fence rw,rw", fenced_threads)
            for link in DEPENDENCIES:
                yield label.replace("po", link), _with_fence_or_link(fenced_threads, link)
    styles: tuple[Style, ...] = ("amo", "amo.aqrl", "lrsc")
    for style in styles:
        yield style, _with_styles(style, style)
    yield "amo.aq/rl", _with_styles("amo.aq", "amo.rl")
    yield "y amo.aq/rl", _acquire_release_on_y
    yield "loads amo.aq", _with_styles("amo.aq", "plain")
    yield "stores amo.rl", _with_styles("plain", "amo.rl")
    yield "stores lrsc", _with_styles("plain", "lrsc")


def _with_link(link: Link, threads: set[int]) -> Change:
    return lambda number, access: replace(access, link=link) if number in threads else access


def _with_fence_or_link(fenced: set[int], other: Link) -> Change:
    return lambda number, access: replace(access, link="fence rw,rw" if number in fenced else other)


def _with_styles(load: Style, store: Style) -> Change:
    return lambda _, access: replace(access, style=store if access.store else load)


def _acquire_release_on_y(_: int, access: LitmusAccess) -> LitmusAccess:
    """Turns loads of y into acquires and stores to y into releases, as if y were a flag that
    publishes the other data.
    """
    if access.location != "y":
        return access
    return replace(access, style="amo.rl" if access.store else "amo.aq")


def _with_valid_links(
    changed: list[LitmusAccess], plain: tuple[LitmusAccess, ...]
) -> tuple[LitmusAccess, ...]:
    """Removes invalid links: those of the first access, and dependencies on stores."""
    links: list[Link] = ["po"]
    for previous, access in zip(plain, changed[1:], strict=False):
        links.append("po" if access.link in DEPENDENCIES and previous.store else access.link)
    return tuple(replace(a, link=link) for a, link in zip(changed, links, strict=True))
