"""Makes parts of a machine for tests that state only the numbers on which the test depends.

    least(Resolver, knows="directory", grants=1)

Every other number is the field's default or, if it has none, the least value that the field allows.
So a new field of a machine requires no change of the tests.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any, TypeVar, get_origin

from uncore.topology.schema import Field, fields, limits, words_of

T = TypeVar("T")


def least(part: type[T], **numbers: Any) -> T:
    silent = (
        member
        for member in fields(part)
        if member.default is MISSING and member.name not in numbers
    )
    return part(**numbers, **{member.name: _least(member) for member in silent})


def _least(field: Field) -> Any:
    if get_origin(field.type) is tuple:
        return ()
    if field.type in (bool, str):
        return field.type()
    words = words_of(field.type)
    return words[0] if words else limits(field.type)[0]
