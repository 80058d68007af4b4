"""Finds the memory orders in a C text, and weakens some of them.

    stated(text) -> [MemoryOrder]   finds the orders stronger than relaxed, in the order of the text
    order.weaker                    ways to weaken an order, with the weakest first
    edited(text, edits) -> text     applies edits; line numbers stay the same
    relaxed(text)                   returns True if any order is relaxed

The text is split into words but not parsed. An order is a single word, or a call that names no
order and so is sequentially consistent. This finds orders in macros, too; an order in a macro or an
inline function counts once, even if it is used several times. If the words around an order do not
tell to which operation it belongs, all weaker orders are tried, and the compiler rejects those that
C forbids for this operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

C_WORD_PATTERN = re.compile(
    r"""(?: //(?:\\\n|[^\n])* | /\*.*?\*/ | \s )+          # comments and blanks between words
      | (?P<name>[A-Za-z_]\w*)
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'          # strings and characters
      | \.?\d(?:[eEpP][+-]|[\w.])*                         # numbers
      | (?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
RELAXED, SIGNAL_FENCE = "relaxed", "signal fence"
# Weaker forms of each order, the weakest first.
WEAKER = {
    "consume": (RELAXED,),
    "acquire": (RELAXED,),
    "release": (RELAXED,),
    "acq_rel": (RELAXED, "acquire", "release"),
    "seq_cst": (RELAXED, "acquire", "release", "acq_rel"),
}
ORDER_SPELLINGS = {"memory_order_": str.lower, "__ATOMIC_": str.upper}
NAMED_ORDERS = {
    prefix + case(order): (order, prefix)
    for prefix, case in ORDER_SPELLINGS.items()
    for order in WEAKER
}
# Calls without `_explicit` are sequentially consistent.
IMPLICIT_ORDER_CALL_PATTERN = re.compile(
    "atomic_(load|store|exchange|compare_exchange_(strong|weak)|fetch_(add|sub|or|xor|and)"
    "|flag_test_and_set|flag_clear)"
)
FULL_FENCE = "__sync_synchronize"


class Edit(NamedTuple):
    """Replaces the characters from `start` to `end` by `text`."""

    start: int
    end: int
    text: str


class Weakening(NamedTuple):
    """One way to weaken an order: the name of the weaker order, and the edits of the text."""

    order: str
    edits: tuple[Edit, ...]


class MemoryOrder(NamedTuple):
    """One memory order in a text; `says` is its operation and order, such as "store release"."""

    line: int
    column: int
    says: str
    weaker: tuple[Weakening, ...]


def stated(text: str) -> list[MemoryOrder]:
    words = [
        word for word in C_WORD_PATTERN.finditer(text) if word["name"] or not word[0].isspace()
    ]
    words = [word for word in words if not word[0].startswith(("//", "/*"))]
    return [
        MemoryOrder(
            text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start), says, tuple(weaker)
        )
        for start, says, weaker in _stated_orders(words)
    ]


def edited(text: str, edits: Iterable[Edit]) -> str:
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def relaxed(text: str) -> bool:
    """True if any order in the text is relaxed."""
    weakest = {prefix + case(RELAXED) for prefix, case in ORDER_SPELLINGS.items()}
    return any(word["name"] in weakest for word in C_WORD_PATTERN.finditer(text))


Words = Sequence[re.Match[str]]


def _stated_orders(words: Words) -> Iterator[tuple[int, str, Iterable[Weakening]]]:
    for n, word in enumerate(words):
        name = word["name"] or ""
        if name in NAMED_ORDERS:
            call = _call_around(words, n)
            if not call or "signal_fence" not in call[0]:
                says = f"{_short_name(call[0])} " if call else ""
                yield word.start(), says + NAMED_ORDERS[name][0], _named_weakenings(word, call)
        elif IMPLICIT_ORDER_CALL_PATTERN.fullmatch(name) and (end := _call_end(words, n)):
            yield word.start(), f"{_short_name(name)} (seq_cst)", _implicit_weakenings(word, end)
        elif name == FULL_FENCE and (end := _call_end(words, n)):
            yield word.start(), FULL_FENCE, [_fence_of_gcc(word, end)]


def _named_weakenings(word: re.Match[str], call: re.Match[str] | None) -> Iterator[Weakening]:
    """Yields the ways to weaken an order that the text names."""
    order, prefix = NAMED_ORDERS[word[0]]
    is_fence = call and "thread_fence" in call[0]
    for weak in WEAKER[order]:
        if call and is_fence and weak == RELAXED:
            name = call[0].replace("thread", "signal")
            yield Weakening(SIGNAL_FENCE, (Edit(call.start(), call.end(), name),))
        elif _is_valid(weak, call[0] if call else ""):
            spelled = prefix + ORDER_SPELLINGS[prefix](weak)
            yield Weakening(weak, (Edit(word.start(), word.end(), spelled),))


def _implicit_weakenings(word: re.Match[str], end: int) -> Iterator[Weakening]:
    """Yields the ways to weaken a call that names no order, and so is sequentially consistent."""
    for weak in WEAKER["seq_cst"]:
        if _is_valid(weak, word[0]):
            spelled = f", memory_order_{weak}"
            if "compare" in word[0]:  # also states the order on failure, when nothing is stored
                spelled += f", memory_order_{'acquire' if weak.startswith('acq') else RELAXED}"
            yield Weakening(
                weak, (Edit(word.end(), word.end(), "_explicit"), Edit(end, end, spelled))
            )


def _fence_of_gcc(word: re.Match[str], end: int) -> Weakening:
    name = Edit(word.start(), word.end(), "__atomic_signal_fence")
    return Weakening(SIGNAL_FENCE, (name, Edit(end, end, "__ATOMIC_SEQ_CST")))


def _is_valid(order: str, call: str) -> bool:
    """Returns False for a load with a release order and for a store with an acquire order."""
    if "_load" in call:
        return order in (RELAXED, "acquire")
    if "_store" in call or "_clear" in call:
        return order in (RELAXED, "release")
    return True


def _short_name(name: str) -> str:
    """Returns the short name of an atomic call: "fetch add" for `atomic_fetch_add_explicit`."""
    match = re.fullmatch(r"(?:__)?(?:c11_)?atomic_(\w+?)(?:_strong|_weak)?(?:_explicit|_n)?", name)
    return match[1].replace("compare_exchange", "cmpxchg").replace("_", " ") if match else name


def _call_around(words: Words, index: int) -> re.Match[str] | None:
    """Returns the name of the innermost call that has this word in its arguments, or None."""
    depth = 0
    for n in range(index - 1, 0, -1):
        mark = words[n]["mark"]
        if mark and mark in ";{}#":
            return None
        depth += (mark == "(") - (mark == ")")
        if depth == 1 and words[n - 1]["name"]:
            return words[n - 1]
        depth = min(depth, 0)
    return None


def _call_end(words: Words, index: int) -> int | None:
    """Returns the position in the text of the closing parenthesis of the call whose name is the
    word at `index`; None if that word is no call.
    """
    depth = 0
    for word in words[index + 1 :]:
        depth += (word["mark"] == "(") - (word["mark"] == ")")
        if depth == 0:
            return word.start() if word["mark"] == ")" else None
    return None
