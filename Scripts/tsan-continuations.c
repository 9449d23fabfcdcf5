// ApiConnector: routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.
//
// Tells the thread sanitizer what the Swift runtime does not tell it: what a thread did before it resumed a continuation
// comes before what the task does after its suspension. The runtime says so where the task was suspended already. Where
// the continuation is resumed a moment earlier, the sanitizer takes the value that was passed for a race.
//
// Scripts/check builds it and loads it before the runtime.

#define _GNU_SOURCE
#include <dlfcn.h>

typedef void Await(void *) __attribute__((swiftasynccall));
typedef void Resume(void *) __attribute__((swiftcall));

// They are missing in processes that the tests start.
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
