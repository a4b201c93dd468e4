#include "cmd/help.h"

#include <string.h>

const struct command *help_last(const struct help_path *path)
{
    return path->commands[path->depth - 1];
}

void help_name(const struct help_path *path, FILE *out)
{
    for (int i = 0; i < path->depth; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", path->commands[i]->name);
}

static void print_options(const struct command *command, FILE *out)
{
    fprintf(out, "\nOptions:\n");
    for (const struct option *o = command->options; o->name != NULL; o++) {
        char left[48];

        (void)snprintf(left, sizeof(left), "--%s%s%s", o->name, o->value != NULL ? " " : "",
                       o->value != NULL ? o->value : "");
        fprintf(out, "  %-22s %s\n", left, o->help);
    }
    fprintf(out, "  %-22s %s\n", "--help", "Show this text.");
}

void help_print(const struct help_path *path, FILE *out)
{
    const struct command *command = help_last(path);

    fprintf(out, "Usage: ");
    help_name(path, out);
    fprintf(out, "%s%s%s%s\n\n%s\n",
            command->children != NULL && command->run == NULL ? " COMMAND" : "",
            command->options[0].name != NULL ? " [OPTION]..." : "",
            command->operands != NULL ? " " : "",
            command->operands != NULL ? command->operands : "", command->description);
    if (command->children != NULL) {
        fprintf(out, "\nCommands:\n");
        for (const struct command *c = command->children; c->name != NULL; c++)
            fprintf(out, "  %-12s %s\n", c->name, c->summary);
        fprintf(out, "\n'");
        help_name(path, out);
        fprintf(out, " COMMAND --help' tells more about a command.\n");
    }
    if (command->run != NULL)
        print_options(command, out);
}

/* Troff reads a leading dot or quote and every backslash as its own. */
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
}

static void manual_of(struct help_path *path, FILE *out)
{
    const struct command *command = help_last(path);

    if (command->run != NULL) {
        fprintf(out, ".SS \"");
        help_name(path, out);
        fprintf(out, "%s%s\"\n", command->operands != NULL ? " " : "",
                command->operands != NULL ? command->operands : "");
        troff(command->description, out);
        fprintf(out, "\n");
        for (const struct option *o = command->options; o->name != NULL; o++) {
            fprintf(out, ".TP\n.B \\-\\-%s%s%s\n", o->name, o->value != NULL ? " " : "",
                    o->value != NULL ? o->value : "");
            troff(o->help, out);
            fprintf(out, "\n");
        }
    }
    for (const struct command *c = command->children; c != NULL && c->name != NULL; c++) {
        path->commands[path->depth++] = c;
        manual_of(path, out);
        path->depth--;
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
    fprintf(out, "\n.SH COMMANDS\n");
    manual_of(&path, out);
    fprintf(out,
            ".SH EXIT STATUS\n"
            ".TP\n.B 0\nDone, and nothing is wrong.\n"
            ".TP\n.B 1\nDone, and something is wrong: faults in a file, a difference.\n"
            ".TP\n.B 2\nThe command line was not understood; nothing was done.\n"
            ".TP\n.B 3\nCould not be done now; trying again may help.\n"
            ".TP\n.B 4\nCan not be done; trying again would not help.\n"
            ".SH ENVIRONMENT\n.TP\n.B PATRA_STORE\nThe store, when \\-\\-store is not given.\n");
}

static void completion_of(const struct command *command, const char *prefix, FILE *out)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s%s%s", prefix, prefix[0] != '\0' ? " " : "",
                   command->name);
    fprintf(out, "    '%s') words='--help", path);
    for (const struct command *c = command->children; c != NULL && c->name != NULL; c++)
        fprintf(out, " %s", c->name);
    for (const struct option *o = command->options; o->name != NULL; o++)
        fprintf(out, " --%s", o->name);
    fprintf(out, "' ;;\n");
    for (const struct command *c = command->children; c != NULL && c->name != NULL; c++)
        completion_of(c, path, out);
}

void help_completion(const struct command *root, FILE *out)
{
    fprintf(out, "# bash completion for patra; made from its command table.\n"
                 "_patra() {\n"
                 "    local path=patra words= word i\n"
                 "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                 "        word=${COMP_WORDS[i]}\n"
                 "        [[ $word == -* ]] || path=\"$path $word\"\n"
                 "    done\n"
                 "    case $path in\n");
    completion_of(root, "", out);
    fprintf(out, "    esac\n"
                 "    COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
                 "    [[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default\n"
                 "}\n"
                 "complete -F _patra patra\n");
}
