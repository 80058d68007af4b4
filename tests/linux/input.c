// Writes what it reads from its standard input; the exit status is the argument, a digit.
#include "raw.h"

int run(int count, char** words) {
  char bytes[100];
  long size;
  while ((size = call(N_read, 0, bytes, sizeof bytes)) > 0) call(N_write, 1, bytes, size);
  if (call(N_lseek, 0, 0, 0) != 0) say("no file\n");
  return size < 0 ? 99 : count > 1 ? words[1][0] - '0' : 0;
}
