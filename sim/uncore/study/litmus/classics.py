"""The classical litmus tests, each in all variants.

Names and shapes are those of Alglave, Maranget and Tautschnig, "Herding cats" (2014), whose tests
the RISC-V memory model was developed with. A shape states which thread loads and stores what. A
variant states how: without anything between two accesses, with fences, with acquire and release
atomics, or with LR/SC. PPO is their ppoaa and ppoca, with dependencies. SRR is S with a load
between, to test address dependencies.
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

# Changes an access of a plain shape. Arguments: the number of its thread, and the access.
Change = Callable[[int, LitmusAccess], LitmusAccess]


def parse(text: str) -> tuple[tuple[LitmusAccess, ...], ...]:
    """Parses a line of SHAPES: threads of plain accesses."""
    return tuple(
        tuple(LitmusAccess(word[0] == "W", word[1], int(word[2:] or 0)) for word in thread.split())
        for thread in text.split("|")
    )


def tests() -> list[Litmus]:
    """Returns every shape in every variant; a variant equal to an earlier one is left out."""
    distinct: dict[tuple[tuple[LitmusAccess, ...], ...], Litmus] = {}
    for name, text in SHAPES.items():
        plain = parse(text)
        for variant, change in _variants(len(plain)):
            threads = tuple(
                _first_unlinked([change(number, access) for access in thread], thread)
                for number, thread in enumerate(plain)
            )
            distinct.setdefault(threads, Litmus(name, variant, threads))
    return list(distinct.values())


def _variants(threads: int) -> Iterator[tuple[str, Change]]:
    yield "", lambda _, access: access
    links: tuple[Link, ...] = ("fence rw,rw", "fence.tso", "fence w,w", "fence r,r", *DEPENDENCIES)
    for link in links:
        yield link, _linked(link, set(range(threads)))
    # A fence in some threads only: the others may still be reordered.
    for has_fence in product((False, True), repeat=threads):
        fenced_threads = {number for number, has in enumerate(has_fence) if has}
        if fenced_threads:
            label = "+".join("fence" if has else "po" for has in has_fence)
            yield label, _linked("fence rw,rw", fenced_threads)
            for link in DEPENDENCIES:
                yield label.replace("po", link), _mixed(fenced_threads, link)
    styles: tuple[Style, ...] = ("amo", "amo.aqrl", "lrsc")
    for style in styles:
        yield style, _styled(style, style)
    yield "amo.aq/rl", _styled("amo.aq", "amo.rl")
    yield "y amo.aq/rl", _published
    yield "loads amo.aq", _styled("amo.aq", "plain")
    yield "stores amo.rl", _styled("plain", "amo.rl")
    yield "stores lrsc", _styled("plain", "lrsc")


def _linked(link: Link, threads: set[int]) -> Change:
    return lambda number, access: replace(access, link=link) if number in threads else access


def _mixed(fenced: set[int], other: Link) -> Change:
    return lambda number, access: replace(access, link="fence rw,rw" if number in fenced else other)


def _styled(load: Style, store: Style) -> Change:
    return lambda _, access: replace(access, style=store if access.store else load)


def _published(_: int, access: LitmusAccess) -> LitmusAccess:
    """Makes accesses to y acquire loads and release stores, like a flag that publishes other
    data.
    """
    if access.location != "y":
        return access
    return replace(access, style="amo.rl" if access.store else "amo.aq")


def _first_unlinked(
    changed: list[LitmusAccess], plain: tuple[LitmusAccess, ...]
) -> tuple[LitmusAccess, ...]:
    """Makes the links valid: none before the first access, and dependencies only on loads."""
    links: list[Link] = ["po"]
    for before, access in zip(plain, changed[1:], strict=False):
        links.append("po" if access.link in DEPENDENCIES and before.store else access.link)
    return tuple(replace(a, link=link) for a, link in zip(changed, links, strict=True))
