/* The marker of every declared function: exported, and first found in CANN major.minor. */
#ifndef ACL_INCLUDE_ACL_API_H
#define ACL_INCLUDE_ACL_API_H

#define ACL_API(major, minor) __attribute__((visibility("default")))

/* The same under the vendor's names, which headers of programs use. */
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#define ACL_DUMP_API ACL_FUNC_VISIBILITY
#define MSVP_PROF_API ACL_FUNC_VISIBILITY
#define GE_FUNC_VISIBILITY ACL_FUNC_VISIBILITY

#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))

#endif
