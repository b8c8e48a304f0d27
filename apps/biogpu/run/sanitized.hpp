#pragma once

// Defined where the program is built with a sanitizer that brings its own allocator and tells what
// is not freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BIOGPU_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BIOGPU_SANITIZED
#endif
#endif
