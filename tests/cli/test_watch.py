"""Does `uncore watch` accept one run or two, with the options of `run`?"""

from pathlib import Path

import pytest

TWO_THREADS = ("--threads", "2", "--set", "ops=2", "--output", "w.html")


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (("bus:2", "lock/ticket"), "lock/ticket on bus:2"),
        (("bus:2", "lock/ticket", "lock/mcs"), "lock/ticket and lock/mcs"),
        (("bus:2", "ring:2", "lock/mcs"), "bus:2 and ring:2"),
        (("bus:2", "lock/mcs", "--with", "protocol=mesi,moesi"), "MESI and MOESI"),
        (("bus:2", "lock/mcs", "--set", "hold=10ns,90ns"), "hold=10ns and hold=90ns"),
    ],
)
def test_title_of_watch_page_names_its_run_or_what_differs_between_two_runs(
    uncore, arguments, title
):
    assert uncore("watch", *arguments, *TWO_THREADS).status == 0
    assert f"<title>{title}</title>" in Path("w.html").read_text()


def test_watch_refuses_three_runs(uncore):
    refused = uncore("watch", "bus:2", "lock/ticket", "lock/mcs", "lock/tas", *TWO_THREADS)
    assert refused.status == 2 and "one run or two, and these words are 3" in refused.err
