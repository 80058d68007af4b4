"""Provides the declarations by which machine.py, parts.py and link.py define a machine's numbers.

    @part
    class Resolver:
        service: Ps = field("a slice is busy with a request", "LEVEL.resolver.service")
        data_sets: Count = field("of all slices together", Size("LEVEL.data.size"))

A field has a type, whose range is also checked in machines from results; a description; and the
keys of a machine file that decide it. A key that is given as a plain string is the number itself:
it is read as the field's type demands, and has the field's default. Other keys are given with the
form of their value, and have the field's description unless they have their own. These declarations
determine how a file is read (table_reader.py), the set of keys (keys.py), their page (page.py), and
the native engine's structs (sim/native/spec).

    fields(part)        the declarations of a part's fields, in order
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from enum import Enum
from functools import cache, partial
from typing import Annotated, Any, TypeVar, dataclass_transform, get_origin

from msgspec import Meta, Struct
from msgspec.structs import replace

from uncore.topology.units import MAX_LATENCY_PS

LINE_SIZES = (64, 128, 256)  # allowed sizes of a cache line, in bytes
DEFAULT_LINE_BYTES = 64
YEAR, YEARS = "year", (1960, 2100)  # key of the year in [lineage], and its range
MAX_COUNT = (1 << 32) - 1
MAX_NODE_BYTES = 1 << 50
MOST_HARTS = 4096
T = TypeVar("T")


class Form(Enum):
    """The forms of a value. A number's form also determines its type."""

    DURATION = "duration"  # picoseconds
    FREQUENCY = "frequency"
    RATE = "rate"
    SIZE = "size"  # bytes
    COUNT = "whole number"
    SHARE = "share"  # thousandths
    WORD = "word"
    TEXT = "text"


Ps = Annotated[int, Meta(ge=0, le=MAX_LATENCY_PS), Form.DURATION]
PositivePs = Annotated[int, Meta(ge=1, le=MAX_LATENCY_PS), Form.DURATION]
Bytes = Annotated[int, Meta(ge=1, le=MAX_NODE_BYTES), Form.SIZE]
Line = Annotated[int, Meta(ge=min(LINE_SIZES), le=max(LINE_SIZES)), Form.SIZE]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Positive = Annotated[int, Meta(ge=1, le=MAX_COUNT)]
Share = Annotated[int, Meta(ge=1, le=1000), Form.SHARE]
ShareOrZero = Annotated[int, Meta(ge=0, le=1000), Form.SHARE]
INT32 = "int32_t"  # type in native code
Place = Annotated[int, Meta(ge=0, lt=1 << 31), INT32]  # index of a stop or an agent in its list
PlaceOrNone = Annotated[int, Meta(ge=-1, lt=1 << 20), INT32]  # -1: no such place


def one_of(words: tuple[str, ...]) -> Meta:
    return Meta(pattern=f"^({'|'.join(words)})$", extra={"words": words})


class Key(Struct, frozen=True):
    """A key of a machine file. LEVEL in its name stands for any level, NAME for any name."""

    form: Form
    name: str
    about: str = ""
    default: str | None = None  # default value, as a file would state it
    absent: str = ""  # effect of the key's absence, if it has no default value
    words: tuple[str, ...] = ()
    low: int = 0
    high: int = MAX_COUNT
    # kinds of join that have this key; (): all kinds, or the key is not one of joins
    joins: tuple[str, ...] = ()

    @property
    def required(self) -> bool:
        return self.default is None and not self.absent


Duration, Clock, Rate, Size, Whole, Ratio, Word, Text = (partial(Key, form) for form in Form)


class Field(Struct, frozen=True):
    name: str
    type: Any
    about: str
    keys: tuple[Key, ...]
    own: Key | None  # the key that has the field's value itself, if there is one
    default: Any  # default value; dataclasses.MISSING if there is none
    native: bool  # False: the native engine does not receive the field


def field(
    about: str,
    *keys: str | Key,
    default: Any = MISSING,
    words: tuple[str, ...] = ("yes", "no"),
    native: bool = True,
    compare: bool = True,
) -> Any:
    """Declares a field, as the module's docstring explains. `words` are the texts of True and
    False.
    """
    metadata_ = {"about": about, "keys": keys, "words": words, "native": native}
    return dataclasses.field(default=default, compare=compare, metadata=metadata_)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def part(cls: type[T]) -> type[T]:
    return dataclass(frozen=True, slots=True)(cls)


def _fields(of: Any) -> tuple[Field, ...]:
    return tuple(_field(member) for member in dataclasses.fields(of))


fields: Callable[[Any], tuple[Field, ...]] = cache(_fields)


def _field(member: dataclasses.Field[Any]) -> Field:
    described = member.metadata
    named = {key: _own_key(key, member) for key in described["keys"] if isinstance(key, str)}
    keys = [
        named.get(key) or replace(key, about=key.about or described["about"])
        for key in described["keys"]
    ]
    own = next(iter(named.values()), None)
    return Field(
        member.name,
        member.type,
        described["about"],
        tuple(keys),
        own,
        member.default,
        described["native"],
    )


def _own_key(name: str, member: dataclasses.Field[Any]) -> Key:
    form, words = form_of(member.type), words_of(member.type)
    low, high = limits(member.type)
    if form is Form.SHARE:
        high //= 1000
    return Key(
        form,
        name,
        member.metadata["about"],
        default=None if member.default is MISSING else _default_text(member),
        words=words or (member.metadata["words"] if form is Form.WORD else ()),
        low=low,
        high=high,
    )


def _default_text(member: dataclasses.Field[Any]) -> str:
    default: Any = member.default
    if form_of(member.type) is Form.DURATION:
        return f"{default / 1000:f}".rstrip("0").rstrip(".") + "ns"
    return str(member.metadata["words"][not default] if member.type is bool else default)


def metadata(type_: Any) -> tuple[Any, ...]:
    return type_.__metadata__ if get_origin(type_) is Annotated else ()


def limits(type_: Any) -> tuple[int, int]:
    """Returns the smallest and the largest allowed value of a number."""
    for meta in metadata(type_):
        if isinstance(meta, Meta) and meta.ge is not None:
            return int(meta.ge), int(meta.le if meta.le is not None else (meta.lt or 0) - 1)
    return 0, MAX_COUNT


def words_of(type_: Any) -> tuple[str, ...]:
    """Returns the allowed words of a text; () if any text is allowed."""
    metas = (meta for meta in metadata(type_) if isinstance(meta, Meta) and meta.extra)
    return next((tuple(meta.extra["words"]) for meta in metas if meta.extra), ())


def form_of(type_: Any) -> Form:
    stated = [form for form in metadata(type_) if isinstance(form, Form)]
    if stated:
        return stated[0]
    if type_ is bool or words_of(type_):
        return Form.WORD
    return Form.COUNT if metadata(type_) else Form.TEXT
