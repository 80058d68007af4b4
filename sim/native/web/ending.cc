// Handlers of `throw` for WebAssembly, whose toolchain has no library for exceptions.
//
// No shipped machine, protocol or program makes the engine throw (each is checked before), so a
// throw ends the module here, and the page says that the engine has stopped.
#include <cstddef>

extern "C" {
void* __cxa_allocate_exception(std::size_t) { __builtin_trap(); }
void __cxa_throw(void*, void*, void (*)(void*)) { __builtin_trap(); }
void* __cxa_begin_catch(void*) { __builtin_trap(); }
void __cxa_end_catch() { __builtin_trap(); }
void __cxa_rethrow() { __builtin_trap(); }
}
