"""C8. Far atomics at the core that sends them; the resolver's part is C8.2 and C8.3 there.

Interface: `goes_far`, `send` and `answered`; `post` and `leave_buffer` for those nobody waits for.
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
    """C8.1, C8.9: any AMO, or one on a line that the core does not hold alone; but none while
    something of the core's is under way for the line."""
    if not (access.is_amo and core.costs.far_atomics):
        return False
    actions = core.caches.find(access.line).cell("Amo").actions
    return "stall" not in actions if core.costs.far_owned else "Amo" in actions


def ask(core: Core, access: Access) -> int:
    """C8.1: sends the operation itself, `l2_hit` after the access; its number."""
    caches = core.caches
    message = Message("Amo", access.line, core.agent, 0, caches.next_number())
    message.operation = access
    caches.send_up(message, core.clock.now + core.costs.l2_hit)
    return message.number


def send(hart: Hart, access: Access) -> None:
    """C8.1: an AMO whose value the hart waits for."""
    hart.asked = ask(hart.core, access)


def answered(core: Core, message: Message) -> None:
    """C8.4, C8.6: the old value has come: a hart goes on, or a posted AMO leaves the buffer."""
    for hart in core.harts:
        if hart.asked == message.number:
            hart.answered(message.value, 0)
        elif message.number in hart.posted:
            hart.posted[message.number] = True
            core.drain(hart)


def post(hart: Hart, access: Access) -> Done | None:
    """C8.5: into the store buffer, as a store."""
    done = buffer.put(hart, access)
    if done and hart.buffer[0].is_amo:
        send_posted(hart)
    return done


def leave_buffer(hart: Hart) -> bool:
    """C8.6: the oldest leaves when its old value has come; before, it must be under way."""
    number = next(iter(hart.posted), None)
    if number is not None and hart.posted[number]:
        del hart.posted[number]
        return True
    send_posted(hart)
    return False


def send_posted(hart: Hart) -> None:
    """C8.7: the oldest, and those for the same line behind it."""
    oldest = hart.buffer[0]
    for position, access in enumerate(hart.buffer):
        if access.line != oldest.line or not goes_far(hart.core, access):
            return
        if position >= len(hart.posted):
            hart.posted[ask(hart.core, access)] = False
