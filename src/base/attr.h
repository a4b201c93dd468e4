/* attr: the compiler attributes patra uses, under names that say what they are for. */
#ifndef PATRA_BASE_ATTR_H
#define PATRA_BASE_ATTR_H

/* The caller must check the result: ignoring it would hide a failure. */
#define MUST_CHECK __attribute__((warn_unused_result))

/* The compiler checks the format string at position f against the arguments from position a. */
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
