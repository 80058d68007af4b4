"""Do the parsers still handle the inputs that `python -m tests.tools.fuzz` once found?"""

from __future__ import annotations

import pytest
from tests.tools import fuzz


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_saved_fuzz_inputs_are_read_or_refused_with_a_message(target: str) -> None:
    for data in [*fuzz.seeds(target)[:4], *fuzz.corpus(target)]:
        fuzz.survive(fuzz.TARGETS[target], data)
