"""Writes the files that a user receives.

    write_whole(path, content)          writes a whole file or nothing
    write_figure(path, figure, dpi)     writes a matplotlib figure; the ending names the format

Invariant: all files for users are written by these functions.
"""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from uncore.errors import UserError
from uncore.support.output_kinds import MAKER
from uncore.support.printable import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METADATA = {  # no dates, but the mark by which output_kinds recognizes uncore's files
    "png": {"Software": MAKER},
    "svg": {"Date": None, "Creator": MAKER},
    "pdf": {"CreationDate": None, "Creator": MAKER},
}


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file completely or not at all, and replaces an existing file.

    The content goes to a new file in the same directory, which is then renamed to `path`; a link of
    that name is replaced and not followed.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with open(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        _sync(path.parent)
    except OSError as error:
        raise UserError(f"{path}: cannot write it: {error.strerror}") from None


def write_figure(path: Path, figure: Figure, dpi: int = 130) -> None:
    """Draws a figure into a file. Equal figures give equal bytes, because the file has no date and
    no random names.
    """
    from matplotlib import rc_context  # noqa: PLC0415 (slow to load)

    ending = path.suffix.removeprefix(".")
    image = io.BytesIO()
    _print_text_literally(figure)
    if ending == "png":
        _lay_out(figure, dpi)
    try:
        with rc_context({"svg.hashsalt": "uncore"}):
            figure.savefig(image, format=ending, dpi=dpi, metadata=METADATA.get(ending))
    except ValueError as error:
        raise UserError(f"{path}: cannot draw the picture: {error}") from None
    write_whole(path, image.getvalue())


def _sync(folder: Path) -> None:
    """Makes renames in the folder survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _print_text_literally(figure: Figure) -> None:
    """Prevents matplotlib from interpreting texts as formulas, and escapes control characters."""
    for text in figure.findobj(lambda part: hasattr(part, "set_parse_math")):
        content = text.get_text()  # type: ignore[attr-defined]
        if "$" in content or not content.isprintable():
            text.set(text=plain(content), parse_math=False)


def _lay_out(figure: Figure, dpi: int) -> None:
    """Lays a figure out at this resolution. Otherwise savefig() draws the whole figure twice, and
    only the layout of the first drawing is used.
    """
    if engine := figure.get_layout_engine():
        figure.set_dpi(dpi)
        engine.execute(figure)
        figure.set_layout_engine("none")


def _umask() -> int:
    """Returns the process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
