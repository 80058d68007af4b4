"""Are the memory orders of a C text found and weakened, in all forms that C allows?"""

from __future__ import annotations

import pytest

from uncore.study.fences.orders import edited, stated


def says(text: str) -> list[str]:
    return [order.says for order in stated(text)]


def weakened(text: str) -> dict[str, str]:
    (order,) = stated(text)
    return {weakening.order: edited(text, weakening.edits) for weakening in order.weaker}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("atomic_load_explicit(&x, memory_order_acquire)", "load acquire"),
        ("__atomic_store_n(&x, f(1), __ATOMIC_RELEASE)", "store release"),
        ("atomic_fetch_add_explicit(x, (1), memory_order_acq_rel)", "fetch add acq_rel"),
        ("#define GET(x) my_load(x, memory_order_seq_cst)", "my_load seq_cst"),
        ("#define ORDER memory_order_release", "release"),
        ("f(\n  (memory_order_acquire))", "f acquire"),
        ("atomic_store(&x, 1)", "store (seq_cst)"),
        ("__sync_synchronize()", "__sync_synchronize"),
    ],
)
def test_each_way_to_write_a_memory_order_is_found(text: str, said: str) -> None:
    assert says(text) == [said]


@pytest.mark.parametrize(
    "text",
    [
        "x = 1; // memory_order_acquire",
        "/* atomic_store(&x, 1)\n memory_order_release */",
        'f("memory_order_acquire", \'"\', "\\"memory_order_release")',
        "atomic_load_explicit(&x, memory_order_relaxed)",
        "atomic_signal_fence(memory_order_seq_cst)",
        "my_memory_order_acquire(atomic_stores)",
    ],
)
def test_text_without_an_order_between_harts_is_not_changed(text: str) -> None:
    assert says(text) == []


def test_order_is_located_at_its_word() -> None:
    (order,) = stated("/* a\nb */ int i;\n  atomic_load_explicit(&x,\n    memory_order_acquire)")
    assert (order.line, order.column) == (4, 5)


def test_weaker_orders_are_those_that_c_allows_weakest_first() -> None:
    assert list(weakened("atomic_load_explicit(x, memory_order_seq_cst)")) == ["relaxed", "acquire"]
    assert list(weakened("atomic_store(x, 1)")) == ["relaxed", "release"]
    exchange = weakened("atomic_exchange_explicit(x, 1, memory_order_acq_rel)")
    assert list(exchange) == ["relaxed", "acquire", "release"]
    assert exchange["release"] == "atomic_exchange_explicit(x, 1, memory_order_release)"


def test_weakened_fence_becomes_a_compiler_fence() -> None:
    fences = weakened("atomic_thread_fence(memory_order_seq_cst)")
    assert list(fences) == ["signal fence", "acquire", "release", "acq_rel"]
    assert fences["signal fence"] == "atomic_signal_fence(memory_order_seq_cst)"
    assert fences["acq_rel"] == "atomic_thread_fence(memory_order_acq_rel)"
    gcc = weakened("__sync_synchronize()")
    assert gcc == {"signal fence": "__atomic_signal_fence(__ATOMIC_SEQ_CST)"}


def test_implicit_order_is_made_explicit_on_the_same_line() -> None:
    stores = weakened('atomic_store(&a[f(")")],\n  (1))')
    assert stores["relaxed"] == 'atomic_store_explicit(&a[f(")")],\n  (1), memory_order_relaxed)'
    swaps = weakened("atomic_compare_exchange_strong(p, &e, 1)")
    assert swaps["release"].endswith(
        "_explicit(p, &e, 1, memory_order_release, memory_order_relaxed)"
    )
    assert swaps["acq_rel"].endswith("(p, &e, 1, memory_order_acq_rel, memory_order_acquire)")


def test_all_orders_of_a_text_are_weakened_together() -> None:
    text = "atomic_store(x, atomic_load_explicit(y, memory_order_acquire)); // both\nint z;"
    edits = [edit for order in stated(text) for edit in order.weaker[0].edits]
    assert edited(text, edits) == (
        "atomic_store_explicit(x, atomic_load_explicit(y, memory_order_relaxed), "
        "memory_order_relaxed); // both\nint z;"
    )
