// The program around a workload that is written in the page: written.js puts its instructions where
// `written` and `written_end` are.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("what is written in the page");

uint64_t written_words[8 * 1024] __attribute__((aligned(64)));  // lines that threads share

// (thread, threads, words, turns of a thread): the line of the text whose check failed, or 0.
uint64_t written(uint64_t id, uint64_t n, uint64_t* words, uint64_t turns);
uint64_t written_end(uint64_t id, uint64_t n, uint64_t* words, uint64_t turns);
__asm__(
    ".pushsection .text\n.option push\n.option norvc\n.balign 8\n"
    ".globl written\n.type written,@function\nwritten: li a0, 0\n ret\n .fill 1022, 4, 0x13\n"
    ".size written, .-written\n"
    ".globl written_end\n.type written_end,@function\nwritten_end: li a0, 0\n ret\n"
    ".fill 254, 4, 0x13\n.size written_end, .-written_end\n"
    ".option pop\n.popsection\n");

void uc_main(unsigned id, unsigned n) {
  struct loop loop = loop_begin();
  uint64_t failed = 0;
  while (loop_more(&loop)) {
    uc_start();
    failed = failed ? failed : written(id, n, written_words, ops);
    uc_op();
  }
  loop_end();
  uc_check(!failed, "a check of the text failed while threads ran");
}

void uc_finish(unsigned n) {
  uc_check(!written_end(0, n, written_words, ops), "a check at the end of the text failed");
}
