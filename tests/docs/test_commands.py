"""Is docs/commands.md what the commands say of themselves?"""

from __future__ import annotations

from uncore.cli import app as cli
from uncore.support.paths import CHECKOUT


def test_page_is_what_commands_say() -> None:
    assert CHECKOUT
    written = (CHECKOUT / "docs/commands.md").read_text()
    assert written == cli.document(), "python -m uncore.cli.app > docs/commands.md"
