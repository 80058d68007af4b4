"""The JSON Schema of machine files, with which editors complete keys and describe numbers.

    json_schema()    the schema (draft 7, as Taplo and VS Code's "Even Better TOML" need)

The schema accepts more files than `uncore show`, because it checks neither the names that a file
introduces (levels, kinds, clocks) nor numbers that depend on each other. Invariant: a file that the
schema refuses is also refused when it is read.
"""

from __future__ import annotations

from typing import Any

from uncore.topology.keys import KEYS, KEYS_BELOW, LEVEL, PLACEHOLDERS
from uncore.topology.schema import MAX_COUNT, Form, Key

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
# A number may also be written as a string.
NUMBER_OR_TEXT: Schema = {"type": ["number", "string"]}
EXAMPLES = {
    Form.DURATION: ["12ns", "9cy", "3cy + 12ns"],
    Form.FREQUENCY: ["3.2GHz"],
    Form.RATE: ["32B/cy", "40GB/s"],
    Form.SIZE: ["512KiB"],
}
# Tables that may also be written as one string (shorthand.py), and the form of that string.
SHORT_FORMS = {
    f"{LEVEL}.join": "KIND [WxH] [LATENCY] [WIDTH]: crossbar 9cy 32B/cy",
    f"{LEVEL}.data": "POLICY SIZE WAYS [LATENCY]: victim 8MiB 16-way 10cy",
    "core.l1": "SIZE WAYS LATENCY: 32KiB 8-way 4cy",
    "core.l2": "SIZE WAYS LATENCY: 512KiB 8-way 12cy, or none",
    "memory.cache": "SIZE WAYS LATENCY: 8MiB 16-way 15ns",
}
# tables in which a kind may have its own table (kinds.py)
TABLES_WITH_KINDS = {"core", LEVEL, "memory"}


def json_schema() -> Schema:
    about = "Written by `uncore new schema`; topologies/README.md tells how a file is written."
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A machine of uncore",
        "description": about,
        **_table(""),
    }


def _table(name: str) -> Schema:
    """Returns the schema of a table, with all keys and tables below it."""
    inner_paths = {
        last_part: f"{name}.{last_part}".removeprefix(".") for last_part in sorted(KEYS_BELOW[name])
    }
    properties = {
        last_part: _node(path)
        for last_part, path in inner_paths.items()
        if last_part not in PLACEHOLDERS
    }
    # `source` in any table is the source of the numbers below it.
    properties.setdefault("source", TEXT)
    other_keys = next(
        (_node(path) for last_part, path in inner_paths.items() if last_part in PLACEHOLDERS), False
    )
    if name in TABLES_WITH_KINDS:
        other_keys = {
            "type": "object",
            "description": "what differs in parts of this kind ([kinds])",
        }
    return {"type": "object", "properties": properties, "additionalProperties": other_keys}


def _node(name: str) -> Schema:
    if name not in KEYS_BELOW:
        return _value(KEYS[name])
    if name not in SHORT_FORMS:
        return _table(name)
    short = {"type": "string", "description": SHORT_FORMS[name]}
    return {"anyOf": [short, _schema_with_source(short), _table(name)]}


def _value(key: Key) -> Schema:
    description = f"{key.about or key.name} ({_form_text(key)})"
    if key.form is Form.TEXT:
        # no type: the value is a text, a list or a table, depending on the key
        return {"description": description}
    value_schema = _value_schema(key)
    return {"description": description, "anyOf": [value_schema, _schema_with_source(value_schema)]}


def _schema_with_source(value_schema: Schema) -> Schema:
    """Returns the schema of a number that states its own source, and perhaps an interval."""
    ends = {"type": "array", "items": NUMBER_OR_TEXT, "minItems": 2, "maxItems": 2}
    return {
        "type": "object",
        "properties": {"value": value_schema, "source": TEXT, "interval": ends},
        "required": ["value"],
        "additionalProperties": False,
    }


def _value_schema(key: Key) -> Schema:
    if key.words:
        return {"enum": list(key.words)}
    examples = {"examples": EXAMPLES[key.form]} if key.form in EXAMPLES else {}
    return NUMBER_OR_TEXT | examples


def _form_text(key: Key) -> str:
    form = " or ".join(key.words) if key.words else key.form.value
    if key.form is Form.COUNT and key.high < MAX_COUNT:
        form = f"{key.low} to {key.high}"
    absent = f"default {key.default}" if key.default is not None else key.absent
    return f"{form}; {absent or 'must be given'}"
