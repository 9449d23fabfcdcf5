// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#include "ParallelWidth.h"

#include <stdlib.h>

// Limits how many test cases run at once, before Swift Testing reads the variable.
//
// Without it all of them start at once, on as many threads as the machine has cores: the limits of time, the tests' own
// and those of the connections under test, pass while a test waits for its turn. With it a limit counts from when its
// test runs. A value from outside wins.
//
// Eight: on two cores a run takes 75 s of processor time with it and 122 s without (Swift 6.3.1). Swift Testing 6.2 does
// not know the variable.
__attribute__((constructor)) static void limitParallelWidth(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "8", 0);
}
