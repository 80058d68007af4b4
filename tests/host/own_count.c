// A test like those of will-it-scale, which counts its own operations. If the program is named
// `broken`, it ends at once.
#include <stdlib.h>
#include <string.h>

extern char* program_invocation_short_name;

void testcase(unsigned long long* iterations, unsigned long nr) {
  (void)nr;
  if (!strcmp(program_invocation_short_name, "broken")) exit(1);
  for (;;) ++*(volatile unsigned long long*)iterations;
}
