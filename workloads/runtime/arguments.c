// Reads the command line `program n=N name=value ...`, for machines that cannot patch the boot
// block and the parameters before the start. A value is a whole number: a duration is in ns, a
// choice is the index of its word in the parameter's list of words.
#include "runtime.h"

static bool same(const char* a, const char* b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

static _Noreturn void refuse(const char* word) {
  uc_put("uc: command line: expected n=N or name=whole-number, read '");
  uc_put(word);
  uc_put("'; parameters:");
  for (const struct uc_param* param = uc_params_begin; param < uc_params_end; param++) {
    uc_put(" ");
    uc_put(param->name);
  }
  uc_put("\n");
  uc_exit(UC_EXIT_BAD_ARGUMENT);
}

static bool parse(const char* text, uint64_t* value) {
  bool negative = *text == '-';
  uint64_t sum = 0;
  text += negative;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return false;
    sum = sum * 10 + (uint64_t)(*text - '0');
  }
  *value = negative ? -sum : sum;
  return true;
}

static uint64_t* find(const char* name, uint64_t* harts) {
  if (same(name, "n")) return harts;
  for (const struct uc_param* param = uc_params_begin; param < uc_params_end; param++)
    if (same(name, param->name)) return param->value;
  return NULL;
}

static void assign(char* word, uint64_t* harts) {
  char* equals = word;
  while (*equals && *equals != '=') equals++;
  if (!*equals) refuse(word);
  *equals = 0;
  uint64_t* target = find(word, harts);
  *equals = '=';
  if (!target || !parse(equals + 1, target)) refuse(word);
}

// Sets the parameters named on the command line. Returns the number of harts, by default 1.
unsigned uc_arguments(void) {
  static char line[1024];
  uint64_t harts = 1;
  if (!uc_command_line(line, sizeof line)) return 1;
  bool program_name = true;
  for (char* word = line; *word;) {
    char* end = word;
    while (*end && *end != ' ') end++;
    bool last = !*end;
    *end = 0;
    if (!program_name && *word) assign(word, &harts);
    program_name = false;
    word = last ? end : end + 1;
  }
  return (unsigned)harts;
}
