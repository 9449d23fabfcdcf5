// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Declares the part of the stable ABI of zlib, brotli and zstd that encoding and decoding bodies uses, so that building
// needs no development package. The libraries are loaded by name on first use. A system without one of these libraries
// only lacks the library's content codings.

#ifndef APICONNECTOR_CCODING_H
#define APICONNECTOR_CCODING_H

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

// z_stream of libz.so.1, unchanged since 1.0.
struct ccoding_z_stream {
    const uint8_t *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc;
    void *zfree;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};

struct ccoding_zlib {
    int (*inflateInit2_)(struct ccoding_z_stream *stream, int window_bits, const char *version, int stream_size);
    int (*inflate)(struct ccoding_z_stream *stream, int flush);
    int (*inflateReset)(struct ccoding_z_stream *stream);
    int (*inflateEnd)(struct ccoding_z_stream *stream);
    int (*deflateInit2_)(
        struct ccoding_z_stream *stream,
        int level,
        int method,
        int window_bits,
        int memory_level,
        int strategy,
        const char *version,
        int stream_size
    );
    int (*deflate)(struct ccoding_z_stream *stream, int flush);
    int (*deflateEnd)(struct ccoding_z_stream *stream);
};

struct ccoding_brotli {
    void *(*create)(void *allocate, void *release, void *context);
    int (*decompress)(
        void *state,
        size_t *available_in,
        const uint8_t **next_in,
        size_t *available_out,
        uint8_t **next_out,
        size_t *total_out
    );
    int (*error_code)(const void *state);
    const char *(*error_text)(int code);
    void (*destroy)(void *state);
};

struct ccoding_zstd_in {
    const void *start;
    size_t size;
    size_t position;
};

struct ccoding_zstd_out {
    void *start;
    size_t size;
    size_t position;
};

struct ccoding_zstd {
    void *(*create)(void);
    size_t (*set_parameter)(void *stream, int parameter, int value);
    size_t (*decompress)(void *stream, struct ccoding_zstd_out *out, struct ccoding_zstd_in *in);
    unsigned int (*is_error)(size_t code);
    const char *(*error_text)(size_t code);
    size_t (*release)(void *stream);
};

// Each function loads one library and stores pointers to its functions; returns 0 if the library or a function is
// missing.
int ccoding_load_zlib(struct ccoding_zlib *functions);
int ccoding_load_brotli(struct ccoding_brotli *functions);
int ccoding_load_zstd(struct ccoding_zstd *functions);

enum {
    CCODING_Z_SYNC_FLUSH = 2,
    CCODING_Z_FINISH = 4,
    CCODING_Z_OK = 0,
    CCODING_Z_STREAM_END = 1,
    CCODING_Z_BUF_ERROR = -5,
    CCODING_BROTLI_ERROR = 0,
    CCODING_BROTLI_SUCCESS = 1,
    CCODING_ZSTD_D_WINDOW_LOG_MAX = 100,
};

#endif
#endif
