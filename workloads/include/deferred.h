// Objects that are retired and cannot be freed yet: a list through the objects themselves.
//
// Every reclamation scheme keeps such lists; an object that may be retired embeds a `struct
// deferred`, and its callback frees it.
#ifndef UNCORE_DEFERRED_H_
#define UNCORE_DEFERRED_H_

#include "uncore.h"

struct deferred {
  struct deferred* next;
  void (*callback)(struct deferred* deferred);
  uint64_t stamp;  // when it was retired, in the unit of the scheme (epoch, time or scan)
};

struct deferred_list {
  struct deferred *first, *last;
};

static inline void deferred_append(struct deferred_list* list, struct deferred* deferred) {
  deferred->next = NULL;
  if (list->first)
    list->last->next = deferred;
  else
    list->first = deferred;
  list->last = deferred;
}

static inline struct deferred* deferred_take(struct deferred_list* list) {
  struct deferred* first = list->first;
  if (first) list->first = first->next;
  return first;
}

// Appends the objects of `from` to `to`, and empties `from`.
static inline void deferred_splice(struct deferred_list* to, struct deferred_list* from) {
  if (!from->first) return;
  if (to->first)
    to->last->next = from->first;
  else
    to->first = from->first;
  to->last = from->last;
  from->first = NULL;
}

static inline void deferred_run(struct deferred* deferred) { deferred->callback(deferred); }

#endif  // UNCORE_DEFERRED_H_
