// The credential on whose behalf something is open or mapped. A reference to it writes a line that
// all its tasks share (FreeBSD's crhold, Linux's get_cred); a check of permissions reads the user's
// number, beside the count. The user who is charged for memory is found
// there, in the same line: cr_ref and cr_ruidinfo are 40 bytes apart (struct ucred in FreeBSD 11's
// and 12.0's sys/ucred.h). FreeBSD's processes inherit it, so that all tasks share one. Linux's
// threads do, its processes get copies (copy_creds in kernel/cred.c of 4.15).
#ifndef UNCORE_CREDENTIAL_H_
#define UNCORE_CREDENTIAL_H_

#include "uncore.h"

#ifndef CREDENTIAL
#define CREDENTIAL 0
#endif
UC_PARAM(bool, credential, CREDENTIAL, "",
         "what is open or mapped refers to the credential of all tasks");

static struct credential {
  UC_ALIGNED _Atomic int64_t references;
  struct user_account* _Atomic user;  // swap_account.h
}* credentials;

static inline void credential_setup(void) { credentials = uc_alloc(sizeof *credentials, 0); }

static inline void credential_hold(void) {
  if (credential) atomic_fetch_add_explicit(&credentials->references, 1, memory_order_relaxed);
}

static inline void credential_look(void) {
  if (credential) (void)atomic_load_explicit(&credentials->references, memory_order_relaxed);
}

static inline void credential_free(void) {
  if (credential) atomic_fetch_sub_explicit(&credentials->references, 1, memory_order_release);
}

static inline void credential_check(int64_t references) {
  uc_check(!credential || credentials->references == references, "references were lost");
}

#endif  // UNCORE_CREDENTIAL_H_
