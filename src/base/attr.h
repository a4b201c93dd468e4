/* attr: the few compiler attributes patra uses, under names that say why they are there. */
#ifndef PATRA_BASE_ATTR_H
#define PATRA_BASE_ATTR_H

/* The caller must look at the result: ignoring it would swallow a failure. */
#define MUST_CHECK __attribute__((warn_unused_result))

/* The compiler checks the format string at position f against the arguments from position a. */
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
