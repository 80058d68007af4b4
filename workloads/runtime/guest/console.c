// Text output, command line and exit, by RISC-V semihosting, or by the 16550 UART without it.
#include "../runtime.h"

// The three instructions are the call; they must be uncompressed and in one page. Returns false if
// the machine has no semihosting, where the ebreak traps (trap.c).
static bool semihost(uint64_t call, const void* argument, int64_t* answer) {
  register uint64_t a0 __asm__("a0") = call;
  register uint64_t a1 __asm__("a1") = (uint64_t)argument;
  // The debugger reads memory without the core, so our stores must have left the store buffer.
  atomic_thread_fence(memory_order_seq_cst);
  __asm__ volatile(
      ".balign 16\n\t"
      "slli x0, x0, 0x1f\n\t"
      "ebreak\n\t"
      "srai x0, x0, 7"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  *answer = (int64_t)a0;
  return !uc_hart()->no_semihosting;
}

void uc_put(const char* text) {
  int64_t ignored;
  if (semihost(UC_SYS_WRITE0, text, &ignored)) return;
  for (; *text; text++) *(volatile uint8_t*)UC_UART_BASE = (uint8_t)*text;
}

static void put_in_base(uint64_t number, unsigned base, const char* prefix) {
  char digits[24], *first = &digits[sizeof digits - 1];
  *first = 0;
  do {
    *--first = "0123456789abcdef"[number % base];
    number /= base;
  } while (number);
  uc_put(prefix);
  uc_put(first);
}

void uc_put_number(uint64_t number) { put_in_base(number, 10, ""); }
void uc_put_hex(uint64_t number) { put_in_base(number, 16, "0x"); }

bool uc_command_line(char* buffer, size_t size) {
  struct {
    char* buffer;
    size_t size;
  } block = {buffer, size};
  int64_t status;
  return semihost(UC_SYS_GET_CMDLINE, &block, &status) && status == 0;
}

_Noreturn void uc_exit(int code) {
  struct {
    uint64_t reason, code;
  } block = {UC_SYS_ENDED, (uint64_t)code};
  int64_t ignored;
  semihost(UC_SYS_EXIT_EXTENDED, &block, &ignored);
  uc_put("uc: exit=");
  uc_put_number((uint64_t)code);
  uc_put("\n");
  uc_park();
}
