"""Compiles a C program with some of its memory orders weakened.

    read(path) -> ProgramSource             reads the C file and the headers that it includes
    source.orders                           all orders in these files, each with its file
    source.compiled(weakened) -> Program    an ELF file in the cache; None if C forbids an order
    code(program)                           equal for variants with equal instructions

The compiler reads the weakened text under the name of the original file, by an overlay of its file
system. So line numbers, messages and includes are those of the original, which is never changed.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from uncore.errors import UserError
from uncore.program import Program, build, load
from uncore.study.fences import orders
from uncore.study.fences.orders import Edit, MemoryOrder, Weakening
from uncore.support import paths

INVALID_ORDER_FLAG = "-Werror=atomic-memory-ordering"


class OrderPlace(NamedTuple):
    """A memory order with the file that states it; `place` is FILE:LINE with a short name."""

    file: Path
    order: MemoryOrder
    place: str

    @property
    def column(self) -> int:
        return self.order.column

    @property
    def says(self) -> str:
        return self.order.says

    @property
    def weaker(self) -> tuple[Weakening, ...]:
        return self.order.weaker


@dataclass(frozen=True)
class ProgramSource:
    """The texts of a program: its C file and headers, without those of the runtime library."""

    main: Path
    texts: Mapping[Path, str]

    @cached_property
    def orders(self) -> list[OrderPlace]:
        """Returns the orders of all files, in the order of inclusion; the C file is first."""
        return [
            OrderPlace(file, order, f"{self.short_name(file)}:{order.line}")
            for file, text in self.texts.items()
            for order in orders.stated(text)
        ]

    @property
    def user_texts(self) -> list[str]:
        """Returns the user's texts: those that are not in the folder of shipped workloads."""
        shipped = paths.WORKLOADS
        return [text for file, text in self.texts.items() if not file.is_relative_to(shipped)]

    @property
    def digest(self) -> str:
        """Returns a digest of all texts."""
        return self._digest_of(self.texts)

    def short_name(self, file: Path) -> str:
        """Returns the short name of a file: `mcs.h`, `lock/ticket.c`, `my_lock.c`."""
        for root in (paths.WORKLOADS / "include", paths.WORKLOADS, self.main.parent):
            if file.is_relative_to(root):
                return file.relative_to(root).as_posix()
        return str(file)

    def compiled(self, weakened: Iterable[tuple[OrderPlace, Weakening]]) -> Program | None:
        edits: dict[Path, list[Edit]] = defaultdict(list)
        for order, weakening in weakened:
            edits[order.file].extend(weakening.edits)
        new_texts = {
            file: orders.edited(self.texts[file], file_edits) for file, file_edits in edits.items()
        }
        folder = paths.CACHE / "fences" / self._digest_of({**self.texts, **new_texts})
        elf = folder / f"{self.main.stem}.elf"
        try:
            build.build(
                self.main,
                elf,
                ("UC_WITNESS=1",),
                more=(INVALID_ORDER_FLAG, *_overlay(folder, new_texts)),
            )
        except UserError as error:
            if weakened and INVALID_ORDER_FLAG.partition("=")[2] in str(error):
                return None
            raise
        return load(elf)

    def _digest_of(self, texts: Mapping[Path, str]) -> str:
        content = json.dumps({str(file): text for file, text in texts.items()})
        return hashlib.sha256(content.encode()).hexdigest()[:12]


def read(path: Path) -> ProgramSource:
    main = path.resolve()
    files = build.files(main)
    return ProgramSource(main, {file: file.read_text(errors="surrogateescape") for file in files})


def code(program: Program) -> object:
    """Returns the instructions and the initial memory, for comparing two variants."""
    return program.segments


def _overlay(folder: Path, texts: Mapping[Path, str]) -> list[str]:
    """Writes the texts to the folder; returns the compiler options that make them replace the
    original files.
    """
    if not texts:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    roots = []
    for number, (file, text) in enumerate(texts.items()):
        replacement = folder / f"{number}-{file.name}"
        replacement.write_text(text, errors="surrogateescape")
        roots.append({"name": str(file), "type": "file", "external-contents": str(replacement)})
    overlay_file = folder / "overlay.json"
    overlay_file.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}))
    return ["-ivfsoverlay", str(overlay_file)]
