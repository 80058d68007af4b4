// uc_switch on the host. ThreadSanitizer does not know stacks that we allocate, so each context is
// made known to it as a fiber.
#include "../queues.h"

void uc_switch_registers(struct uc_context* from, struct uc_context* to);

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

static void tell_sanitizer(struct uc_context* from, struct uc_context* to) {
  if (!from->fiber) from->fiber = __tsan_get_current_fiber();
  if (!to->fiber) to->fiber = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(to->fiber, 0);
}
#else
static void tell_sanitizer(struct uc_context* from, struct uc_context* to) { (void)from, (void)to; }
#endif

void uc_switch(struct uc_context* from, struct uc_context* to) {
  tell_sanitizer(from, to);
  uc_switch_registers(from, to);
}
