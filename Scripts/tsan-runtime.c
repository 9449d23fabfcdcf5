// ApiConnector: routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.
//
// Tells the thread sanitizer about two orders that it cannot see, because the Swift runtime (6.3.1) is not instrumented.
// Without them, it reports races that do not exist.
//
//  - The work before a continuation is resumed happens before the task's work after its suspension. The runtime reports
//    this order only if the task is already suspended.
//  - The work before a Mutex is unlocked happens before the work after it is locked. If threads compete for the Mutex,
//    both happen in functions of the library Synchronization.
//
// Scripts/check builds this file and loads it before the runtime.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define MUTEX __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef void Await(void **) __attribute__((swiftasynccall));
typedef void Continue(__attribute__((swift_async_context)) void **) __attribute__((swiftasynccall));
typedef void Resume(void *) __attribute__((swiftcall));
typedef void Lock(uint32_t thread, MUTEX) __attribute__((swiftcall));
typedef void Unlock(MUTEX) __attribute__((swiftcall));

// These functions are missing in processes that the tests start.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));
extern void *swift_task_getCurrent(void) __attribute__((swiftcall, weak));

static Await *runtime_await;
static Resume *runtime_resume;
static Lock *runtime_lock;
static Unlock *runtime_unlock;

__attribute__((constructor)) static void find_runtime(void) {
    runtime_await = (Await *)dlsym(RTLD_NEXT, "swift_continuation_await");
    runtime_resume = (Resume *)dlsym(RTLD_NEXT, "swift_continuation_resume");
    runtime_lock = (Lock *)dlsym(RTLD_NEXT, LOCK);
    runtime_unlock = (Unlock *)dlsym(RTLD_NEXT, UNLOCK);
}

// If a continuation is resumed while its task suspends, the runtime goes on at once with the function that the context
// names. The function below takes its place, because a look at the state before the suspension may be too early. It runs
// on the same thread, so the thread remembers the function that it replaces. A task that was suspended is resumed without
// it.
static _Thread_local Continue *replaced;

// Words of the runtime's ContinuationAsyncContext (Swift 6.3, include/swift/ABI/Task.h).
enum { RESUME_PARENT = 1, FLAGS = 2, SWITCHES_EXECUTOR = 1 << 1 };

static __attribute__((swiftasynccall)) void go_on(__attribute__((swift_async_context)) void **context) {
    Continue *function = replaced;
    context[RESUME_PARENT] = (void *)function;
    if (__tsan_acquire) __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return function(context);
}

__attribute__((swiftasynccall)) void swift_continuation_await(void **context) {
    if (__tsan_acquire) __tsan_acquire(swift_task_getCurrent());
    if (!((uintptr_t)context[FLAGS] & SWITCHES_EXECUTOR)) {
        replaced = (Continue *)context[RESUME_PARENT];
        context[RESUME_PARENT] = (void *)go_on;
    }
    __attribute__((musttail)) return runtime_await(context);
}

__attribute__((swiftcall)) void swift_continuation_resume(void *task) {
    if (__tsan_release) __tsan_release(task);
    runtime_resume(task);
}

__attribute__((swiftcall)) void lock_slowly(uint32_t thread, MUTEX) __asm__(LOCK);
__attribute__((swiftcall)) void lock_slowly(uint32_t thread, MUTEX) {
    runtime_lock(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock_slowly(MUTEX) __asm__(UNLOCK);
__attribute__((swiftcall)) void unlock_slowly(MUTEX) {
    if (__tsan_release) __tsan_release(mutex);
    runtime_unlock(mutex);
}
