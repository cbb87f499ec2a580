/* Whether this build has a sanitizer, which gcc and clang say differently: each is 1 or 0. */
#ifndef ASSAY_TESTS_SANITIZERS_H
#define ASSAY_TESTS_SANITIZERS_H

#if defined(__has_feature)
#define SANITIZERS_HAVE(name) __has_feature(name)
#else
#define SANITIZERS_HAVE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SANITIZERS_HAVE(address_sanitizer)
#define ADDRESS_SANITIZER 1
#else
#define ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || SANITIZERS_HAVE(thread_sanitizer)
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif

#endif
