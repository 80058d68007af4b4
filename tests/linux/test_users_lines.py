"""Is time in a library or the kernel charged to the line of the user's source that called it?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from symbolic import debuginfo
from tests.linux.programs import HERE, job, program

from uncore.engine import native
from uncore.engine.native.sites import Site, Sites
from uncore.errors import UserError
from uncore.execution.execute import execute
from uncore.execution.request import find_program
from uncore.program import Program, frames
from uncore.program.elf import Symbol
from uncore.program.frames import demangled, is_user_source
from uncore.report import objects
from uncore.result import Observed, Point

ALLOCATION_OF_SUM = "  total = (u64)malloc(sizeof(long));"
LINES, NONE = frozenset({"lines"}), frozenset[str]()


def run_bank(observers: frozenset[str] = LINES, **options: Any) -> tuple[Point, Observed | None]:
    options = {"harts": 4, **options}
    result = execute([job("4", guest="bank", **options)], observers=observers)[0]
    return result.points[0], result.observed[0] if result.observed else None


def test_wait_for_a_librarys_lock_is_charged_to_the_users_line_that_called_it() -> None:
    _, observed = run_bank()
    assert observed
    lock_line, unlock_line = 102, 109
    top = observed.objects[0]
    file, _, number = top.source.rpartition(":")
    assert file.endswith("bank.c") and int(number) in (lock_line, unlock_line), top
    assert any(call.startswith("library_") for o in observed.objects for call in o.chain)
    asleep = [use for line in observed.lines for use in line.uses if use.function == "rest"]
    assert asleep and all(use.source.endswith("bank.c:102") for use in asleep if use.waited_ps)
    assert all("library_lock" in use.chain[-2] for use in asleep if use.waited_ps)


def test_costliest_line_of_the_user_is_noted_if_a_library_thread_costs_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = execute([job("4", guest="bank", harts=4)], observers=LINES)[0]
    (observed,) = result.observed
    first, *others = observed.objects
    in_library = replace(first, source="/usr/lib/runtime.c:7")
    for top, noted in ((first, False), (in_library, True)):
        objects.show(objects.Lines(result, replace(observed, objects=[top, *others])), 4)
        output = capsys.readouterr().out.replace("\n", " ")
        assert ("bank.c:102 costs most" in output) is noted, output


def test_compiled_source_is_the_users_and_the_c_library_is_not(tmp_path: Path) -> None:
    source = tmp_path / "own.c"
    source.write_text("#include <pthread.h>\nint main(void) { return pthread_create == 0; }\n")
    built = find_program(source)
    user_path, library_path = (
        built.frames.at(built.symbol(name).address)[-1].path for name in ("main", "exit")
    )
    assert user_path == "own.c" and is_user_source(user_path)
    assert library_path.startswith("ziglang/lib/") and not is_user_source(library_path)


def test_header_in_a_folder_without_sources_belongs_to_a_library(tmp_path: Path) -> None:
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue/queue.h").write_text(
        "static inline void add(long *to) { __atomic_fetch_add(to, 1, __ATOMIC_SEQ_CST); }\n"
    )
    (tmp_path / "beside.h").write_text("static inline void twice(long *to) {\n add(to);\n}\n")
    source = tmp_path / "own.c"
    source.write_text(
        '#include "queue/queue.h"\n#include "beside.h"\n'
        "static long total;\nint main(void) {\n twice(&total);\n}\n"
    )
    built = find_program(source)
    main = built.symbol("main")
    pcs = range(main.address, main.address + main.size, 2)
    atomic = max(pcs, key=lambda pc: len(built.frames.at(pc)))
    assert [(f.path, built.frames.users(f)) for f in built.frames.at(atomic)] == [
        ("queue/queue.h", False),
        ("beside.h", True),
        ("own.c", True),
    ]
    no_callers = {"0": np.zeros(1, np.int64)}
    sites = Sites(built, no_callers)
    assert sites.all[sites.number(atomic, 0)] == Site(
        "beside.h:2", ("add queue/queue.h:1", "twice beside.h:2")
    )


def test_symbol_table_is_cached_and_rebuilt_if_the_cache_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "SYMBOLS_FOLDER", tmp_path)
    guest = program("bank")
    pc = guest.symbol("deposit").address

    def places() -> tuple[frames.Frame, ...]:
        return Program("bank", guest.path, guest.data).frames.at(pc)

    expected = places()
    (cached,) = tmp_path.iterdir()
    content = cached.read_bytes()
    cached.write_bytes(content[: len(content) // 2])
    assert places() == expected != ()
    assert cached.read_bytes() == content
    monkeypatch.setattr(debuginfo.Archive, "from_bytes", None)
    assert places() == expected


def test_looked_up_frames_are_cached_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "SYMBOLS_FOLDER", tmp_path)
    guest = program("bank")
    pcs = [guest.symbol(name).address for name in ("deposit", "teller")]
    first = Program("bank", guest.path, guest.data).frames
    expected = first.at(pcs[0])
    first.keep()
    monkeypatch.setattr(frames, "_table", lambda _: None)
    second = Program("bank", guest.path, guest.data).frames
    assert second.at(pcs[0]) == expected != ()
    assert second.at(pcs[1]) == ()
    for file in tmp_path.iterdir():
        file.write_bytes(b"{")
    assert Program("bank", guest.path, guest.data).frames.at(pcs[0]) == ()


def test_allocated_objects_are_named_by_the_allocating_line() -> None:
    """The pointer `accounts` leads to one block; no pointer leads to the other one."""
    _, observed = run_bank()
    assert observed
    line = (
        Path(HERE / "bank.c")
        .read_text()
        .partition("#line 101")[2]
        .splitlines()
        .index(ALLOCATION_OF_SUM)
        + 100
    )
    names = {o.name: o for o in observed.objects}
    assert "accounts[].lock" in names
    assert names[f"heap of bank.c:{line}"].source == "/home/me/bank.c:104"
    assert not any(name.startswith("0x") for name in names)


def test_observing_lines_does_not_change_the_outcome() -> None:
    unobserved, _ = run_bank(NONE)
    with_probes, observed = run_bank()
    assert unobserved == with_probes
    assert observed and sum(len(line.uses) for line in observed.lines)


def test_unmarked_program_is_measured_while_it_has_threads() -> None:
    point, observed = run_bank()
    bank_run = native.start(job("4", guest="bank", harts=4))
    native.run_to_end(bank_run, lambda *_: None)
    tasks = bank_run.tasks()[1:]
    born, died = min(t["born"] for t in tasks), max(t["died"] for t in tasks)
    assert 0 < born < died < bank_run.now
    assert point.elapsed_ps == died - born
    assert observed and observed.path_ps == died - born


@pytest.mark.parametrize(
    ("options", "ops"), [({"op": "deposit"}, 160), ({"from_function": "teller"}, 4)]
)
def test_options_op_and_from_function_select_what_is_measured(
    options: dict[str, str], ops: int
) -> None:
    """An operation is a call of `deposit` or a thread's whole `teller`. Marking costs no time."""
    unobserved, _ = run_bank(NONE, seeds=())
    marked, observed = run_bank(seeds=(), **options)
    assert marked.ops == ops and marked.latency
    assert marked.elapsed_ps < unobserved.elapsed_ps
    assert marked.instructions == unobserved.instructions
    assert observed and observed.objects


def test_message_for_an_unknown_function_suggests_the_nearest_name() -> None:
    with pytest.raises(UserError, match=r"no function is called 'deposits'.*deposit"):
        run_bank(op="deposits")
    with pytest.raises(UserError, match="--to-function ends what --from-function"):
        run_bank(to_function="deposit")


class CountingSymbols(tuple[Symbol, ...]):
    """Symbols that count how often one of them is read."""

    reads = 0

    def __getitem__(self, index: Any) -> Any:
        CountingSymbols.reads += 1
        return super().__getitem__(index)


def test_address_outside_all_symbols_is_looked_up_with_few_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guest = program("bank")
    symbols, first = guest.symbols, min(s.address for s in guest.segments)
    end = max(s.address + s.size for s in guest.segments)
    monkeypatch.setattr(Program, "symbols", property(lambda _: CountingSymbols(symbols)))
    fresh = Program("bank", guest.path, guest.data)
    fresh.symbol_at(first)
    CountingSymbols.reads = 0
    for address in range(end, end + 1000):
        assert fresh.symbol_at(address) is None
    assert CountingSymbols.reads <= 1000
    for address in range(first, end, 7):
        covering = [s for s in symbols if s.address <= address < s.address + max(s.size, 1)]
        assert fresh.symbol_of(address) == (covering[-1] if covering else None)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("_ZN4Bank7depositEil", "Bank::deposit"),
        ("_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int>>::size"),
        ("_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f"),
        ("_ZN3std4sync5mutex4lock17h0123456789abcdefE", "std::sync::mutex::lock"),
        ("_RNCNvCs1_5count4main0", "count::main::{closure#0}"),
        ("main.(*Cache).Add", "main.(*Cache).Add"),
    ],
)
def test_mangled_names_are_shown_as_in_the_source(name: str, words: str) -> None:
    assert demangled(name) == words


@pytest.mark.parametrize(
    ("path", "is_own"),
    [
        ("/home/me/bank.cc", True),
        ("src/queue.rs", True),
        ("/usr/include/c++/12/bits/std_mutex.h", False),
        ("/rustc/59807616e1fa/library/std/src/sync/mutex.rs", False),
        ("/home/me/.cargo/registry/src/index/crossbeam-0.8/src/lib.rs", False),
        ("/home/me/app/vendor/crossbeam-queue/src/array_queue.rs", False),
        ("/usr/local/go/src/sync/mutex.go", False),
        ("/usr/local/go/src/sync/mutex_test.go", True),
        ("/home/me/go/pkg/mod/example.com/m@v1/m.go", False),
        ("", False),
    ],
)
def test_file_of_a_system_or_toolchain_is_not_the_users(path: str, is_own: bool) -> None:
    assert is_user_source(path) is is_own
