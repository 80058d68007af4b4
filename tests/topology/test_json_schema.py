"""Does the JSON schema of machine files allow every valid file and refuse mistakes?"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from uncore.cli.commands.new import STARTS_FOLDER
from uncore.support.paths import TOPOLOGIES
from uncore.topology.json_schema import json_schema
from uncore.topology.keys import KEYS

SCHEMA = json_schema()
FILES = [*sorted(TOPOLOGIES.rglob("*.toml")), STARTS_FOLDER / "machine.toml"]


def is_allowed(text: str) -> bool:
    return bool(Draft7Validator(SCHEMA).is_valid(tomllib.loads(text)))


def test_schema_is_a_valid_json_schema() -> None:
    Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_shipped_machine_file_is_allowed(file: Path) -> None:
    assert is_allowed(file.read_text())


@pytest.mark.parametrize(
    "slip",
    [
        'protocl = "mesi"',
        'protocol = "mesy"',
        '[core]\nhodl = "5cy"',
        '[core.l1]\nsise = "32KiB"',
        '[memory]\nlatncy = "80ns"',
        '[socket.resolver]\nknows = "nothing"',
        '[socket.join]\nkind = "rings"',
        '[core]\nhold = { value = "5cy", sorce = "a guess" }',
        "[interrupt]\nmulticast = true",
    ],
)
def test_slip_in_a_machine_file_is_refused_by_the_schema(slip: str) -> None:
    assert not is_allowed(slip)


def test_schema_describes_every_key_in_its_table() -> None:
    for name, key in KEYS.items():
        at: Any = SCHEMA
        for part in name.split("."):
            tables = [at, *at.get("anyOf", ())]
            at = next(
                table
                for table in tables
                if "properties" in table and "value" not in table["properties"]
            )
            at = at["properties"].get(part) or at["additionalProperties"]
        assert key.about in at.get("description", key.about), name
