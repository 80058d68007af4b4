// The program into which a workload that is written in the page is inserted: written.js replaces
// the instructions of `written` and `written_end`.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("A workload of your own, written below");

enum { MAX_THREADS = 64 };
uint64_t written_words[8 * 1024] __attribute__((aligned(64)));  // the lines that threads share
static char messages[MAX_THREADS + 1][64];  // one for each thread, the last for the part "at end"

// One turn, and the part "at end". Both return the line of the text whose check failed, or 0.
uint64_t written(uint64_t id, uint64_t n, uint64_t* words, uint64_t turns);
uint64_t written_end(uint64_t id, uint64_t n, uint64_t* words, uint64_t turns);
__asm__(
    ".pushsection .text\n.option push\n.option norvc\n.balign 8\n"
    ".globl written\n.type written,@function\nwritten: li a0, 0\n ret\n .fill 1022, 4, 0x13\n"
    ".size written, .-written\n"
    ".globl written_end\n.type written_end,@function\nwritten_end: li a0, 0\n ret\n"
    ".fill 254, 4, 0x13\n.size written_end, .-written_end\n"
    ".option pop\n.popsection\n");

// Writes "line 12: WHAT" to the message buffer `id`, and returns it.
static const char* message(unsigned id, uint64_t line, const char* what) {
  char digits[20], *to = messages[id];
  unsigned count = 0;
  for (const char* from = "line "; *from;) *to++ = *from++;
  do digits[count++] = (char)('0' + line % 10);
  while (line /= 10);
  while (count) *to++ = digits[--count];
  while ((*to++ = *what++)) {
  }
  return messages[id];
}

void uc_setup(unsigned n) {
  uc_require(n <= MAX_THREADS, "a text has at most 64 threads; write fewer");
}

void uc_main(unsigned id, unsigned n) {
  struct loop loop = loop_begin();
  uint64_t failed = 0;
  while (loop_more(&loop)) {
    uc_start();
    failed = failed ? failed : written(id, n, written_words, ops);
    uc_op();
  }
  loop_end();
  if (failed) uc_failed(message(id, failed, ": this check failed while threads ran"));
}

void uc_finish(unsigned n) {
  uint64_t failed = written_end(0, n, written_words, ops);
  if (failed) uc_failed(message(MAX_THREADS, failed, ": this check failed at the end"));
}
