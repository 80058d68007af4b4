"""The memory orders that a C text states, and the text with some of them weakened.

    stated(text) -> [MemoryOrder]        those stronger than relaxed, in the order of the text
    order.weaker                   each way to weaken it, the weakest first
    edited(text, edits) -> text    on the same lines
    relaxed(text)                  is any order relaxed?

An order is one word, or the absence of one, so words are enough: a parser sees through macros, but
an order in a macro or an inline function is one order however often it is used.  Where the words
do not say what an order is for, every weaker one is offered, and the compiler refuses what C does
not allow there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

C_WORD = re.compile(
    r"""(?: //(?:\\\n|[^\n])* | /\*.*?\*/ | \s )+          # between words
      | (?P<name>[A-Za-z_]\w*)
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'          # strings and characters
      | \.?\d(?:[eEpP][+-]|[\w.])*                         # numbers
      | (?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
RELAXED, SIGNAL = "relaxed", "signal fence"
# Weaker forms of each order, the weakest first.
WEAKER = {
    "consume": (RELAXED,),
    "acquire": (RELAXED,),
    "release": (RELAXED,),
    "acq_rel": (RELAXED, "acquire", "release"),
    "seq_cst": (RELAXED, "acquire", "release", "acq_rel"),
}
SPELLED = {"memory_order_": str.lower, "__ATOMIC_": str.upper}
NAMED_ORDERS = {
    prefix + case(order): (order, prefix) for prefix, case in SPELLED.items() for order in WEAKER
}
# Without _explicit, sequentially consistent.
UNSAID = re.compile(
    "atomic_(load|store|exchange|compare_exchange_(strong|weak)|fetch_(add|sub|or|xor|and)"
    "|flag_test_and_set|flag_clear)"
)
FULL_FENCE = "__sync_synchronize"


class Edit(NamedTuple):
    """The characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


class Weakening(NamedTuple):
    """One way to weaken an order."""

    to: str
    edits: tuple[Edit, ...]


class MemoryOrder(NamedTuple):
    """One order of a text; `says` is what for and how strong: "store release"."""

    line: int
    column: int
    says: str
    weaker: tuple[Weakening, ...]


def stated(text: str) -> list[MemoryOrder]:
    words = [word for word in C_WORD.finditer(text) if word["name"] or not word[0].isspace()]
    words = [word for word in words if not word[0].startswith(("//", "/*"))]
    return [
        MemoryOrder(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at), says, tuple(weaker))
        for at, says, weaker in _stated(words)
    ]


def edited(text: str, edits: Iterable[Edit]) -> str:
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def relaxed(text: str) -> bool:
    """Is any order relaxed?"""
    weakest = {prefix + case(RELAXED) for prefix, case in SPELLED.items()}
    return any(word["name"] in weakest for word in C_WORD.finditer(text))


Words = Sequence[re.Match[str]]


def _stated(words: Words) -> Iterator[tuple[int, str, Iterable[Weakening]]]:
    for n, word in enumerate(words):
        name = word["name"] or ""
        if name in NAMED_ORDERS:
            call = _call_around(words, n)
            if not call or "signal_fence" not in call[0]:
                says = f"{_short(call[0])} " if call else ""
                yield word.start(), says + NAMED_ORDERS[name][0], _of_word(word, call)
        elif UNSAID.fullmatch(name) and (end := _call_end(words, n)):
            yield word.start(), f"{_short(name)} (seq_cst)", _of_silence(word, end)
        elif name == FULL_FENCE and (end := _call_end(words, n)):
            yield word.start(), FULL_FENCE, [_fence_of_gcc(word, end)]


def _of_word(word: re.Match[str], call: re.Match[str] | None) -> Iterator[Weakening]:
    """An order that is said."""
    order, prefix = NAMED_ORDERS[word[0]]
    fence = call and "thread_fence" in call[0]
    for to in WEAKER[order]:
        if call and fence and to == RELAXED:
            name = call[0].replace("thread", "signal")
            yield Weakening(SIGNAL, (Edit(call.start(), call.end(), name),))
        elif _fits(to, call[0] if call else ""):
            spelled = prefix + SPELLED[prefix](to)
            yield Weakening(to, (Edit(word.start(), word.end(), spelled),))


def _of_silence(word: re.Match[str], end: int) -> Iterator[Weakening]:
    """An order that is not said, and so is the strongest."""
    for to in WEAKER["seq_cst"]:
        if _fits(to, word[0]):
            spelled = f", memory_order_{to}"
            if "compare" in word[0]:  # the order of a failure, which stores nothing
                spelled += f", memory_order_{'acquire' if to.startswith('acq') else RELAXED}"
            yield Weakening(
                to, (Edit(word.end(), word.end(), "_explicit"), Edit(end, end, spelled))
            )


def _fence_of_gcc(word: re.Match[str], end: int) -> Weakening:
    name = Edit(word.start(), word.end(), "__atomic_signal_fence")
    return Weakening(SIGNAL, (name, Edit(end, end, "__ATOMIC_SEQ_CST")))


def _fits(order: str, call: str) -> bool:
    """A load releases nothing, and a store acquires nothing."""
    if "_load" in call:
        return order in (RELAXED, "acquire")
    if "_store" in call or "_clear" in call:
        return order in (RELAXED, "release")
    return True


def _short(name: str) -> str:
    """`fetch_add` of `atomic_fetch_add_explicit`."""
    match = re.fullmatch(r"(?:__)?(?:c11_)?atomic_(\w+?)(?:_strong|_weak)?(?:_explicit|_n)?", name)
    return match[1].replace("compare_exchange", "cmpxchg").replace("_", " ") if match else name


def _call_around(words: Words, at: int) -> re.Match[str] | None:
    """The name of the innermost call that a word is an argument of."""
    depth = 0
    for n in range(at - 1, 0, -1):
        mark = words[n]["mark"]
        if mark and mark in ";{}#":
            return None
        depth += (mark == "(") - (mark == ")")
        if depth == 1 and words[n - 1]["name"]:
            return words[n - 1]
        depth = min(depth, 0)
    return None


def _call_end(words: Words, at: int) -> int | None:
    """Index of the last parenthesis of a call; None if the name is not called."""
    depth = 0
    for word in words[at + 1 :]:
        depth += (word["mark"] == "(") - (word["mark"] == ")")
        if depth == 0:
            return word.start() if word["mark"] == ")" else None
    return None
