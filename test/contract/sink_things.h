/* sink_things: texts of a projection "things" with a table of this name, for tests of tables, and
 * what shows its rows. */
#ifndef PATRA_TEST_CONTRACT_SINK_THINGS_H
#define PATRA_TEST_CONTRACT_SINK_THINGS_H

#define THINGS_HEAD "projection: things\n"
#define THINGS_FROM                                                       \
    "    from:\n"                                                         \
    "      - { aggregates: [thing], events: [Set], effect: replace }\n"   \
    "      - { aggregates: [thing], events: [Patch], effect: partial }\n" \
    "      - { aggregates: [thing], events: [Drop], effect: delete }\n"
#define THINGS_COLUMNS       \
    "    columns:\n"         \
    "      title: $.title\n" \
    "      year: { type: integer, path: $.year }\n"
#define THINGS_MARKED THINGS_HEAD "tables:\n  things:\n" THINGS_COLUMNS THINGS_FROM
#define THINGS_ERASED \
    THINGS_HEAD "tables:\n  things:\n    on_delete: remove\n" THINGS_COLUMNS THINGS_FROM
#define THINGS_ALL "SELECT aggregate_id, version, title, year FROM things ORDER BY 1"
#define THINGS_CHILDREN            \
    "    children:\n"              \
    "      authors:\n"             \
    "        each: $.authors[*]\n" \
    "        columns: { name: $.name, orcid: $.orcid }\n"
#define THINGS_AUTHORS "SELECT aggregate_id, ordinal, name, orcid FROM authors ORDER BY 1, 2"

#endif
