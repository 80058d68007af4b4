"""Is a file that would need too much memory refused at once, and with a message?"""

from __future__ import annotations

import resource
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from uncore.errors import UserError
from uncore.result import log

# Limit of the address space in bytes: a little more than the command needs without a file.
MAX_ADDRESS_SPACE = 3 << 30
REFUSAL_TIMEOUT_S = 60
CODE = bytes.fromhex("130500009308d00573000000")  # exit(0)
TREE = 'name = "x"\nextends = "families/base"\ntree = "{}"\n'
XML = '<?xml version="1.0"?>{}<topology version="2.0">{}</topology>'
PU = '<object type="PU" os_index="{}"/>'

TEXTS = {name: ["", ""] for name, kind in log.LOG_COLUMNS.items() if kind == log.TEXT}


def elf(*segments: tuple[int, int, int]) -> bytes:
    """Returns an ELF file with these segments, each given by its rights, its address and its size
    in memory. The first segment contains the code.
    """
    head, table = 64, 56 * len(segments)
    size = head + table + len(CODE)
    entry = segments[0][1] + head + table
    data = b"\x7fELF\2\1\1" + bytes(9)
    data += struct.pack(
        "<HHIQQQIHHHHHH", 2, 243, 1, entry, head, 0, 5, 64, 56, len(segments), 64, 0, 0
    )
    for rights, address, room in segments:
        data += struct.pack("<IIQQQQQQ", 1, rights, 0, address, address, size, room, 4096)
    return data + CODE


def billion_laughs() -> str:
    """Returns XML in which each entity contains the previous one ten times ("billion laughs")."""
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    return XML.format(f'<!DOCTYPE t [<!ENTITY a0 "ha">{entities}]>', '<object type="&a11;"/>')


def cache(size: int, ways: int) -> str:
    attributes = f'cache_size="{size}" cache_associativity="{ways}"'
    return XML.format("", f'<object type="L3Cache" {attributes}>{PU.format(0)}</object>')


HWLOC = {
    "entities": (billion_laughs, "amplification"),
    "an entity of a file": (
        lambda: XML.format('<!DOCTYPE t [<!ENTITY a SYSTEM "/etc/passwd">]>', "<info>&a;</info>"),
        "undefined entity",
    ),
    "depth": (lambda: XML.format("", "<object>" * 100_000 + "</object>" * 100_000), "inside each"),
    "processors": (lambda: XML.format("", "".join(map(PU.format, range(5000)))), "5000 processors"),
    "elements": (lambda: XML.format("", "<object/>" * 200_000), "more than 131072 elements"),
    "a number": (lambda: XML.format("", PU.format("9" * 5000)), "expected a processor's number"),
    "a set": (
        lambda: XML.format("", f'<object type="Machine" complete_cpuset="{"1," * 10**6}1"/>')
        .replace("</topology>", PU.format(0) + "</topology>"),
        "1000001 words",
    ),
    "an encoding": (lambda: XML.format("", "").replace("?>", ' encoding="UTFTF-8"?>'), "UTF-8"),
    "letters of several bytes": (
        lambda: XML.format("", "").replace("?>", ' encoding="Big5"?>'), "expected UTF-8",
    ),
    "a cache of odd bytes": (lambda: cache(77, 0), "multiple of 64"),
    "ways": (lambda: cache(1 << 20, 10**9), "room for a line"),
}  # fmt: skip
MACHINES = {
    "harts": (lambda: TREE.format("core:4096 thread:4096"), "expected at most 4096"),
    "levels": (lambda: TREE.format(" ".join(f"l{n}:2" for n in range(5000))), "tree"),
    "members": (lambda: TREE.format(f"core:({','.join(['1'] * 99_999)})"), "tree"),
    "depth": (lambda: "a = " + "[" * 100_000, "nested too deep"),
    "bytes": (lambda: "# \n" * 10**6, "larger than 1 MiB"),
}
RESULTS = {
    "depth": (lambda: "[" * 10**6, "not a result"),
    "a number": (lambda: '{"schema":' + "9" * 10**6 + "}", "not a result"),
}
PROGRAMS = {
    "code of 128 GiB": (lambda: elf((7, 0x10000, 1 << 37)), "its code spans 131072 MiB"),
    "code far apart": (
        lambda: elf((5, 0x10000, 4096), (5, 1 << 36, 4096)), "its code spans 65535 MiB",
    ),
    "beyond addresses": (lambda: elf((7, 0x10000, 1 << 63)), "not where Linux puts a program"),
}  # fmt: skip
KINDS: dict[str, tuple[dict[str, tuple[Callable[[], str | bytes], str]], str]] = {
    "m.xml": (HWLOC, "measure --topology out.toml --hwloc m.xml"),
    "m.toml": (MACHINES, "show ./m.toml"),
    "r.json": (RESULTS, "scaling r.json"),
    "x.elf": (PROGRAMS, "run ccx:1x4 ./x.elf --threads 1 --repeat 1"),
}
CASES = [
    pytest.param(name, words, *case, id=f"{name}-{case_name}")
    for name, (cases, words) in KINDS.items()
    for case_name, case in cases.items()
]


def limit_address_space() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, MAX_ADDRESS_SPACE))


def run_uncore(arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uncore", *arguments.split()]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=REFUSAL_TIMEOUT_S,
        preexec_fn=limit_address_space,
    )


@pytest.mark.parametrize("name, arguments, content, message", CASES)
def test_file_that_would_need_too_much_memory_is_refused(
    tmp_path, name, arguments, content, message
):
    data = content()
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    completed = run_uncore(arguments, tmp_path)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert message in completed.stderr and "Traceback" not in completed.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        "boot ccx:1x1 --kernel /dev/zero",
        "run --from /dev/zero",
        "show /dev/zero.toml",
        "measure --topology out.toml --hwloc /dev/zero",
        "validate bus:4 --trace /dev/zero",
    ],
)
def test_endless_file_is_refused(tmp_path, arguments):
    completed = run_uncore(arguments, tmp_path)
    assert completed.returncode == 2 and "Traceback" not in completed.stderr, completed.stderr


def test_program_may_have_much_data_that_it_does_not_touch(tmp_path):
    (tmp_path / "x.elf").write_bytes(elf((5, 0x10000, 4096), (6, 1 << 30, 100 << 30)))
    completed = run_uncore("run ccx:1x4 ./x.elf --threads 1 --repeat 1", tmp_path)
    assert completed.returncode == 0, completed.stderr


@pytest.mark.parametrize(
    ("bound", "message"), [("MAX_LOG_ROWS", "transactions"), ("MAX_LOG_BYTES", "MiB")]
)
def test_log_with_too_many_rows_or_bytes_is_refused(
    bound: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.parquet"
    log.save([(1, None, log.frame({key: [0, 1] for key in log.LOG_COLUMNS} | TEXTS))], path)
    assert len(log.load(path)) == 2
    monkeypatch.setattr(log, bound, 1)
    with pytest.raises(UserError, match=message):
        log.load(path)
