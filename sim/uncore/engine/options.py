"""Reads options of engines, which are not part of a job, from the user or from the environment.

    take(Options, {"sst_ranks": 2}) -> Options

An engine declares its options as a struct.  A field `sst_ranks` is the option --sst-ranks and the
variable UNCORE_SST_RANKS; its Meta has a description and, in `extra`, the allowed values.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeVar, get_type_hints

import msgspec

from uncore.errors import UserError

Struct = TypeVar("Struct", bound=msgspec.Struct)


def take(kind: type[Struct], engine_options: Mapping[str, Any]) -> Struct:
    """Returns the options of one engine; raises a UserError for an invalid value."""
    values = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        option, variable = f"--{name.replace('_', '-')}", f"UNCORE_{name.upper()}"
        user_value = engine_options.get(name)
        value = os.environ.get(variable) if user_value is None else user_value
        if value is None:
            continue
        try:
            values[name] = msgspec.convert(value, hint, strict=False)
        except msgspec.ValidationError:
            words = f"{variable}={value}" if user_value is None else f"{option} {value}"
            raise UserError(f"{words}: write {hint.__metadata__[0].extra['write']}") from None
    return kind(**values)
