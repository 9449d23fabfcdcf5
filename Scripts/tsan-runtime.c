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
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MUTEX __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef void Await(void *) __attribute__((swiftasynccall));
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

// A continuation is resumed before, after or during its suspension. The runtime decides by its state. The lock keeps the
// state from changing between the look of a function below and its work, so none of the three cases is missed.
//
// The thread sanitizer does not know this lock: a known one would put all continuations in order, and hide races.
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void begin(void) {
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) sched_yield();
}

static void end(void) { atomic_flag_clear_explicit(&lock, memory_order_release); }

// Words of the runtime's AsyncTask and ContinuationAsyncContext (Swift 6.3, include/swift/ABI/Task.h).
enum { RESUME_CONTEXT = 8, AWAIT_STATE = 3, PENDING = 0 };

static bool is_pending(void *context) {
    return atomic_load_explicit((_Atomic(uintptr_t) *)context + AWAIT_STATE, memory_order_acquire) == PENDING;
}

__attribute__((swiftasynccall)) void swift_continuation_await(void *context) {
    begin();
    if (is_pending(context)) {
        // Suspends the task and returns.
        runtime_await(context);
        end();
        return;
    }
    end();
    if (__tsan_acquire) __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return runtime_await(context);
}

__attribute__((swiftcall)) void swift_continuation_resume(void *task) {
    if (__tsan_release) __tsan_release(task);
    begin();
    bool waits = !is_pending(((void **)task)[RESUME_CONTEXT]);
    // This enqueues a suspended task, so it may run the task: not inside the lock.
    if (waits) end();
    runtime_resume(task);
    if (!waits) end();
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
