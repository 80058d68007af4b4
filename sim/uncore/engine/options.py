"""How an engine is run, which is no part of a job: what a user says, else the environment.

    take(Options, {"sst_ranks": 2}) -> Options

An engine declares its options as a struct.  A field `sst_ranks` is the option --sst-ranks and the
variable UNCORE_SST_RANKS; its Meta says what it is for, and in `extra` what a user may write.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeVar, get_type_hints

import msgspec

from uncore.errors import UserError

Struct = TypeVar("Struct", bound=msgspec.Struct)


def take(kind: type[Struct], told: Mapping[str, Any]) -> Struct:
    """The engine's own of what is told to engines; a UserError for a value it does not have."""
    values = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        option, variable = f"--{name.replace('_', '-')}", f"UNCORE_{name.upper()}"
        here = told.get(name) is not None
        value = told[name] if here else os.environ.get(variable)
        if value is None:
            continue
        try:
            values[name] = msgspec.convert(value, hint, strict=False)
        except msgspec.ValidationError:
            spelled = f"{option} {value}" if here else f"{variable}={value}"
            raise UserError(f"{spelled}: write {hint.__metadata__[0].extra['write']}") from None
    return kind(**values)
