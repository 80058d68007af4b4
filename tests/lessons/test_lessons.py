"""Do exercises of lessons accept right programs and refuse wrong ones, and do lesson pages work?"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.trace.browser import faults, opened

from uncore.cli import app as cli
from uncore.errors import GuestError, UserError
from uncore.study import lessons
from uncore.study.lessons import page as page_of
from uncore.study.lessons.figures import job
from uncore.study.lessons.text import Watch
from uncore.support.paths import CHECKOUT

ANSWERS = Path(__file__).parent / "answers"

# for each lesson, a program that solves its exercise, and the parameters that are needed
SOLVED = {
    "ticket": ("lock/clh", {}),
    "sharing": ("layout/false_sharing", {"distance": "64"}),
    "refcount": ("refcount/sloppy", {}),
    "readers": ("lock/rmlock", {}),
    "storm": ("ipi/storm", {"descriptor": "node"}),
    "lines": ("layout/hot_structure", {"lines": "1"}),
    "homes": ("lock/mcs", {"lock_node": "0"}),
    "order": ("latency/queue", {"cached": "1"}),
    "fences": (f"{ANSWERS}/fences/right_exchange.c", {}),
    "overlap": (f"{ANSWERS}/overlap/right_side_by_side.c", {}),
}


def test_every_file_is_a_lesson_in_the_list():
    files = {file.stem for file in (CHECKOUT / "docs/lessons").glob("*.md")} - {"README"}
    assert files == set(lessons.names()) == set(SOLVED)


@pytest.mark.parametrize("name", lessons.names())
def test_lesson_has_all_its_sections_in_their_order(name):
    kinds = [type(part).__name__ for part in lessons.read(name).parts]
    assert {"Run", "Predict", "Watch", "Exercise", "TeacherNotes"} <= set(kinds)
    assert kinds.index("Predict") < kinds.index("Run") < kinds.index("Exercise")
    assert "## Sources" in str(lessons.read(name).parts[-1])


@pytest.mark.parametrize("name", lessons.names())
def test_exercise_is_unsolved_at_its_start_and_can_be_solved(name):
    lesson, (program, parameters) = lessons.read(name), SOLVED[name]
    begun = lessons.check(lesson, lesson.exercise.start, {})
    assert not all(bound.kept for bound in begun)
    assert all(bound.kept for bound in lessons.check(lesson, program, parameters))


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("lock/empty", "a self-check failed"),
        ("refcount/atomic", "begin with workloads/lock/ticket.c"),
    ],
)
def test_program_without_the_exercises_parameters_is_refused_with_the_reason(
    program, words, capsys
):
    with pytest.raises(SystemExit) as refused:
        cli.main(["lesson", "check", "ticket", program])
    assert refused.value.code == 1 and words in capsys.readouterr().err


def written(verdict: str) -> list[str]:
    return sorted(str(path.relative_to(ANSWERS)) for path in ANSWERS.glob(f"*/{verdict}_*.c"))


@pytest.mark.parametrize("name", lessons.names())
def test_exercise_has_at_least_three_right_and_five_wrong_answers(name):
    kinds = {kind: len([*(ANSWERS / name).glob(f"{kind}_*.c")]) for kind in ("right", "wrong")}
    assert kinds["right"] >= 3 and kinds["wrong"] >= 5


@pytest.mark.sampled(every=3)
@pytest.mark.bulk
@pytest.mark.parametrize("answer", written("right"))
def test_right_answer_is_accepted(answer):
    bounds = lessons.check(lessons.read(Path(answer).parent.name), str(ANSWERS / answer), {})
    assert [bound for bound in bounds if not bound.kept] == []


@pytest.mark.sampled(every=3)
@pytest.mark.bulk
@pytest.mark.parametrize("answer", written("wrong"))
def test_wrong_answer_is_refused(answer):
    """Either a bound or the program's self-check fails; the exit status is 1 in both cases."""
    lesson = lessons.read(Path(answer).parent.name)
    try:
        bounds = lessons.check(lesson, str(ANSWERS / answer), {})
    except GuestError as error:
        assert "a self-check failed" in str(error)
    else:
        assert not all(bound.kept for bound in bounds)


@pytest.mark.parametrize("name", lessons.names())
def test_program_of_another_kind_does_not_solve_the_exercise(name):
    """The program has a count where the exercise needs a lock, or the reverse."""
    program = "lock/mcs" if name == "refcount" else "counter/percpu"
    (bound,) = lessons.check(lessons.read(name), program, {})
    assert not bound.kept and "begin with workloads/" in bound.why


@pytest.mark.parametrize("program", "lock/tas lock/ttas lock/swap lock/ticket".split())
def test_lock_with_memory_on_the_far_node_does_not_solve_the_lesson_homes(program):
    bounds = lessons.check(lessons.read("homes"), program, {})
    assert [bound.kept for bound in bounds if "node1" in bound.bound] == [False]


def test_run_of_a_lesson_may_change_a_number_of_its_machine(tmp_path):
    run = "bus:2 lock/peterson 2 ops=2 core.fence=7ns"
    assert job(run).machine.core.fence == 7000
    watch = Watch(run=run, line="pairs[1].last", moment="crowd", say="Look.")
    html = page_of.shown(watch, lessons.read("fences"), tmp_path)
    assert "uncore watch bus:2 lock/peterson --threads 2 --set ops=2 --with core.fence=7ns" in html


def test_message_about_an_unknown_lesson_lists_the_lessons():
    with pytest.raises(UserError, match=r"no lesson is called 'tickets'.*ticket, sharing"):
        lessons.read("tickets")


def test_lesson_command_checks_the_readers_own_file(tmp_path):
    source = (CHECKOUT / "workloads/layout/false_sharing.c").read_text()
    (tmp_path / "mine.c").write_text(source)
    words = [sys.executable, "-m", "uncore", "lesson", "check", "sharing", str(tmp_path / "mine.c")]
    missed = subprocess.run(words, capture_output=True, text=True)
    assert missed.returncode == 1 and " no" in missed.stdout
    solved = subprocess.run([*words, "--set", "distance=128"], capture_output=True, text=True)
    assert solved.returncode == 0, solved.stderr


@pytest.mark.parametrize("program", "lock/tas lock/ttas lock/swap".split())
def test_bound_on_a_missing_figure_counts_as_failed(program, capsys):
    """A program whose threads hardly work at the same time has no figure of fairness."""
    with pytest.raises(SystemExit) as refused:
        cli.main(["lesson", "check", "ticket", program, "--json"])
    printed = capsys.readouterr()
    fair = next(row for row in json.loads(printed.out) if "fairness" in row["bound"])
    assert (refused.value.code, fair["got"], fair["kept"]) == (1, None, False)
    assert "not kept: the slowest thread" in printed.err and "hardly worked" in printed.err


TYPED = re.compile(r"^    uncore ((?:\S+ ?)+)|`uncore (\w+ [^`]+)`", re.MULTILINE)
FOLDER = CHECKOUT / "docs/lessons"
PAGES = [page.read_text() for page in FOLDER.glob("*.md")]
COMMANDS = sorted({(a or b).strip() for text in PAGES for a, b in TYPED.findall(text)})


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_in_the_text_of_a_lesson_runs(command, tmp_path):
    """Commands in the blocks of a lesson are not run, because they run when the page is made."""
    start = "lock/clh" if "check" in command else "latency/queue"
    (tmp_path / "mine.c").write_text((CHECKOUT / f"workloads/{start}.c").read_text())
    words = [sys.executable, "-m", "uncore", *shlex.split(command)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout or list(tmp_path.glob("*.html"))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return made(tmp_path_factory.mktemp("lesson"), "sharing")


def made(folder, name):
    path = folder / f"{name}.html"
    lessons.write(path, name)
    return path


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True])
def test_page_compares_a_prediction_and_then_explains_the_result(page, dark):
    with opened(page, dark=dark) as shown:
        form = shown.locator(".predict").first
        assert not form.locator(".after").is_visible()
        form.locator("input").focus()
        shown.keyboard.type("1000")
        shown.keyboard.press("Enter")
        assert "times too high" in form.locator("[role=status]").text_content()
        form.locator("input").fill("0.001")
        shown.keyboard.press("Enter")
        assert "times too low" in form.locator("[role=status]").text_content()
        form.locator("input").fill(form.get_attribute("data-answer"))
        shown.keyboard.press("Enter")
        assert form.locator("[role=status]").text_content() == "Near enough."
        assert form.locator(".after").is_visible()
        assert faults(shown) == []


@pytest.mark.long
@pytest.mark.parametrize("name", lessons.names())
def test_stepper_of_a_lesson_opens_at_the_stated_moment(name, tmp_path):
    with opened(made(tmp_path, name)) as shown:
        part = shown.locator(".watch").first
        part.locator("button").focus()
        shown.keyboard.press("Enter")
        stepper = part.frame_locator("iframe")
        stepper.locator("#machine .agent").first.wait_for()
        place = part.get_attribute("data-place")
        assert stepper.locator("#line").input_value() == str(int(place.split("line=")[1], 16))
        assert stepper.locator("#now").text_content() != "0 ps"
        stepper.locator("#first").focus()
        # the time in ps, because the clock is rounded
        before = stepper.locator("#time").input_value()
        shown.keyboard.press("ArrowRight")
        assert stepper.locator("#time").input_value() != before
        assert faults(shown) == []


def test_teachers_page_has_the_answers_and_no_slides(tmp_path):
    lessons.write_teachers(tmp_path / "teacher.html", "homes")
    lesson = lessons.read("homes")
    with opened(tmp_path / "teacher.html") as shown:
        text = shown.locator("main").text_content()
        assert f"{lesson.teach.minutes} minutes" in text
        assert all(says in text for says in lesson.teach.wrong)
        answers = shown.locator("table b").all_text_contents()
        assert len(answers) == len(lesson.predictions) and answers[0].endswith(" times")
        assert shown.locator("#slides").count() == 0
        assert faults(shown) == []


ROOM = """[...document.querySelectorAll('.shown, .shown pre')].map(slide =>
  [slide.scrollHeight - slide.clientHeight, slide.scrollWidth - slide.clientWidth])"""


def shown_slides(shown):
    """Returns the text of each slide, reached by keyboard, after checking that the slide fits."""
    texts = []
    many = int(shown.text_content("#number").split()[-1])
    for number in range(many):
        assert shown.text_content("#number") == f"{number + 1} of {many}"
        for high, wide in shown.evaluate(ROOM):
            assert high <= 1 and wide <= 1, (number + 1, high, wide)
        texts.append(shown.locator(".shown").inner_text())
        shown.keyboard.press("ArrowRight")
    return texts


def test_printed_lesson_has_no_buttons(page):
    with opened(page) as shown:
        assert shown.locator("button:visible").count() > 0
        shown.emulate_media(media="print")
        assert shown.locator("button:visible").count() == 0
        assert shown.locator(".predict input").first.is_visible()  # a place to write on paper


def test_one_key_turns_a_lesson_into_slides_and_back(page):
    with opened(page, width=1280, height=720) as shown:
        whole = shown.locator("main").inner_text()
        shown.keyboard.press("p")
        texts = shown_slides(shown)
        assert len(texts) > 6 and any("Predict".upper() in text for text in texts)
        assert faults(shown) == []
        shown.keyboard.press("Home")
        shown.keyboard.press("PageDown")
        assert shown.locator(".shown").inner_text() == texts[1]
        again = shown.evaluate("location.hash")
        shown.keyboard.press("Escape")
        assert shown.locator("main").inner_text() == whole
    with opened(page, again, width=1280, height=720) as shown:
        assert shown.text_content("#number").startswith("2 of")


@pytest.mark.long
@pytest.mark.parametrize("name", lessons.names())
def test_every_slide_fits_a_projector(name, tmp_path):
    for width, height in ((1024, 768), (1920, 1080)):
        with opened(made(tmp_path, name), "#slide=1", width=width, height=height) as shown:
            shown_slides(shown)
