// A memory order in a macro counts as one, however often the macro is used.
#include "uncore.h"

#define HANDED(word) atomic_load_explicit(&(word), memory_order_acquire)

static inline void never_called(_Atomic int* word) { atomic_store(word, 1); }
