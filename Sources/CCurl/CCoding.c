// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#include "CCoding.h"

#if defined(__linux__)

#include <dlfcn.h>

// A library stays loaded until the process ends, because any thread may use its functions.
static void *load(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }

// Finds a function of a library; returns 0 if the library is missing or has no such function.
static int find(void *library, const char *name, void *function) {
    void *symbol = library ? dlsym(library, name) : NULL;
    *(void **)function = symbol;
    return symbol != NULL;
}

int ccoding_load_zlib(struct ccoding_zlib *functions) {
    void *library = load("libz.so.1");
    return find(library, "inflateInit2_", &functions->inflateInit2_) && find(library, "inflate", &functions->inflate) &&
        find(library, "inflateReset", &functions->inflateReset) && find(library, "inflateEnd", &functions->inflateEnd) &&
        find(library, "deflateInit2_", &functions->deflateInit2_) && find(library, "deflate", &functions->deflate) &&
        find(library, "deflateEnd", &functions->deflateEnd);
}

int ccoding_load_brotli(struct ccoding_brotli *functions) {
    void *library = load("libbrotlidec.so.1");
    return find(library, "BrotliDecoderCreateInstance", &functions->create) &&
        find(library, "BrotliDecoderDecompressStream", &functions->decompress) &&
        find(library, "BrotliDecoderGetErrorCode", &functions->error_code) &&
        find(library, "BrotliDecoderErrorString", &functions->error_text) &&
        find(library, "BrotliDecoderDestroyInstance", &functions->destroy);
}

int ccoding_load_zstd(struct ccoding_zstd *functions) {
    void *library = load("libzstd.so.1");
    return find(library, "ZSTD_createDStream", &functions->create) &&
        find(library, "ZSTD_DCtx_setParameter", &functions->set_parameter) &&
        find(library, "ZSTD_decompressStream", &functions->decompress) &&
        find(library, "ZSTD_isError", &functions->is_error) &&
        find(library, "ZSTD_getErrorName", &functions->error_text) &&
        find(library, "ZSTD_freeDStream", &functions->release);
}

#endif
