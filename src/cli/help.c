/* The command table as text: --help, the manual page, the reference. */
#include "cli/help.h"

#include <assert.h>

const struct command *help_last(const struct help_path *path)
{
    return path->commands[path->depth - 1];
}

void help_name(const struct help_path *path, FILE *out)
{
    for (int i = 0; i < path->depth; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", path->commands[i]->name);
}

enum { OPTION_TEXT_MAX = 64 };

/* "-o, --output FILE". */
static void option_text(const struct command *command, const struct option *option,
                        char text[static OPTION_TEXT_MAX])
{
    const char letter = command_letter(command, option);
    const char *value = option->value != NULL ? option->value : "";
    const char *gap = option->value != NULL ? " " : "";

    if (letter != '\0')
        (void)snprintf(text, OPTION_TEXT_MAX, "-%c, --%s%s%s", letter, option->name, gap, value);
    else
        (void)snprintf(text, OPTION_TEXT_MAX, "--%s%s%s", option->name, gap, value);
}

static void print_options(const struct command *command, FILE *out)
{
    fprintf(out, "\nOptions:\n");
    for (const struct option *o = command->options; o->name != NULL; o++) {
        char left[OPTION_TEXT_MAX];

        option_text(command, o, left);
        fprintf(out, "  %-22s %s\n", left, o->help);
    }
    fprintf(out, "  %-22s %s\n", "--help", "Show this text.");
}

void help_print(const struct help_path *path, FILE *out)
{
    const struct command *command = help_last(path);

    fprintf(out, "Usage: ");
    help_name(path, out);
    fprintf(out, "%s%s%s%s\n\n%s\n", command->children != NULL ? " COMMAND" : "",
            command->options[0].name == NULL ? ""
            : command->children != NULL      ? " | OPTION"
                                             : " [OPTION]...",
            command->operands != NULL ? " " : "",
            command->operands != NULL ? command->operands : "", command->description);
    if (command->children != NULL) {
        fprintf(out, "\nCommands:\n");
        for (const struct command *const *c = command->children; *c != NULL; c++)
            fprintf(out, "  %-12s %s\n", (*c)->name, (*c)->summary);
        fprintf(out, "\n'");
        help_name(path, out);
        fprintf(out, " COMMAND --help'%s describes a command.\n",
                path->depth == 1 ? " or 'patra help COMMAND'" : "");
    }
    if (command->run != NULL)
        print_options(command, out);
}

/* For the manual and the reference; by enum exit_code. */
static const char *const exit_meanings[] = {
    [EXIT_DONE] = "Done, and nothing is wrong.",
    [EXIT_FOUND] = "Done, but something is wrong: faults in a file, a difference, a failed check.",
    [EXIT_USAGE] = "The command line was not understood; nothing was done.",
    [EXIT_LATER] =
        "Could not be done now; trying again may help. The store is busy or unreachable.",
    [EXIT_REFUSED] = "Cannot be done; trying again would not help.",
    [EXIT_INTERRUPTED] =
        "Stopped by a signal (SIGTERM, SIGINT) before the end. Tasks under way were given back.",
};

/* Calls `each` for the command and all below it, parents first. */
static void walk(struct help_path *path, FILE *out,
                 void (*each)(const struct help_path *path, FILE *out))
{
    const struct command *command = help_last(path);

    each(path, out);
    for (const struct command *const *c = command->children; c != NULL && *c != NULL; c++) {
        assert(path->depth < HELP_DEPTH_MAX);
        path->commands[path->depth++] = *c;
        walk(path, out, each);
        path->depth--;
    }
}

/* Escapes what troff would interpret: a leading dot or quote, every backslash and hyphen. */
static void troff(const char *text, FILE *out)
{
    for (bool at_start = true; *text != '\0'; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            fprintf(out, "\\&");
        if (*text == '\\' || *text == '-')
            fputc('\\', out);
        fputc(*text, out);
        at_start = *text == '\n';
    }
    fputc('\n', out);
}

static void manual_of(const struct help_path *path, FILE *out)
{
    const struct command *command = help_last(path);

    if (command->run == NULL)
        return;
    fprintf(out, ".SS \"");
    help_name(path, out);
    fprintf(out, "%s%s\"\n", command->operands != NULL ? " " : "",
            command->operands != NULL ? command->operands : "");
    troff(command->description, out);
    for (const struct option *o = command->options; o->name != NULL; o++) {
        char head[OPTION_TEXT_MAX];

        option_text(command, o, head);
        fprintf(out, ".TP\n.B ");
        troff(head, out);
        troff(o->help, out);
    }
}

void help_manual(const struct command *root, FILE *out)
{
    struct help_path path = { .commands = { root }, .depth = 1 };

    fprintf(out,
            ".TH PATRA 1 \"\" \"patra %s\" \"patra manual\"\n.SH NAME\npatra \\- %s\n"
            ".SH SYNOPSIS\n.B patra\n.I COMMAND\n[OPTION]...\n.SH DESCRIPTION\n",
            PATRA_VERSION, root->summary);
    troff(root->description, out);
    fprintf(out, ".SH COMMANDS\n");
    walk(&path, out, manual_of);
    fprintf(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < ARRAY_LEN(exit_meanings); i++) {
        if (exit_meanings[i] != NULL)
            fprintf(out, ".TP\n.B %zu\n%s\n", i, exit_meanings[i]);
    }
    fprintf(out, ".SH ENVIRONMENT\n.TP\n.B PATRA_STORE\n"
                 "The store to use when \\-\\-store is not given.\n"
                 ".TP\n.B PATRA_CONTACT\nThe address that the shipped sources send to the APIs.\n"
                 ".TP\n.B PATRA_MODULES\nA folder in which modules are looked for first.\n"
                 ".TP\n.B PATRA_SIM\nThe program patra\\-sim, where it is not beside patra.\n"
                 ".TP\n.B NO_COLOR\nWhere it is set, nothing is coloured.\n"
                 ".SH SEE ALSO\n.BR patra\\-sim (1)\n");
}

static void reference_of(const struct help_path *path, FILE *out)
{
    const struct command *command = help_last(path);

    if (command->run == NULL || path->depth == 1)
        return;
    fprintf(out, "\n## ");
    help_name(path, out);
    fprintf(out, "%s%s\n\n%s\n", command->operands != NULL ? " " : "",
            command->operands != NULL ? command->operands : "", command->description);
    if (command->options[0].name == NULL)
        return;
    fprintf(out, "\n| option | |\n|---|---|\n");
    for (const struct option *o = command->options; o->name != NULL; o++) {
        char head[OPTION_TEXT_MAX];

        option_text(command, o, head);
        fprintf(out, "| `%s` | %s |\n", head, o->help);
    }
}

void help_reference(const struct command *root, FILE *out)
{
    struct help_path path = { .commands = { root }, .depth = 1 };

    fprintf(out, "# Commands\n\n"
                 "Generated by `patra --reference`; a test checks that it is up to date.\n\n"
                 "Every command has `--help`, and `patra help COMMAND` prints the same. Results go "
                 "to standard output, messages to standard "
                 "error.\n\n| exit code | |\n|---|---|\n");
    for (size_t i = 0; i < ARRAY_LEN(exit_meanings); i++) {
        if (exit_meanings[i] != NULL)
            fprintf(out, "| %zu | %s |\n", i, exit_meanings[i]);
    }
    walk(&path, out, reference_of);
}
