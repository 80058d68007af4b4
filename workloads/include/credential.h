// The credential on whose behalf files are open or memory is mapped. Taking a reference writes a
// line that all its tasks share (FreeBSD's crhold, Linux's get_cred). A check of permissions reads
// the user id beside the count. The pointer to the user charged for memory is in the same line:
// cr_ref and cr_ruidinfo are 40 bytes apart (struct ucred in sys/ucred.h of FreeBSD 11 and 12.0).
// FreeBSD's processes inherit the credential, so all tasks share one. Linux's threads share it, its
// processes get copies (copy_creds in kernel/cred.c of 4.15).
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
