/* The marker of every declared function: exported, and first found in CANN major.minor. */
#ifndef ACL_INCLUDE_ACL_API_H
#define ACL_INCLUDE_ACL_API_H

#define ACL_API(major, minor) __attribute__((visibility("default")))

#endif
