/* The command line: finds the command, parses its options, runs it. */
#include "cli/command.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "base/suggest.h"
#include "cli/help.h"
#include "cli/visible.h"
#include "data/date.h"

enum { NAMES_MAX = 64 };

static size_t option_count(const struct command *command)
{
    size_t count = 0;

    while (count < COMMAND_OPTIONS_MAX && command->options[count].name != NULL)
        count++;
    return count;
}

static int option_index(const struct command *command, struct str name)
{
    const size_t count = option_count(command);

    for (size_t i = 0; i < count; i++) {
        if (str_eq(str_of(command->options[i].name), name))
            return (int)i;
    }
    return -1;
}

char command_letter(const struct command *command, const struct option *option)
{
    for (size_t i = 0; i < COMMAND_LETTERS_MAX && command->letters[i].letter != '\0'; i++) {
        if (strcmp(command->letters[i].name, option->name) == 0)
            return command->letters[i].letter;
    }
    return '\0';
}

/* Of "-o"; -1 for anything that is not a letter of this command. */
static int letter_index(const struct command *command, const char *argument)
{
    if (argument[0] != '-' || argument[1] == '\0' || argument[2] != '\0')
        return -1;
    for (size_t i = 0; i < COMMAND_LETTERS_MAX; i++) {
        if (command->letters[i].letter == argument[1])
            return option_index(command, str_of(command->letters[i].name));
    }
    return -1;
}

const char *invocation_value(const struct invocation *invocation, const char *name)
{
    const int i = option_index(invocation->command, str_of(name));

    assert(i >= 0);
    return invocation->values[i];
}

const char *invocation_value_if_any(const struct invocation *invocation, const char *name)
{
    const int i = option_index(invocation->command, str_of(name));

    return i >= 0 ? invocation->values[i] : NULL;
}

bool invocation_flag(const struct invocation *invocation, const char *name)
{
    return invocation_value(invocation, name) != NULL;
}

const char *invocation_each(const struct invocation *invocation, const char *name, int *at)
{
    const int i = option_index(invocation->command, str_of(name));

    assert(i >= 0);
    for (; *at < invocation->given_count; ++*at) {
        if (invocation->given[*at].option == i)
            return invocation->given[(*at)++].value;
    }
    return NULL;
}

bool invocation_pair(const struct invocation *invocation, const struct option_pairs *pairs, int *at,
                     struct option_pair *pair, struct error *err)
{
    const char *given = invocation_each(invocation, pairs->name, at);
    bool has_value;

    *pair = (struct option_pair){ 0 };
    if (given == NULL)
        return true;
    pair->value = str_of(given);
    has_value = str_find_char(pair->value, '=') < pair->value.len;
    pair->key = str_cut(&pair->value, '=');
    return (has_value && pair->key.len > 0) ||
           command_misused(err, "--%s: '%s' is not %s", pairs->name, given, pairs->form);
}

bool invocation_number(const struct invocation *invocation, const char *name,
                       struct option_range range, int64_t *number, struct error *err)
{
    const char *given = invocation_value(invocation, name);

    *number = range.otherwise;
    if (given == NULL)
        return true;
    if (!str_to_i64(str_of(given), number))
        return command_misused(err, "--%s: '%s' is not a whole number", name, given);
    return (*number >= range.least && *number <= range.most) ||
           command_misused(err, "--%s: %s is not between %" PRId64 " and %" PRId64, name, given,
                           range.least, range.most);
}

bool invocation_duration(const struct invocation *invocation, const char *name, int64_t *length_us,
                         struct error *err)
{
    const char *given = invocation_value(invocation, name);
    struct error reason;

    return given == NULL || duration_parse_us(str_of(given), length_us, &reason) ||
           command_misused(err, "--%s: %s", name, reason.text);
}

bool invocation_instant(const struct invocation *invocation, const char *name, int64_t now_us,
                        int64_t *at_us, struct error *err)
{
    const char *given = invocation_value(invocation, name);
    struct duration ago;
    struct date date;

    if (given == NULL ||
        (duration_parse(str_of(given), &ago, err) && duration_subtract(now_us, ago, at_us)))
        return true;
    if (!date_parse(date_format_find(STR("auto")), str_of(given), &date, err))
        return command_misused(err,
                               "--%s: '%s' is neither a date (2026-01-31, 2026-01-31T10:00:00Z) "
                               "nor how long ago (7d, 12h)",
                               name, given);
    *at_us = date.at_us;
    return true;
}

bool invocation_code(const struct invocation *invocation, const char *name,
                     const struct code_table *codes, struct option_code *code, struct error *err)
{
    const char *given = invocation_value(invocation, name);
    char words[256] = "";
    size_t len = 0;

    code->is_given = given != NULL;
    code->value = given != NULL ? code_find_written(codes, str_of(given)) : 0;
    if (code->value >= 0)
        return true;
    for (size_t i = 0; i < codes->count && len < sizeof(words); i++)
        len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%.*s", i > 0 ? ", " : "",
                                STR_ARG(codes->items[i].code));
    return command_misused(err, "--%s: '%s' is not one of %s", name, given, words);
}

bool invocation_row(const struct invocation *invocation, int operand, const char *what, int64_t *id,
                    struct error *err)
{
    const char *given = invocation->operands[operand];

    return (str_to_i64(str_of(given), id) && *id > 0) ||
           command_misused(err, "'%s' is not the number of a %s", given, what);
}

static enum exit_code usage(const struct help_path *path, const char *problem, struct str what,
                            const char *meant)
{
    fprintf(stderr, "patra: %s '%.*s'", problem, STR_ARG(what));
    if (meant != NULL)
        fprintf(stderr, "; did you mean '%s'?", meant);
    fprintf(stderr, "\nSee '");
    help_name(path, stderr);
    fprintf(stderr, " --help'.\n");
    return EXIT_USAGE;
}

static enum exit_code unknown_option(const struct help_path *path, struct str name)
{
    const struct command *command = help_last(path);
    const char *names[COMMAND_OPTIONS_MAX + 1] = { "help" };
    const size_t count = option_count(command);
    char shown[128];
    char meant[64];
    const char *near;

    for (size_t i = 0; i < count; i++)
        names[i + 1] = command->options[i].name;
    near = suggest(name, names, count + 1);
    if (near != NULL)
        (void)snprintf(meant, sizeof(meant), "--%s", near);
    (void)snprintf(shown, sizeof(shown), "--%.*s", STR_ARG(name));
    return usage(path, "unknown option", str_of(shown), near != NULL ? meant : NULL);
}

static enum exit_code unknown_command(const struct help_path *path, struct str name)
{
    const struct command *parent = help_last(path);
    const char *names[NAMES_MAX];
    size_t count = 0;

    for (const struct command *const *c = parent->children; *c != NULL && count < NAMES_MAX; c++)
        names[count++] = (*c)->name;
    return usage(path, "unknown command", name, suggest(name, names, count));
}

static const struct command *find_child(const struct command *parent, const char *name)
{
    for (const struct command *const *c = parent->children; *c != NULL; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
    }
    return NULL;
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* One "--name", "--name=value", "--name value", "-n" or "-n value" at *at; moves *at to the last
 * argument it used. */
static enum exit_code take_option(struct invocation *invocation, const struct help_path *path,
                                  int argc, char **argv, int *at)
{
    const int short_one = letter_index(invocation->command, argv[*at]);
    struct str rest = str_of(argv[*at] + strspn(argv[*at], "-"));
    const bool has_value = short_one < 0 && memchr(rest.data, '=', rest.len) != NULL;
    const struct str name = str_cut(&rest, '=');
    const int i = short_one >= 0 ? short_one : option_index(invocation->command, name);

    if (i < 0)
        return unknown_option(path, name);
    if (invocation->command->options[i].value == NULL) {
        if (has_value)
            return usage(path, "this option takes no value:", str_of(argv[*at]), NULL);
        invocation->values[i] = "";
        return EXIT_DONE;
    }
    if (!has_value && *at + 1 == argc)
        return usage(path, "this option needs a value:", str_of(argv[*at]), NULL);
    if (invocation->given_count == COMMAND_REPEATS_MAX)
        return usage(path, "too many options at", str_of(argv[*at]), NULL);
    invocation->values[i] = has_value ? rest.data : argv[++*at];
    invocation->given[invocation->given_count].option = i;
    invocation->given[invocation->given_count++].value = invocation->values[i];
    return EXIT_DONE;
}

static enum exit_code check_operands(const struct invocation *invocation,
                                     const struct help_path *path)
{
    const struct command *command = invocation->command;

    if (invocation->operand_count < command->operands_min)
        return usage(path, "missing argument:", str_of(command->operands), NULL);
    if (command->operands_max >= 0 && invocation->operand_count > command->operands_max)
        return usage(path,
                     "unexpected argument:", str_of(invocation->operands[command->operands_max]),
                     NULL);
    return EXIT_DONE;
}

/* Moves operands to the front of argv, so that options may come anywhere. */
static enum exit_code run(const struct help_path *path, int argc, char **argv)
{
    struct invocation invocation = { .command = help_last(path), .out = stdout, .talk = stderr };
    enum exit_code code;
    int kept = 0;

    for (int at = 0; at < argc; at++) {
        if (is_help(argv[at])) {
            help_print(path, stdout);
            return EXIT_DONE;
        }
        if (strcmp(argv[at], "--") == 0) {
            while (++at < argc)
                argv[kept++] = argv[at];
            break;
        }
        if (strncmp(argv[at], "--", 2) != 0 && letter_index(invocation.command, argv[at]) < 0) {
            if (argv[at][0] == '-' && argv[at][1] != '\0')
                return usage(path, "unknown option", str_of(argv[at]), NULL);
            argv[kept++] = argv[at];
            continue;
        }
        code = take_option(&invocation, path, argc, argv, &at);
        if (code != EXIT_DONE)
            return code;
    }
    invocation.operands = argv;
    invocation.operand_count = kept;
    code = check_operands(&invocation, path);
    if (code != EXIT_DONE)
        return code;
    invocation.out = visible_on_terminal(stdout);
    code = invocation.command->run(&invocation);
    visible_close(invocation.out, stdout);
    return code;
}

/* patra help [COMMAND...]: what COMMAND --help prints. */
static enum exit_code print_help(struct help_path *path, int argc, char **argv)
{
    for (int at = 0; at < argc; at++) {
        const struct command *parent = help_last(path);
        const struct command *child =
            parent->children != NULL ? find_child(parent, argv[at]) : NULL;

        if (parent->children == NULL)
            return usage(path, "unexpected argument:", str_of(argv[at]), NULL);
        if (child == NULL)
            return unknown_command(path, str_of(argv[at]));
        assert(path->depth < HELP_DEPTH_MAX);
        path->commands[path->depth++] = child;
    }
    help_print(path, stdout);
    return EXIT_DONE;
}

enum exit_code command_main(const struct command *root, int argc, char **argv)
{
    struct help_path path = { .commands = { root }, .depth = 1 };
    int at = 1;

    if (argc > 1 && strcmp(argv[1], "help") == 0)
        return print_help(&path, argc - 2, argv + 2);
    while (help_last(&path)->children != NULL) {
        const struct command *child;

        if (at == argc && help_last(&path)->run == NULL) {
            help_print(&path, stderr);
            return EXIT_USAGE;
        }
        if (at == argc || (argv[at][0] == '-' && !is_help(argv[at])))
            break;
        if (is_help(argv[at])) {
            help_print(&path, stdout);
            return EXIT_DONE;
        }
        child = find_child(help_last(&path), argv[at]);
        if (child == NULL)
            return unknown_command(&path, str_of(argv[at]));
        assert(path.depth < HELP_DEPTH_MAX);
        path.commands[path.depth++] = child;
        at++;
    }
    if (help_last(&path)->run == NULL)
        return unknown_option(&path, str_slice(str_of(argv[at]), strspn(argv[at], "-"), SIZE_MAX));
    return run(&path, argc - at, argv + at);
}

enum exit_code command_failed(const struct invocation *invocation, const struct error *err)
{
    fprintf(invocation->talk, "patra: %s (%s, %s)\n", err->text, error_level_name(err->level),
            err->code);
    if (strcmp(err->code, COMMAND_OPTION) == 0)
        return EXIT_USAGE;
    return err->level == ERROR_TRANSIENT ? EXIT_LATER : EXIT_REFUSED;
}
