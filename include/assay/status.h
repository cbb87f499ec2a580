/* Status codes and error details.
 *
 *     assay_error error;
 *     if (assay_record_read("run.json", &error, &record) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * Every call that can fail returns an assay_status: ASSAY_OK (0) or a negative code. Codes are
 * fixed: once released, a value is never reused or renumbered. Calls that can say more take an
 * assay_error * after their inputs; pass NULL if you do not need it. Its message names the cause of
 * the failure and the remedy.
 *
 * Threads: everything here may be called from any thread. Nothing here allocates.
 */
#ifndef ASSAY_STATUS_H
#define ASSAY_STATUS_H

#if defined(_WIN32)
#error "assay supports POSIX systems only"
#endif

#define ASSAY_API      __attribute__((visibility("default")))
#define ASSAY_MUST_USE __attribute__((warn_unused_result))
#define ASSAY_PRINTF(format_index, first_argument)                                                 \
    __attribute__((format(printf, format_index, first_argument)))

/* The initial value of a struct that may grow. `struct_size` is the size of the struct that the
 * caller was compiled with. Every other field is zero.
 *
 * Zero in a field that a later version adds means the earlier behaviour. Therefore the library
 * accepts a larger struct, from a program built with a newer assay, if all bytes that the library
 * does not know are zero. Otherwise it refuses the struct with ASSAY_E_VERSION, so that it never
 * ignores a request silently. A `struct_size` that is too small or above 4096 cannot have been set;
 * it is refused with ASSAY_E_ARGUMENT. In a struct that the library fills, it fills the fields that
 * it knows. */
#ifdef __cplusplus
#define ASSAY_INIT(type)                                                                           \
    ([] {                                                                                          \
        type assay__fresh = type();                                                                \
        assay__fresh.struct_size = sizeof(type);                                                   \
        return assay__fresh;                                                                       \
    }())
#else
#define ASSAY_INIT(type)                                                                           \
    {                                                                                              \
        .struct_size = sizeof(type)                                                                \
    }
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* name, value, message */
#define ASSAY_STATUS_LIST(X)                                                                       \
    X(ASSAY_OK, 0, "success")                                                                      \
    X(ASSAY_E_ARGUMENT, -1, "invalid argument")                                                    \
    X(ASSAY_E_MEMORY, -2, "out of memory")                                                         \
    X(ASSAY_E_IO, -3, "input or output failed")                                                    \
    X(ASSAY_E_FULL, -4, "no space left")                                                           \
    X(ASSAY_E_NOT_FOUND, -5, "not found")                                                          \
    X(ASSAY_E_PERMISSION, -6, "not permitted")                                                     \
    X(ASSAY_E_UNSUPPORTED, -7, "not supported on this machine")                                    \
    X(ASSAY_E_LIMIT, -8, "a declared maximum was reached")                                         \
    X(ASSAY_E_STATE, -9, "called in the wrong state")                                              \
    X(ASSAY_E_DATA, -10, "not enough data")                                                        \
    X(ASSAY_E_INTERRUPTED, -11, "ended early, as asked for")                                       \
    X(ASSAY_E_FORMAT, -20, "malformed or foreign data")                                            \
    X(ASSAY_E_VERSION, -21, "written by an incompatible version")                                  \
    X(ASSAY_E_TRUNCATED, -22, "truncated data")

#define ASSAY__STATUS_ENUM(name, value, message) name = (value),
typedef enum assay_status {
    ASSAY_STATUS_LIST(ASSAY__STATUS_ENUM) ASSAY_STATUS__LAST = 1
} assay_status;
#undef ASSAY__STATUS_ENUM

/* Details of a failure. The caller owns the struct, and it need not be released. */
typedef struct assay_error {
    assay_status status;
    char message[512]; /* one line, no newline, never empty after a failure */
} assay_error;

/* The name of a status: "ASSAY_E_IO", or "unknown status" for any other value; static storage. */
ASSAY_API const char *assay_status_name(assay_status status);

/* The message of a status: "input or output failed"; static storage. */
ASSAY_API const char *assay_status_message(assay_status status);

#ifdef __cplusplus
}
#endif

#endif
