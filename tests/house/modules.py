"""Finds import cycles, modules outside of packages, and repeated file names."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.house.tracked import TOP, name, of_kind, tracked
from tests.layers.cpp import graph

PACKAGES = TOP / "sim"


def cycles(imports: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Searches depth first, and yields a cycle for each edge that returns to a node of the path."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> Iterator[list[str]]:
        if module in path:
            yield path[path.index(module) :]
        elif module not in done:
            for target in imports.get(module, []):
                yield from visit(target, [*path, module])
            done.add(module)

    for module in imports:
        yield from visit(module, [])


def all_cycles() -> list[list[str]]:
    """Returns import cycles of the packages' modules, and include cycles of the native files."""
    return [*cycles(imports()), *cycles(graph())]


def imports() -> dict[str, list[str]]:
    """Returns for each of our modules those of our modules that are imported with it."""
    modules = {_module(path): path for path in of_kind(".py") if PACKAGES in path.parents}
    return {
        module: [target for target in _imported(path, module, modules) if target != module]
        for module, path in modules.items()
    }


def _module(path: Path) -> str:
    parts = path.relative_to(PACKAGES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path, module: str, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in _at_import(ast.parse(path.read_text()).body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            within = (f"{node.module}.{alias.name}" for alias in node.names)
            targets = {target if target in modules else node.module for target in within}
            yield from (target for target in sorted(targets) if target in modules)


def _at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the statements that run at import, without those of functions and those for type
    checkers.
    """
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _at_import(node.body)


def loose(allowed: set[str]) -> list[str]:
    """Returns the modules of uncore that are in none of its packages."""
    folder = PACKAGES / "uncore"
    paths = (path for path in of_kind(".py") if path.parent == folder)
    return [name(path) for path in paths if path.stem not in allowed]


def repeated(allowed: set[str], data: set[str]) -> dict[str, int]:
    """Counts basenames that occur in several folders; allowed ones and data are left out."""
    code = (path for path in tracked() if path.suffix not in data)
    counts = Counter(path.name for path in code if path.name not in allowed)
    return {basename: count for basename, count in counts.most_common() if count > 1}
