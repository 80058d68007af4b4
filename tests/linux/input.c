// Copies standard input to standard output. The argument, a digit, is the exit status.
#include "raw.h"

int run(int count, char** words) {
  char bytes[100];
  long size;
  while ((size = call(N_read, 0, bytes, sizeof bytes)) > 0) call(N_write, 1, bytes, size);
  if (call(N_lseek, 0, 0, 0) != 0) say("no file\n");
  return size < 0 ? 99 : count > 1 ? words[1][0] - '0' : 0;
}
