// Prints results of system calls as words: numbers, headings, and errors alone.
#pragma once
#include "raw.h"

static inline void print_result(long answer) {
  char text[24], *at = text + 23;
  u64 rest = answer < 0 ? -(u64)answer : (u64)answer;
  *at = 0;
  do *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  if (answer < 0) *--at = '-';
  *--at = ' ';
  say(at);
}
static inline void print_heading(const char* subject) { say("\n"), say(subject), say(":"); }
static inline long print_error(long answer) {
  print_result(answer < 0 ? answer : 0);
  return answer;
}
