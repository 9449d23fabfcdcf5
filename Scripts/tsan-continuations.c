// ApiConnector: routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.
//
// Tells the thread sanitizer about an order that the Swift runtime does not always report: the work before a
// continuation is resumed happens before the task's work after its suspension. The runtime reports this order only if
// the task is already suspended. If the continuation is resumed earlier, the sanitizer would report a race on the
// passed value.
//
// Scripts/check builds it and loads it before the runtime.

#define _GNU_SOURCE
#include <dlfcn.h>

typedef void Await(void *) __attribute__((swiftasynccall));
typedef void Resume(void *) __attribute__((swiftcall));

// These functions are missing in processes that the tests start.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));
extern void *swift_task_getCurrent(void) __attribute__((swiftcall, weak));

static Await *runtime_await;
static Resume *runtime_resume;

__attribute__((constructor)) static void find_runtime(void) {
    runtime_await = (Await *)dlsym(RTLD_NEXT, "swift_continuation_await");
    runtime_resume = (Resume *)dlsym(RTLD_NEXT, "swift_continuation_resume");
}

__attribute__((swiftasynccall)) void swift_continuation_await(void *context) {
    if (__tsan_acquire) __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return runtime_await(context);
}

__attribute__((swiftcall)) void swift_continuation_resume(void *task) {
    if (__tsan_release) __tsan_release(task);
    runtime_resume(task);
}
