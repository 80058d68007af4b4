"""Files that a user is left with.

    write_whole(path, content)          a file that is there whole or not at all
    write_figure(path, figure, dpi)     the same of a matplotlib figure, by the name's ending

Invariant: nothing in this package writes a file of the user's in another way.
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

METADATA = {  # undated, and with the mark of output_kinds
    "png": {"Software": MAKER},
    "svg": {"Date": None, "Creator": MAKER},
    "pdf": {"CreationDate": None, "Creator": MAKER},
}


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file that is there whole or not at all, whatever stood there before.

    It is written aside, in a new file of the same directory that no link leads to, and then takes
    the name; a link of that name is replaced and not followed.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with open(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), 0o666 & ~_umask())
            os.replace(aside, path)
        except BaseException:
            os.unlink(aside)
            raise
        _sync(path.parent)
    except OSError as error:
        raise UserError(f"{path}: cannot write it: {error.strerror}") from None


def write_figure(path: Path, figure: Figure, dpi: int = 130) -> None:
    """The same picture has the same bytes: neither a date nor names drawn at random."""
    from matplotlib import rc_context  # noqa: PLC0415 (slow to load)

    ending = path.suffix.removeprefix(".")
    drawn = io.BytesIO()
    _speak_plainly(figure)
    try:
        with rc_context({"svg.hashsalt": "uncore"}):
            figure.savefig(drawn, format=ending, dpi=dpi, metadata=METADATA.get(ending))
    except ValueError as error:
        raise UserError(f"{path}: cannot draw the picture: {error}") from None
    write_whole(path, drawn.getvalue())


def _sync(folder: Path) -> None:
    """Makes renames in the folder survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _speak_plainly(figure: Figure) -> None:
    """A name is neither a formula nor a command to whoever shows the picture."""
    for text in figure.findobj(lambda part: hasattr(part, "set_parse_math")):
        said = text.get_text()  # type: ignore[attr-defined]
        if "$" in said or not said.isprintable():
            text.set(text=plain(said), parse_math=False)


def _umask() -> int:
    """Permissions that the user withholds from others. They can be read only by setting them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
