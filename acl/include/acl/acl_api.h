/* Marks every declared function: it is exported, and CANN major.minor is the first version that has it. */
#ifndef ACL_INCLUDE_ACL_API_H
#define ACL_INCLUDE_ACL_API_H

#define ACL_API(major, minor) __attribute__((visibility("default")))

/* The same under the vendor's names, which headers of programs may use. */
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#define ACL_DUMP_API ACL_FUNC_VISIBILITY
#define MSVP_PROF_API ACL_FUNC_VISIBILITY
#define GE_FUNC_VISIBILITY ACL_FUNC_VISIBILITY

#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))

#endif
