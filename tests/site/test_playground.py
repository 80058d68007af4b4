"""Does the playground give the same hashes and steppers as Python?"""

import dataclasses
import gzip
import json
import time

import msgspec
import pytest
from docs.site import playground
from tests.site import wasm
from tests.trace.browser import faults, opened

from uncore import topology
from uncore.execution.execute import execute
from uncore.execution.request import make_job
from uncore.support.paths import TOPOLOGIES
from uncore.trace import Window, record
from uncore.trace.stepper.data import document

EXAMPLES = TOPOLOGIES / "examples"
JOBS = {
    "bus": ("bus:4", "lock/ticket", (1, 2, 4), {"ops": 10}),
    "complexes": ("ccx:4x8", "lock/mcs", (1, 8, 32), {"hold": "50ns", "ops": 20}),
    "parameters": ("ccx:2x4", "lock/rwlock", (8,), {"ops": 10}),
    "siblings": ("epyc7601x2", "epoch/ebr", (96,), {"ops": 5}),
    "kinds of cores": ("m1pro", "counter/cas", (8,), {"ops": 20}),
    "weak order": ("weak:8", "lock/clh", (8,), {"ops": 10}),
    "far atomics": ("graviton2", "counter/atomic", (16,), {"ops": 20}),
    "interrupts": ("x8180", "ipi/broadcast", (16,), {"rounds": 4}),
    "tables": ("mesh:4x4", "latency/pingpong", (8,), {}),
    "equal routes": (f"{EXAMPLES}/fat-tree16.toml", "lock/mcs", (8, 64), {"ops": 10}),
    "kinds of memory": (f"{EXAMPLES}/knl-flat.toml", "lock/ticket", (8,), {"ops": 10}),
    "memory behind a cache": (f"{EXAMPLES}/phone.toml", "lock/ticket", (6,), {"ops": 10}),
}


def made(machine, workload, threads, parameters, **more):
    return make_job(machine, workload, threads, parameters=parameters, **{"seeds": (1, 2), **more})


def test_page_writes_the_same_job_documents_as_python():
    """This tests only the page's scripts, without the engine."""
    jobs = [made(*arguments) for arguments in JOBS.values()]
    jobs += [
        dataclasses.replace(jobs[0], seeds=()),
        dataclasses.replace(jobs[0], machine=unusual_machine()),
    ]
    asked = [
        {
            **{"threads": job.threads, "placement": job.placement, "seeds": job.seeds},
            "parameters": [[name, 0, value] for name, value in job.parameters],
            "program": {"name": job.program.name, "sha256": job.program.sha256},
            "machine": {"resolved": dataclasses.replace(job.machine, numbers=())},
        }
        for job in jobs
    ]
    script = "".join((playground.HERE / name).read_text() for name in ("job.js", "outcome.js"))
    script += """
      const [K, jobs] = JSON.parse(require("node:fs").readFileSync(0));
      process.stdout.write(canonical(jobs.map(job => documentOf(K, job))));"""
    question = msgspec.json.encode([playground.shared(), asked]).decode()
    written = msgspec.json.encode([job.document() for job in jobs])
    assert wasm.node("-e", script, input=question) == msgspec.json.decode(written)


def unusual_machine():
    """Returns a machine that differs from the default in all numbers that documents may omit."""
    machine = topology.load("ccx:2x4")
    return dataclasses.replace(
        machine,
        line=128,
        chance=dataclasses.replace(machine.chance, slice=5),
        core=dataclasses.replace(machine.core, order="weak", far_owned=True),
        resolvers=tuple(
            dataclasses.replace(resolver, pointers=2, overflow="evict")
            for resolver in machine.resolvers
        ),
        memories=tuple(map(cached, machine.memories)),
    )


# "bus" is tried in each run of the tests, so that no change breaks the page's engine unnoticed.
IN_EVERY_RUN = "bus"


@pytest.mark.timeout(1800)  # one of them builds the page's engine
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if name != IN_EVERY_RUN else []) for name in JOBS],
)
def test_page_and_native_engine_give_equal_hashes(name):
    job = made(*JOBS[name])
    assert wasm.answer(job)["hash"] == execute([job])[0].result_hash


@pytest.mark.long
def test_page_and_native_engine_agree_in_lockstep_and_with_scattered_threads():
    for more in ({"seeds": ()}, {"placement": "scatter"}):
        job = made("ccx:2x4", "lock/ticket", (4,), {"ops": 5}, **more)
        assert wasm.answer(job)["hash"] == execute([job])[0].result_hash


def slower(link):
    return dataclasses.replace(link, data=link.data * 2)


def cached(memory):
    return dataclasses.replace(memory, cache_sets=4, cache_ways=2, cache_hit=20_000)


@pytest.mark.long
@pytest.mark.parametrize(("parts", "edit"), [("links", slower), ("memories", cached)])
def test_page_and_native_engine_give_equal_hashes_for_an_edited_machine(parts, edit):
    job = made("ccx:2x4", "lock/ticket", (8,), {"ops": 10})
    changed = {parts: tuple(map(edit, getattr(job.machine, parts)))}
    edited = dataclasses.replace(job, machine=dataclasses.replace(job.machine, **changed))
    hashes = [execute([variant])[0].result_hash for variant in (job, edited)]
    assert wasm.answer(edited)["hash"] == hashes[1] != hashes[0]


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["bus", "complexes", "kinds of cores", "interrupts", "equal routes"]
)
def test_stepper_in_the_page_has_the_same_data_as_uncore_watch(name):
    machine, workload, threads, parameters = JOBS[name]
    job = made(machine, workload, (min(8, threads[-1]),), parameters, seeds=(1,))
    expected = json.loads(json.dumps(document(record(job, Window(around="measured")), "")))
    trace = wasm.answer(job, (job.threads[0], 1))["trace"]
    assert {key for key in expected if expected[key] != trace[key]} == set()


@pytest.mark.long
def test_trace_in_the_page_contains_only_its_window_and_the_run_ends_after_the_window():
    job = made("ccx:2x4", "lock/ticket", (8,), {"ops": 10}, seeds=(1,))
    whole = record(job, Window(around="measured"))
    start = whole.window.start + 2_000_000
    expected = json.loads(json.dumps(document(record(job, Window(start, start + 3_000_000)), "")))
    trace = wasm.answer(job, (8, 1), [2_000_000, 3_000_000])["trace"]
    assert expected["tables"]["messages"] == trace["tables"]["messages"]
    assert expected["tables"]["states"] == trace["tables"]["states"]
    closed = [
        [row for row in of["tables"]["transactions"] if row[-1] <= 3_000_000]
        for of in (expected, trace)
    ]
    assert len(closed[0]) > 10 and closed[0] == closed[1]


@pytest.mark.long
def test_ticket_lock_on_four_complexes_takes_less_than_ten_seconds():
    job = made("ccx:4x8", "lock/ticket", (1, 2, 4, 8, 16, 32), {}, seeds=(1,))
    begun = time.process_time()
    execute([job])
    native, in_page = time.process_time() - begun, wasm.answer(job)["seconds"]
    print(f"native {native:.2f} s, in a page {in_page:.2f} s, ratio {in_page / native:.1f}")
    assert in_page < 10


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("playground") / "playground.html"
    path.write_text(playground.page(wasm.built().read_bytes()))
    return path


def finished(shown):
    shown.wait_for_selector("html[data-ready]")
    shown.wait_for_selector('#job[aria-busy="false"]', timeout=60_000)


@pytest.mark.long
def test_page_downloads_less_than_eight_megabytes(page):
    assert len(gzip.compress(page.read_bytes())) < 8_000_000


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True])
def test_page_can_run_edit_and_step_with_the_keyboard_only(page, dark):
    with opened(page, "#machine=ccx:2x4&threads=1,4", dark=dark) as shown:
        finished(shown)  # the page runs when it opens
        job = made("ccx:2x4", "lock/ticket", (1, 4), {}, seeds=(1,))
        assert shown.text_content("#hash") == execute([job])[0].result_hash
        shown.fill("#threads", "1,2,4")
        shown.focus("#threads")
        shown.keyboard.press("Enter")
        finished(shown)
        job = made("ccx:2x4", "lock/ticket", (1, 2, 4), {}, seeds=(1,))
        assert shown.text_content("#hash") == execute([job])[0].result_hash
        shown.focus("#numbers-box summary")
        shown.keyboard.press("Enter")
        shown.locator("#numbers input").first.fill("2")
        shown.focus("#run")
        shown.keyboard.press("Enter")
        finished(shown)
        assert shown.locator("#runs li").count() == 3
        assert shown.text_content("#hash") != execute([job])[0].result_hash
        shown.locator("#points button").first.focus()
        shown.keyboard.press("Enter")
        finished(shown)
        stepper = shown.frame_locator("#stepper")
        stepper.locator("#first").focus()
        shown.keyboard.press("ArrowRight")
        assert stepper.locator("#now").text_content() != "0 ps"
        assert faults(shown) == []


@pytest.mark.long
def test_page_refuses_more_threads_than_the_machine_has(page):
    with opened(page) as shown:
        finished(shown)
        shown.fill("#threads", "65")
        shown.click("#run")
        assert "has room for 64; write at most 64" in shown.text_content("#state")


TWO = "#machine=ccx:2x4&workload=lock/ticket&other=lock/mcs&threads=4&set.ops=10"


@pytest.mark.long
def test_two_workloads_run_and_are_stepped_together(page):
    with opened(page, TWO, width=1600) as shown:
        finished(shown)
        jobs = [
            made("ccx:2x4", name, (4,), {"ops": 10}, seeds=(1,))
            for name in ("lock/ticket", "lock/mcs")
        ]
        hashes = [execute([job])[0].result_hash for job in jobs]
        assert shown.text_content("#hash").split() == hashes
        assert "lock/ticket lock/mcs --threads 4" in shown.text_content("#command")
        assert shown.locator("#points tr").count() == shown.locator("#runs li").count() == 2
        shown.click("text=both")
        finished(shown)
        stepper = shown.frame_locator("#stepper")
        stepper.locator("#machine-1 .agent").first.wait_for()
        assert stepper.locator("h1").text_content() == "lock/ticket and lock/mcs"


@pytest.mark.long
def test_run_replaces_its_twin(page):
    with opened(page, TWO) as shown:
        finished(shown)
        hashes = shown.text_content("#hash")
        shown.click("#run")
        finished(shown)
        assert shown.text_content("#hash") == hashes
        assert shown.locator("#runs li").count() == 2
        shown.fill("#threads", "2,4")
        shown.click("#run")
        finished(shown)
        assert shown.locator("#runs li").count() == 4


@pytest.mark.long
def test_back_returns_to_the_choices_and_the_result_of_the_run_before(page):
    expect = pytest.importorskip("playwright.sync_api").expect
    with opened(page, TWO) as shown:
        finished(shown)
        first = shown.text_content("#hash")
        shown.fill("#threads", "2")
        shown.fill("#threads", "2,8")
        shown.locator("#other").select_option("")
        shown.click("#run")
        finished(shown)
        assert shown.text_content("#hash") not in first
        shown.go_back()
        expect(shown.locator("#threads")).to_have_value("4")
        finished(shown)
        assert shown.text_content("#hash") == first
        assert shown.locator("#other").input_value() == "lock/mcs"
        shown.go_forward()
        expect(shown.locator("#threads")).to_have_value("2,8")
        finished(shown)
        assert shown.text_content("#hash") not in first
        assert shown.locator("#runs li").count() == 3


@pytest.mark.long
def test_heat_map_of_links_agrees_with_the_result(page):
    with opened(page, TWO) as shown:
        finished(shown)
        job = made("ccx:2x4", "lock/ticket", (4,), {"ops": 10}, seeds=(1,))
        busy = dict(execute([job])[0].points[0].links)
        titles = shown.locator("#heat figure").first.locator("line title").all_text_contents()
        machine = job.machine
        assert len(titles) == len({frozenset((k.source, k.target)) for k in machine.links})
        told = {
            frozenset(ends.split(" – ")): float(share.removesuffix(" %"))
            for ends, share in (title.split(": ") for title in titles)
        }
        for name, ppm in busy.items():
            assert told[frozenset(name.split(">"))] >= ppm / 1e4 - 0.051
        assert max(told.values()) == pytest.approx(max(busy.values()) / 1e4, abs=0.051)


@pytest.mark.long
def test_url_restores_all_choices_of_the_page(page):
    with opened(page, TWO) as shown:
        finished(shown)
        shown.select_option("#placement", "scatter")
        shown.click("#numbers-box summary")
        shown.locator("#numbers input").first.fill("2")
        shown.click("#run")
        finished(shown)
        address, hashes = shown.get_attribute("#link", "href"), shown.text_content("#hash")
    with opened(page, address) as again:
        finished(again)
        assert again.text_content("#hash") == hashes
        assert again.input_value("#placement") == "scatter"
        assert again.locator("#numbers .changed").count() == 1
        assert again.get_attribute("#link", "href") == address


def written(text, machine="ccx:2x4", threads=8):
    job = made(machine, str(playground.FRAME), (threads,), {"ops": 20}, seeds=(1,))
    return wasm.answer(job, text=text)["points"][0]


@pytest.mark.long
@pytest.mark.parametrize("machine", ["ccx:2x4", "weak:8"])
@pytest.mark.parametrize("name", playground.examples())
def test_example_workload_passes_its_own_checks(name, machine):
    point = written(playground.examples()[name], machine)
    assert point["ops"] == 160 and not point["failures"]


@pytest.mark.long
def test_example_locks_fetch_as_many_lines_as_the_shipped_locks():
    for name, shipped in (("ticket lock", "lock/ticket"), ("MCS lock", "lock/mcs")):
        text = playground.examples()[name]
        points = [
            wasm.answer(made("ccx:4x8", shipped, (32,), {"ops": 20}, seeds=(1,)))["points"][0],
            written(text, "ccx:4x8", 32),
        ]
        lines = [sum(point["transfers"].values()) / point["ops"] for point in points]
        assert lines[1] == pytest.approx(lines[0], rel=0.25), name


LOSES = """line count
seen = load count
store count seen + 1
at end
sum = load count
check sum == threads * turns
"""
COUNTS = """line count
each mine
loop
  seen = load count
  done = cas count seen to seen + 3 - 2
  if done != 0
    break
  end
end
own = load mine
store mine own + 100000 * 2
other = load mine[me]
check other >= 200000
at end
sum = load count
check sum == threads * turns
last = load mine[threads - 1]
check last == turns * 200000
"""


@pytest.mark.long
def test_failed_self_check_of_a_written_workload_is_reported():
    assert written(LOSES)["failures"] == ["line 6: this check failed at the end"]
    assert not written(COUNTS)["failures"]
    early = COUNTS.replace("check other >= 200000", "check other < 200000")
    assert set(written(early)["failures"]) == {"line 13: this check failed while threads ran"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("line a\n\nstor a 1", "line 3: 'stor': expected VALUE = ..., line, each"),
        ("line a\n\nstor a 1", "pause, store, store.release, loop"),
        ("stor a 1", "; write store NAME SUM"),
        ("line b c\nx = load a", "line 2: 'a' is not in memory: expected b, c; write line a above"),
        ("line a\nx = load", "line 2: the line ends: expected a; write VALUE = load NAME"),
        ("line a\nx = load a 3", "line 2: '3': expected the end of the line; write VALUE = load"),
        ("line a\nloop 3", "line 2: '3': expected the end of the line; write loop"),
        ("line a\nstore a y", "line 2: 'y' has no value: expected a number or a name with one; w"),
        ("line a\nx = a + 1", "line 2: 'a' is in memory: expected a value; write VALUE = load a"),
        ("line a\nloop\nx = load a", "line 2: 'loop': expected its end; write end below it"),
        ("line a\nx = cas a 1 2", "line 2: '1 2': expected EXPECTED to NEW; write VALUE = cas"),
        ("line a\nwait a 1", "line 2: '1': expected a comparison"),
        ("check 1", "line 1: '1': expected a comparison by == != < or >=; write check SUM == SUM"),
        ("end", "line 1: 'end': nothing is open; write loop or if SUM == SUM above"),
        ("me = 1", "line 1: 'me' is given: expected a name of yours; write my_me"),
        ("line a a", "line 1: 'a' is there already: expected a new name; write line NAME..."),
    ],
)
def test_mistake_in_a_written_workload_is_reported_with_its_line_and_a_remedy(text, says):
    with pytest.raises(AssertionError) as wrong:
        written(text)
    assert says in str(wrong.value)


@pytest.mark.long
def test_more_threads_than_a_written_workload_supports_are_refused():
    (why,) = written(LOSES, "mesh:16x8", 65)["failures"]
    assert why.endswith("a text has at most 64 threads; write fewer")


MARKED = """text => text.ariaInvalid !== 'true' ? null :
  text.value.slice(text.selectionStart).split('\\n')[0]"""


def marked(shown):
    """Returns the line of the editor that is marked as wrong, which has the cursor."""
    return shown.locator("#text").evaluate(MARKED)


@pytest.mark.long
def test_workload_can_be_written_run_and_stepped_through_in_the_page(page):
    with opened(page, "#machine=ccx:2x4&threads=4&set.ops=10") as shown:
        finished(shown)
        shown.select_option("#workload", "written")
        shown.fill("#text", playground.examples()["MCS lock"])
        shown.click("#run")
        finished(shown)
        assert shown.text_content("#state").startswith("done")
        assert "written here" in shown.text_content("#command")
        address, digest = shown.get_attribute("#link", "href"), shown.text_content("#hash")
        shown.locator("#points button").first.click()
        finished(shown)
        stepper = shown.frame_locator("#stepper")
        stepper.locator("#machine .agent").first.wait_for()
        names = " ".join(stepper.locator("#line option").all_text_contents())
        assert "tail" in names and "granted[" in names
        assert "written:12count = load inside" in stepper.locator("#harts").text_content()
        shown.fill("#text", "nonsense")
        shown.click("#run")
        finished(shown)
        assert "line 1: 'nonsense'" in shown.text_content("#text-wrong")
        assert (
            shown.text_content("#state") == "line 1 of the text: see below it"
        )  # refers to the message instead of repeating it
        assert faults(shown) == []
        shown.fill("#text", LOSES)
        assert marked(shown) is None
        shown.click("#run")
        finished(shown)
        assert shown.text_content("#text-wrong") == "line 6: this check failed at the end"
        assert marked(shown) == "check sum == threads * turns"
        assert shown.text_content("#line-numbers").split() == list("1234567")
        assert faults(shown) == []
    with opened(page, address) as again:
        finished(again)
        assert again.text_content("#hash") == digest
