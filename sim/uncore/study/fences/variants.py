"""A C program compiled with some of its memory orders weakened.

    read(program) -> ProgramSource          its C file and the headers that it includes
    source.orders                           every order of it, with its file
    source.compiled(weakenings) -> Program  an ELF of its own, kept; None where C forbids the order
    code(program)                           what tells whether two variants are the same

The compiler reads weakened text under the name of the file that has it (an overlay of its file
system), so lines, messages and includes are those of the original, which is never touched.
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

REFUSED = "-Werror=atomic-memory-ordering"


class OrderPlace(NamedTuple):
    """An order, the file that states it, and that file's name with the line."""

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
    """The texts that a program is compiled from, except the runtime, which is not in question."""

    main: Path
    texts: Mapping[Path, str]

    @cached_property
    def orders(self) -> list[OrderPlace]:
        """In the order of the files as they are included, the C file first."""
        return [
            OrderPlace(file, order, f"{self.named(file)}:{order.line}")
            for file, text in self.texts.items()
            for order in orders.stated(text)
        ]

    @property
    def own(self) -> list[str]:
        """The texts that are not uncore's."""
        ours = paths.WORKLOADS
        return [text for file, text in self.texts.items() if not file.is_relative_to(ours)]

    @property
    def digest(self) -> str:
        """A digest of all texts."""
        return self._name_of(self.texts)

    def named(self, file: Path) -> str:
        """A file as people call it: `mcs.h`, `lock/ticket.c`, `my_lock.c`."""
        for root in (paths.WORKLOADS / "include", paths.WORKLOADS, self.main.parent):
            if file.is_relative_to(root):
                return file.relative_to(root).as_posix()
        return str(file)

    def compiled(self, weakened: Iterable[tuple[OrderPlace, Weakening]]) -> Program | None:
        edits: dict[Path, list[Edit]] = defaultdict(list)
        for order, weakening in weakened:
            edits[order.file].extend(weakening.edits)
        new = {file: orders.edited(self.texts[file], some) for file, some in edits.items()}
        folder = paths.CACHE / "fences" / self._name_of({**self.texts, **new})
        elf = folder / f"{self.main.stem}.elf"
        try:
            build.build(self.main, elf, ("UC_WITNESS=1",), more=(REFUSED, *_overlay(folder, new)))
        except UserError as error:
            if weakened and REFUSED.partition("=")[2] in str(error):
                return None
            raise
        return load(elf)

    def _name_of(self, texts: Mapping[Path, str]) -> str:
        content = json.dumps({str(file): text for file, text in texts.items()})
        return hashlib.sha256(content.encode()).hexdigest()[:12]


def read(path: Path) -> ProgramSource:
    main = path.resolve()
    files = build.files(main)
    return ProgramSource(main, {file: file.read_text(errors="surrogateescape") for file in files})


def code(program: Program) -> object:
    """Equal where the instructions and the initial memory are."""
    return program.segments


def _overlay(folder: Path, texts: Mapping[Path, str]) -> list[str]:
    """The texts written, and the words by which the compiler takes them for the files."""
    if not texts:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    roots = []
    for number, (file, text) in enumerate(texts.items()):
        instead = folder / f"{number}-{file.name}"
        instead.write_text(text, errors="surrogateescape")
        roots.append({"name": str(file), "type": "file", "external-contents": str(instead)})
    described = folder / "overlay.json"
    described.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}))
    return ["-ivfsoverlay", str(described)]
