"""C8. Far atomics at the core that sends them. The resolver's part, C8.2 and C8.3, is in
resolver.py and grants.py.

Interface: `goes_far`, `send` and `answered`; `post` and `leave_buffer` for a posted AMO, whose hart
does not wait for its value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uncore.engine.reference import buffer
from uncore.engine.reference.access import Access, Done
from uncore.engine.reference.message import Message

if TYPE_CHECKING:
    from uncore.engine.reference.core import Core
    from uncore.engine.reference.hart import Hart


def goes_far(core: Core, access: Access) -> bool:
    """C8.1, C8.9: returns True if the resolver performs this AMO. With `far_owned` it performs
    every AMO, else only AMOs to lines that the core does not hold exclusively; but no AMO while a
    request or a Put of the core for the line is in flight.
    """
    if not (access.is_amo and core.costs.far_atomics):
        return False
    actions = core.caches.find(access.line).cell("Amo").actions
    return "stall" not in actions if core.costs.far_owned else "Amo" in actions


def ask(core: Core, access: Access) -> int:
    """C8.1: sends the operation, `l2_hit` after the access begins. Returns the request's number."""
    caches = core.caches
    message = Message("Amo", access.line, core.agent, 0, caches.next_number())
    message.operation = access
    caches.send_up(message, core.clock.now + core.costs.l2_hit)
    return message.number


def send(hart: Hart, access: Access) -> None:
    """C8.1: sends an AMO whose value the hart waits for."""
    hart.asked = ask(hart.core, access)


def answered(core: Core, message: Message) -> None:
    """C8.4, C8.6: handles the old value: a waiting hart continues, or a posted AMO leaves the
    buffer.
    """
    for hart in core.harts:
        if hart.asked == message.number:
            hart.answered(message.value, 0)
        elif message.number in hart.posted:
            hart.posted[message.number] = True
            core.drain(hart)


def post(hart: Hart, access: Access) -> Done | None:
    """C8.5: puts a posted AMO into the store buffer, like a store."""
    done = buffer.put(hart, access)
    if done and hart.buffer[0].is_amo:
        send_posted(hart)
    return done


def leave_buffer(hart: Hart) -> bool:
    """C8.6: returns True if the oldest entry, a posted AMO, can leave, because its old value has
    come. Sends the AMO if it has not been sent yet.
    """
    number = next(iter(hart.posted), None)
    if number is not None and hart.posted[number]:
        del hart.posted[number]
        return True
    send_posted(hart)
    return False


def send_posted(hart: Hart) -> None:
    """C8.7: sends the oldest posted AMO, and those for the same line that directly follow it."""
    oldest = hart.buffer[0]
    for position, access in enumerate(hart.buffer):
        if access.line != oldest.line or not goes_far(hart.core, access):
            return
        if position >= len(hart.posted):
            hart.posted[ask(hart.core, access)] = False
