"""Can a program find the memory node nearest to a hart, and is it the node of a first touch?"""

from __future__ import annotations

from uncore import api

GUEST = """
    #include "uncore.h"
    UC_WORKLOAD("each hart reads fresh memory of its nearest node");
    UC_TABLE(nodes, "node", "nearest to each hart");
    static volatile char** pages;
    void uc_setup(unsigned n) {
      uc_table_make(&nodes, 1, n);
      pages = uc_alloc(n * sizeof *pages, 0);
      for (unsigned hart = 0; hart < n; hart++) pages[hart] = uc_alloc(1 << 16, uc_node_of(hart));
    }
    void uc_main(unsigned id, unsigned n) {
      (void)n;
      *uc_cell(&nodes, 0, id) = uc_node_of(id);
      uc_roi(true);
      for (unsigned at = 0; at < 1 << 16; at += 64) (void)pages[id][at];
      uc_op();
      uc_roi(false);
    }
"""


def test_memory_placed_by_the_program_is_as_near_as_memory_placed_by_first_touch(
    compile_guest,
) -> None:
    program = compile_guest(GUEST)
    placed = api.run("epyc7601x2", program, (4,), placement="scatter").points[0]
    touched = api.run("epyc7601x2", program, (4,), placement="scatter", home="first-touch")
    assert placed.tables["nodes"] == [[0, 4, 1, 5]]
    assert abs(placed.elapsed_ps / touched.points[0].elapsed_ps - 1) < 0.05
    distant = api.run("epyc7601x2", program, (4,), placement="scatter", home="node7").points[0]
    assert distant.elapsed_ps > 1.2 * placed.elapsed_ps


def test_program_on_qemu_finds_a_single_node(qemu, compile_guest) -> None:
    outcome = qemu(compile_guest(GUEST).path, 2)
    assert outcome.tables["nodes"] == ((0, 0),)
