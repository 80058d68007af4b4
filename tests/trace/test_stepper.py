"""Do the stepper's states and messages agree with the transaction log?  A browser runs the page."""

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from tests.differential.jobs import SUPPORT
from tests.trace.browser import faults, opened
from tests.trace.test_trace import job

from uncore import engine
from uncore.protocol.table_shapes import PROTOCOLS
from uncore.protocol.tables import load
from uncore.trace import Window, record
from uncore.trace.named_tables import TIME_NOT_REACHED
from uncore.trace.places import Places
from uncore.trace.stepper.data import document
from uncore.trace.stepper.page import page as page_of

GIVES = ("Data", "Grant", "Value", "PutAck")


def rows(table, columns):
    return [dict(zip(columns, row, strict=True)) for row in table]


def windows(protocol, many, seed=0):
    """Yields random jobs and windows: machines of every fabric, locks and counters."""
    draw = random.Random(f"{protocol} {seed}")
    for _ in range(many):
        machine = draw.choice(["bus:4", "ring:4", "mesh:2x2", "ccx:2x2", "ccx:3x2"])
        workload = draw.choice(["lock/ticket", "lock/mcs", "counter/atomic"])
        made = job(machine, workload, draw.choice([2, 3, 4]), {"protocol": protocol}, ops=4)
        start = draw.randrange(100_000, 900_000)
        yield made, start, start + draw.randrange(600_000, 1_500_000)


def agrees(made, start, until):
    """Compares the page of a window with the log of the same job without tracing."""
    content = document(record(made, Window(start, until)), "")
    texts = content["texts"]
    table = {
        name: rows(content["tables"][name], columns) for name, columns in content["columns"].items()
    }
    sent = {}
    for message in table["messages"]:
        message["kind"] = texts[message["kind"]]
        assert message["acts"] == TIME_NOT_REACHED or message["acts"] >= message["arrived"]
        sent.setdefault((message["line"], message["number"]), []).append(message)
    log = engine.run(made, frozenset({"log"}))["observed"]["log"]
    names = list(log)
    for values in zip(*(list(log[name]) for name in names), strict=True):
        record_ = {name: value for name, value in zip(names, values, strict=True)}
        mine = [m for m in sent.get((record_["line"], record_["number"]), [])]
        same_request(record_, mine, start, until)
        same_right(record_, table, content, texts, start, until)
    return len(table["messages"])


def same_request(record_, mine, start, until):
    if start <= record_["request"] <= until:
        requests = [
            m for m in mine if m["kind"] == record_["op"] and m["sender"] == record_["requester"]
        ]
        assert [m["sent"] + start for m in requests] == [record_["request"]], record_
        assert requests[0]["receiver"] == record_["resolver"]
    if (
        start <= record_["request"]
        and record_["data"] != TIME_NOT_REACHED
        and record_["data"] <= until
    ):
        come = {
            m["arrived"] + start
            for m in mine
            if m["receiver"] == record_["requester"] and m["kind"] in GIVES
        }
        assert record_["data"] in come, record_
    if (
        start <= record_["request"]
        and record_["close"] != TIME_NOT_REACHED
        and record_["close"] <= until
    ):
        probes = [
            m
            for m in mine
            if m["kind"] in ("ProbeS", "ProbeM", "Inv") and m["sender"] == record_["resolver"]
        ]
        probes = [m for m in probes if record_["open"] <= m["sent"] + start <= record_["close"]]
        assert len(probes) >= record_["probes"] or record_["op"] == "Put", record_


def same_right(record_, table, content, texts, start, until):
    """Checks that a copy whose data have arrived is in the state that was granted in the log."""
    cores = len(content["machine"]["cores"])
    if (
        record_["requester"] >= cores
        or record_["op"] in ("Put", "Amo")
        or not start <= record_["data"] <= until
    ):
        return
    arrival = (record_["requester"], record_["line"], record_["data"])
    changes = [c for c in table["states"] if (c["agent"], c["line"], c["at"] + start) == arrival]
    granted = [c for c in changes if texts[c["event"]].startswith(("Data", "Grant"))]
    assert [c["after"] for c in granted] in ([record_["right"]], ["IM"]), record_


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_states_and_messages_of_the_stepper_are_those_of_the_log(protocol):
    assert sum(agrees(*window) for window in windows(protocol, 2)) > 50


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_states_and_messages_of_the_stepper_are_those_of_the_log_in_many_windows(protocol):
    assert sum(agrees(*window) for window in windows(protocol, 13, seed=1)) > 500


def test_drawn_message_is_at_each_stop_at_the_time_of_its_head():
    """The drawn path ends at the place and time at which the head of the message arrives (F3.3)."""
    trace = record(job(), Window())
    messages = trace.tables["messages"]
    ways = Places(trace.job).ways(messages.iter_rows(named=True), 0)
    for row, (stops, times, waits) in zip(messages.iter_rows(named=True), ways, strict=True):
        assert times == sorted(times) and len(stops) == len(times) == len(waits) + 1
        assert sum(waits) == row["waited"]
        links = [trace.job.machine.links[number] for number in row["links"]]
        tail = max((max(link.data_busy, link.control_busy) for link in links), default=0)
        if row["arrived"] != TIME_NOT_REACHED and row["hart"] == TIME_NOT_REACHED:
            assert 0 <= row["arrived"] - times[-1] <= tail


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("stepper") / "w.html"
    path.write_text(page_of([record(job(ops=3), Window(around="measured"))], "uncore watch <x>"))
    return path


def of_200_operations():
    return page_of([record(job(ops=25), Window(around="measured"))], "")


def test_page_of_200_operations_is_smaller_than_400_kilobytes():
    # With this limit, a page of 800 operations is smaller than a megabyte.
    assert len(of_200_operations().encode()) < 400_000


@pytest.mark.long
def test_page_of_200_operations_opens_in_two_seconds(tmp_path):
    (tmp_path / "w.html").write_text(of_200_operations())
    with opened(tmp_path / "w.html") as page:
        timing = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
        assert page.evaluate(timing) < 2000


OVERLAPS = """texts => {
  const boxes = texts.filter(text => text.textContent).map(text => text.getBoundingClientRect());
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 &&
    a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return boxes.filter((a, i) => boxes.slice(0, i).some(b => meet(a, b))).length;
}"""


LABELS = ("#chart .arrow text, #chart .life-name", "#machine .flying text")
OUTSIDE = """texts => texts.filter(text => {
  const [a, b] = [text, text.ownerSVGElement].map(node => node.getBoundingClientRect());
  const across = a.left < b.left - 1 || a.right > b.right + 1;
  return across || a.top < b.top - 1 || a.bottom > b.bottom + 1;
}).length"""


def check_labels(path, made, steps, start=None, until=None):
    window = Window(start, until) if until else Window(around="measured")
    path.write_text(page_of([record(made, window)], ""))
    with opened(path, width=1600, height=1000) as shown:
        for _ in range(steps):
            for labels in LABELS:
                assert shown.locator(labels).evaluate_all(OVERLAPS) == 0, (labels, now(shown))
            assert shown.locator(LABELS[1]).evaluate_all(OUTSIDE) == 0, now(shown)
            shown.keyboard.press("t")


@pytest.mark.parametrize(("machine", "threads"), [("bus:8", 8), ("ccx:2x4", 8)])
def test_labels_of_messages_never_cover_each_other(tmp_path, machine, threads):
    check_labels(tmp_path / "w.html", job(machine, "lock/ticket", threads, ops=3), 12)


@pytest.mark.long
@pytest.mark.parametrize("number", range(20))
def test_labels_never_cover_each_other_in_twenty_windows(tmp_path, number):
    ((made, start, until),) = windows("moesi", 1, seed=number)
    check_labels(tmp_path / "w.html", made, 12, start, until)


def test_page_unpacks_to_the_document_of_the_run(page):
    expected = document(record(job(ops=3), Window(around="measured")), "uncore watch <x>")
    with opened(page) as shown:
        assert shown.evaluate("stepper.data") == json.loads(json.dumps(expected))


def test_stepper_opens_where_two_requests_contend(page):
    with opened(page) as shown:
        assert shown.evaluate("stepper.openTransactions(stepper.line, stepper.now).length") > 1


def now(page):
    return page.evaluate("stepper.now")


def test_keyboard_alone_steps_forward_and_back(page):
    with opened(page) as shown:
        begun = now(shown)
        seen = [begun]
        for _ in range(6):
            shown.keyboard.press("ArrowRight")
            seen.append(now(shown))
        assert seen == sorted(set(seen))
        for before in seen[-2::-1][:5]:
            shown.keyboard.press("ArrowLeft")
            assert now(shown) == before
        shown.keyboard.press("o")
        ends = shown.evaluate("stepper.data.operations.map(o => o[2]).sort((a, b) => a - b)")
        assert now(shown) == ends[0]
        shown.keyboard.press("t")
        assert now(shown) > ends[0]
        shown.keyboard.press("End")
        assert now(shown) == shown.evaluate("stepper.data.until")
        shown.keyboard.press("Home")
        assert now(shown) == 0


def test_message_is_drawn_while_it_is_under_way(page):
    with opened(page) as shown:
        for _ in range(8):
            shown.keyboard.press("ArrowRight")
            under_way = shown.evaluate("stepper.underWay(stepper.line, stepper.now).length")
            registers = shown.locator("#machine .flying path.interrupt").count()
            assert shown.locator("#machine .flying path").count() - registers == under_way


def test_copies_are_drawn_in_their_states(page):
    with opened(page, "#t=2500000") as shown:
        states = dict(shown.evaluate("[...stepper.statesAt(stepper.line, stepper.now)]"))
        cores = shown.evaluate("stepper.data.machine.cores.length")
        drawn = shown.locator(".agent.core .state").all_text_contents()
        assert [states.get(core, "") for core in range(cores)] == drawn
        assert any(drawn)


def test_line_is_chosen_from_the_list_or_by_the_key_l(page):
    with opened(page) as shown:
        lines = shown.evaluate("stepper.data.lines.map(l => l[0])")
        shown.select_option("#line", str(lines[1]))
        assert shown.evaluate("stepper.line") == lines[1]
        shown.locator("h1").click()
        shown.keyboard.press("l")
        assert shown.evaluate("stepper.line") == lines[2]


def test_url_restores_the_shown_time_and_cache_line(page):
    with opened(page) as shown:
        shown.keyboard.press("l")
        for _ in range(3):
            shown.keyboard.press("ArrowRight")
        there, line = now(shown), shown.evaluate("stepper.line")
        address = shown.evaluate("location.hash")
    with opened(page, address) as again:
        assert (now(again), again.evaluate("stepper.line")) == (there, line)


def test_dragging_the_time_slider_shows_that_time(page):
    with opened(page) as shown:
        half = shown.evaluate("Math.floor(stepper.data.until / 2)")
        shown.locator("#time").fill(str(half))
        assert now(shown) == half
        assert shown.locator("#log li[aria-current]").count() == 1


def test_drawing_shows_only_the_part_of_the_machine_that_is_used(tmp_path):
    made = record(job("ccx:8x8", threads=2, ops=2), Window(around="measured"))
    (tmp_path / "w.html").write_text(page_of([made], ""))
    with opened(tmp_path / "w.html") as shown:
        width = "Number(document.getElementById('machine').getAttribute('viewBox').split(' ')[2])"
        part = shown.evaluate(width)
        shown.keyboard.press("c")
        assert part < 0.6 * shown.evaluate(width)
        shown.keyboard.press("c")
        assert shown.evaluate(width) == part


def test_two_machines_of_64_cores_side_by_side_are_drawn_at_a_legible_size(tmp_path):
    made = record(job("mesh:8x8", threads=2, ops=2), Window(around="measured"))
    (tmp_path / "w.html").write_text(page_of([made, made], ""))
    with opened(tmp_path / "w.html") as shown:
        shown.keyboard.press("c")  # shows the whole machine
        for place in ("#machine", "#machine-1"):
            assert shown.locator(place).bounding_box()["height"] > 350
        (edge,) = shown.locator("#machine .agent rect").first.evaluate_all(
            "boxes => boxes.map(box => getComputedStyle(box).vectorEffect)"
        )
        assert edge == "non-scaling-stroke"  # edges do not get thinner with the drawing


def test_stepper_log_describes_messages_in_words(page):
    with opened(page) as shown:
        shown.keyboard.press("End")
        text = " ".join(shown.locator("#log li").all_text_contents())
        assert "has done an operation in" in text
        assert shown.locator("#command").text_content() == "uncore watch <x>"


@pytest.mark.parametrize("dark", [False, True])
def test_stepper_passes_axe(page, dark):
    with opened(page, "#t=2500000", dark=dark) as shown:
        assert faults(shown) == []


@pytest.fixture(scope="module")
def page_of_own_protocol(tmp_path_factory) -> Path:
    """VI has states that the shipped protocols lack: at most one cache has the line."""
    path = tmp_path_factory.mktemp("stepper") / "vi.html"
    overrides = {"protocol": str(SUPPORT / "protocols/vi")}
    path.write_text(page_of([record(job(ops=3, with_=overrides), Window(around="measured"))], ""))
    return path


FILLS = """boxes => boxes.map(box =>
  [box.parentNode.querySelector('.state')?.textContent, getComputedStyle(box).fill])"""


def test_states_of_own_protocol_are_coloured_by_role(page_of_own_protocol):
    fills = {}
    with opened(page_of_own_protocol) as shown:
        for _ in range(60):
            shown.keyboard.press("ArrowRight")
            for state, fill in shown.locator(".agent.core rect").evaluate_all(FILLS):
                fills.setdefault(state, set()).add(fill)
        assert {"V", "IV", ""} <= fills.keys()
        assert all(len(colours) == 1 for colours in fills.values())
        assert fills["V"] != fills[""] == fills["IV"]
        swatch = shown.locator("#legend span", has_text="V may write").locator("rect")
        assert {fill for _, fill in swatch.evaluate_all(FILLS)} == fills["V"]


@pytest.mark.parametrize("protocol", ["mesif", "moesi"])
def test_legend_lists_states_that_occur(tmp_path, protocol):
    made = job(ops=3, with_={"protocol": protocol})
    (tmp_path / "w.html").write_text(page_of([record(made, Window(around="measured"))], ""))
    with opened(tmp_path / "w.html") as shown:
        occur = shown.evaluate(
            "(({ tables, columns }) => [...new Set(tables.states.map("
            "row => row[columns.states.indexOf('after')]))])(stepper.data)"
        )
        legend = " ".join(shown.locator("#legend span").all_text_contents())
        copies = {"M", "E", "O", "F", "S", "SM", "OM", "MI"}
        for state in copies:
            assert (f" {state}," in f"{legend}," or f" {state} " in legend) == (state in occur)


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> Path:
    """Records MESI and MOESI with two harts that take turns. Each reads the word that the other has
    written, and then writes it.
    """
    jobs = [
        job("mesh:2x2", "latency/alternate", 2, {"protocol": name}, by="look", rounds=4)
        for name in ("mesi", "moesi")
    ]
    path = tmp_path_factory.mktemp("stepper") / "pair.html"
    path.write_text(page_of([record(made, Window(around="measured")) for made in jobs], ""))
    return path


NOWS = "stepper.runs.map(run => run.now)"
CHANGES = """stepper.runs.map(({ D, line, now }) => D.tables.states
  .filter(row => row[D.columns.states.indexOf('line')] === line)
  .map(row => Object.fromEntries(D.columns.states.map((name, i) => [name, row[i]])))
  .map(change => ({ ...change, event: D.texts[change.event] }))
  .filter(({ before, after }) => before !== after))"""


def test_runs_of_two_protocols_diverge_where_a_dirty_line_is_read(pair):
    """The owner of MESI loses its right to write, while that of MOESI stays the owner. Before this
    point, both runs are equal.
    """
    with opened(pair, width=1600) as shown:
        changes = shown.evaluate(CHANGES)
        same = ("agent", "before", "event", "after")
        first = next(
            both
            for both in zip(*changes, strict=False)
            if [both[0][key] for key in same] != [both[1][key] for key in same]
        )
        assert [(change["before"], change["after"]) for change in first] == [("M", "S"), ("M", "O")]
        assert shown.evaluate(NOWS) == [change["at"] for change in first]
        said = shown.locator("#parting span").all_text_contents()
        assert [text.split()[0] for text in said] == ["The", "MESI", "MOESI"]
        assert "M → S" in said[1] and "M → O" in said[2]
        assert shown.locator("ol li.parts").count() >= 2
        assert shown.locator("svg line.parting").count() >= 2
        assert faults(shown) == []


EVENTS = "stepper.runs.map(run => run.events().map(event => event[3]))"
PARTINGS = "stepper.partings()"


def test_every_divergence_is_marked_and_can_be_visited(pair):
    """Between two divergences the events of both runs are equal."""
    with opened(pair, width=1600) as shown:
        (a, b), partings = shown.evaluate(EVENTS), shown.evaluate(PARTINGS)
        assert len(partings) > 1
        for i, j in partings:
            back = 0
            while a[i - back - 1] == b[j - back - 1]:
                back += 1
            assert a[i] != b[j] and back >= 3, (i, j)
        assert shown.locator("#density .parting").count() == 2 * len(partings)
        seen = [shown.evaluate(NOWS)]
        for _ in partings:
            shown.keyboard.press("p")
            seen.append(shown.evaluate(NOWS))
        assert seen[-1] == seen[0] and seen[1] != seen[0]
        assert f"part {len(partings)} times" in shown.text_content("#parting")
        shown.keyboard.press("P")
        assert shown.evaluate(NOWS) == seen[-2]


def test_runs_of_two_programs_show_lines_of_the_same_object(tmp_path):
    locks = [job("bus:4", lock, 4, ops=6) for lock in ("lock/ticket", "lock/mcs")]
    traces = [record(made, Window(around="measured")) for made in locks]
    (tmp_path / "w.html").write_text(page_of(traces, ""))
    with opened(tmp_path / "w.html") as shown:
        names = shown.evaluate("stepper.runs.map(run => run.lineName())")
        assert names[0] != names[1] and {name[:6] for name in names} == {"lock->"}
        assert shown.text_content("#parting") == f"Two lines: {names[0]} and {names[1]}."
        assert not shown.locator("#there").is_visible()
        for name in ("guarded->entries", "guarded->owner"):
            if option := shown.locator("#line option", has_text=name).first.get_attribute("value"):
                shown.select_option("#line", option)
                break
        assert shown.locator("#there").is_visible()


def test_equal_runs_have_no_divergence(tmp_path):
    alike = [record(job("bus:2", threads=2, ops=2), Window(around="measured"))] * 2
    (tmp_path / "w.html").write_text(page_of(alike, ""))
    with opened(tmp_path / "w.html") as shown:
        assert shown.locator("#parting").text_content().startswith("Alike")
        assert not shown.locator("#there").is_visible()


def test_two_runs_are_stepped_together_by_operation_or_by_time(tmp_path):
    locks = [job("bus:4", lock, 4, ops=3) for lock in ("lock/ticket", "lock/mcs")]
    traces = [record(made, Window(around="measured")) for made in locks]
    (tmp_path / "w.html").write_text(page_of(traces, ""))
    with opened(tmp_path / "w.html") as shown:
        ends = shown.evaluate(
            "stepper.runs.map(run => run.D.operations.map(o => o[2]).sort((a, b) => a - b))"
        )
        assert len(ends[0]) == len(ends[1]) > 3 and ends[0] != ends[1]
        shown.keyboard.press("Home")
        for number in range(3):
            shown.keyboard.press("o")
            assert shown.evaluate(NOWS) == [run[number] for run in ends]
        shown.keyboard.press("b")
        for _ in range(3):
            before = shown.evaluate(NOWS)
            assert before[0] == before[1]
            next_ = min(shown.evaluate("stepper.runs.map(run => run.step('message', 1))"))
            shown.keyboard.press("ArrowRight")
            assert shown.evaluate(NOWS) == [next_, next_]
        address = shown.evaluate("location.hash")
    assert address.endswith("by=time")


LIT = """[...document.querySelectorAll('#diagram .lit')].map(({ dataset }) => ({ ...dataset }))"""


def test_state_of_the_chosen_core_and_its_last_transition_are_highlighted(page):
    client = load("mesi").client
    with opened(page) as shown:
        shown.keyboard.press("s")
        core = int(shown.locator("#agent").input_value())
        assert core == shown.evaluate("stepper.data.harts[1][1]")
        seen = set()
        for _ in range(40):
            shown.keyboard.press("ArrowRight")
            state = dict(shown.evaluate("[...stepper.statesAt(stepper.line, stepper.now)]"))
            nodes = [lit for lit in shown.evaluate(LIT) if "state" in lit]
            assert [node["state"] for node in nodes] == [state.get(core, "I")]
            for arrow in (lit for lit in shown.evaluate(LIT) if "from" in lit):
                before, event = shown.locator("#cell").text_content().split(":")[0].split(", ")
                cell = client[before, event]
                assert (arrow["from"], arrow["to"]) == (before, cell.next)
                assert cell.text in shown.locator("#cell").text_content()
                seen.add((before, event))
        assert len(seen) > 2


def test_click_on_a_core_shows_its_states(page):
    with opened(page) as shown:
        shown.locator(".agent.core").nth(2).click()
        assert shown.locator("#agent").input_value() == "2"


def test_messages_are_drawn_along_a_bus(tmp_path):
    """Each message is drawn above or below its core, or on the bar of the bus."""
    traced = record(job("bus:4", threads=4, ops=2), Window(around="measured"))
    (tmp_path / "w.html").write_text(page_of([traced], ""))
    with opened(tmp_path / "w.html") as shown:
        places = """stepper.underWay(stepper.line, stepper.now).map(m =>
          [stepper.position(m, (m.sent + m.arrived) / 2), m.stops.map(s => D.machine.stops[s])])"""
        places = places.replace("D.machine", "stepper.data.machine")
        (bus,) = shown.evaluate(
            "stepper.data.machine.buses.map(s => stepper.data.machine.stops[s])"
        )
        met = 0
        for _ in range(30):
            shown.keyboard.press("ArrowRight")
            for (x, y), stops in shown.evaluate(places):
                assert y == bus[1] or x in [stop[0] for stop in stops], (x, y, stops)
                met += x not in (stops[0][0], bus[0]) or y not in (stops[0][1], bus[1])
        assert met and shown.locator("#machine line.bar").count() == 1


def test_strips_of_links_show_mean_numbers_of_crossing_and_waiting_messages(page):
    """The strip of a link shows two means over the run: the number of messages that cross the link,
    and the number of those that wait for it.
    """
    with opened(page) as shown:
        content = shown.evaluate("stepper.data")
        loads = dict(shown.evaluate("[...stepper.linkLoads]"))
        spent = {"use": {}, "queue": {}}
        for stops, times, waits in content["ways"]:
            ends = zip(pairwise(stops), pairwise(times), waits, strict=True)
            for (a, b), (come, gone), wait in ends:
                for what, begin, end in (("queue", come, come + wait), ("use", come + wait, gone)):
                    wire = f"{min(a, b)}-{max(a, b)}"
                    within = max(0, min(end, content["until"]) - max(begin, 0))
                    spent[what][wire] = spent[what].get(wire, 0) + within
        assert sum(spent["queue"].values()) > 0
        for what, of_wire in spent.items():
            means = {wire: sum(load[what]) / len(load[what]) for wire, load in loads.items()}
            assert means == pytest.approx({w: ps / content["until"] for w, ps in of_wire.items()})
            assert shown.locator(f"#links svg.{what}").count() == min(6, len(of_wire))
        shown.locator("#links svg").first.click()
        half = content["until"] / 2
        assert now(shown) == pytest.approx(half, rel=0.02)
