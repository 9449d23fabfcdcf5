// ApiConnector: routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.
//
// Loaded before libcurl, makes it report a number that ApiConnector does not know: 9.99.0. So the tests show what
// ApiConnector does without libcurl's texts. Scripts/curl-versions builds this file.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

struct info {
    int age;
    const char *version;
    unsigned int number;
};

struct info *curl_version_info(int age) {
    struct info *(*original)(int) = (struct info *(*)(int))dlsym(RTLD_NEXT, "curl_version_info");
    struct info *info = original ? original(age) : NULL;
    if (info != NULL) {
        info->version = "9.99.0";
        info->number = 0x096300;
    }
    return info;
}
