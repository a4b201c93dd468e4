/* Completion scripts for bash, zsh and fish. Each is a fixed frame with the command table in it. */
#include "cli/completion.h"

#include <string.h>

enum { PATH_BYTES = 128 };

/* The names of the sources in the store, as a shell command; nothing where it cannot be opened. */
#define SOURCE_NAMES "patra source list 2>/dev/null | sed '1d; s/ .*//'"

static const char HELP_SUMMARY[] = "describe a command";
static const char HELP_OPTION[] = "Show this text.";

typedef void writer(const struct command *command, const char *path, FILE *out);

/* Calls `each` for the command and all below it, parents first; path is "patra source lint". */
static void walk(const struct command *command, const char *above, FILE *out, writer *each)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s%s%s", above, above[0] != '\0' ? " " : "", command->name);
    each(command, path, out);
    for (const struct command *const *c = command->children; c != NULL && *c != NULL; c++)
        walk(*c, path, out, each);
}

static bool is_root(const char *path)
{
    return strchr(path, ' ') == NULL;
}

static bool takes_source(const struct command *command)
{
    return command->operands != NULL && strstr(command->operands, "SOURCE") != NULL;
}

/* 'patra init' | 'patra source' | ...: what the words before the cursor are compared with. */
static void add_path(const char *path, const char *between, FILE *out)
{
    if (!is_root(path))
        fprintf(out, "%s'%s'", between, path);
}

/* ---- bash ---- */

static void bash_path(const struct command *command, const char *path, FILE *out)
{
    (void)command;
    add_path(path, " | ", out);
}

static void bash_words(const struct command *command, const char *path, FILE *out)
{
    fprintf(out, "    '%s')\n        words='--help%s", path, is_root(path) ? " help" : "");
    for (const struct command *const *c = command->children; c != NULL && *c != NULL; c++)
        fprintf(out, " %s", (*c)->name);
    for (const struct option *o = command->options; o->name != NULL; o++)
        fprintf(out, " --%s", o->name);
    fprintf(out, "'\n        with_value='");
    for (const struct option *o = command->options; o->name != NULL; o++) {
        if (o->value != NULL && command_letter(command, o) != '\0')
            fprintf(out, " -%c", command_letter(command, o));
        if (o->value != NULL)
            fprintf(out, " --%s", o->name);
    }
    fprintf(out, " '\n%s        ;;\n", takes_source(command) ? "        sources=yes\n" : "");
}

static void print_bash(const struct command *root, FILE *out)
{
    fprintf(out, "# bash completion for patra, generated from its command table.\n"
                 "_patra() {\n"
                 "    local path=patra words= with_value= sources= i\n"
                 "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                 "        case \"$path ${COMP_WORDS[i]}\" in\n"
                 "        ''");
    walk(root, "", out, bash_path);
    fprintf(out, ") path=\"$path ${COMP_WORDS[i]}\" ;;\n"
                 "        esac\n"
                 "    done\n"
                 "    case $path in\n");
    walk(root, "", out, bash_words);
    fprintf(out, "    esac\n"
                 "    COMPREPLY=()\n"
                 "    [[ -z $sources || $current == -* ]] || words+=\" $(" SOURCE_NAMES ")\"\n"
                 "    [[ $with_value == *\" $before \"* ]] ||\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                 "    [[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default 2>/dev/null\n"
                 "}\n"
                 "complete -F _patra patra\n");
}

/* ---- zsh ---- */

/* Inside '...', where _arguments and _describe give [, ], : and \ a meaning. */
static void zsh_text(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fprintf(out, "'\\''");
        else
            fprintf(out, "%s%c", strchr("[]:\\", *text) != NULL ? "\\" : "", *text);
    }
}

static void zsh_path(const struct command *command, const char *path, FILE *out)
{
    (void)command;
    add_path(path, "|", out);
}

static void zsh_name(const char *name, const char *summary, FILE *out)
{
    fprintf(out, "            '%s:", name);
    zsh_text(summary, out);
    fprintf(out, "'\n");
}

static void zsh_option(const struct command *command, const struct option *option, FILE *out)
{
    const char letter = command_letter(command, option);
    char head[64];

    /* * : several times; what counts once is for patra to say. */
    if (letter != '\0')
        (void)snprintf(head, sizeof(head), "'*'{-%c,--%s%s}'", letter, option->name,
                       option->value != NULL ? "=" : "");
    else
        (void)snprintf(head, sizeof(head), "'*--%s%s", option->name,
                       option->value != NULL ? "=" : "");
    fprintf(out, "            %s[", head);
    zsh_text(option->help, out);
    fprintf(out, "]");
    if (option->value != NULL) {
        fprintf(out, ":");
        zsh_text(option->value, out);
        fprintf(out, ":_files");
    }
    fprintf(out, "'\n");
}

static void zsh_words(const struct command *command, const char *path, FILE *out)
{
    fprintf(out, "    ('%s')\n        commands=(\n", path);
    if (is_root(path))
        zsh_name("help", HELP_SUMMARY, out);
    for (const struct command *const *c = command->children; c != NULL && *c != NULL; c++)
        zsh_name((*c)->name, (*c)->summary, out);
    fprintf(out, "        )\n        options=(\n            '--help[%s]'\n", HELP_OPTION);
    for (const struct option *o = command->options; o->name != NULL; o++)
        zsh_option(command, o, out);
    fprintf(out, "        )\n%s        ;;\n",
            takes_source(command) ? "        operand=_patra_sources\n" : "");
}

static void print_zsh(const struct command *root, FILE *out)
{
    fprintf(out, "#compdef patra\n"
                 "# zsh completion for patra, generated from its command table.\n"
                 "_patra_sources() {\n"
                 "    local -a names=(${(f)\"$(" SOURCE_NAMES ")\"})\n"
                 "    compadd -a names || _files\n"
                 "}\n"
                 "_patra() {\n"
                 "    local command=patra depth=1 operand=_files i\n"
                 "    local -a commands options\n"
                 "    for ((i = 2; i < CURRENT; i++)); do\n"
                 "        case \"$command ${words[i]}\" in\n"
                 "        (''");
    walk(root, "", out, zsh_path);
    fprintf(out, ") command=\"$command ${words[i]}\" depth=$i ;;\n"
                 "        esac\n"
                 "    done\n"
                 "    case $command in\n");
    walk(root, "", out, zsh_words);
    /* _arguments sees the last command and what follows it. */
    fprintf(out, "    esac\n"
                 "    words=(\"${(@)words[depth,-1]}\")\n"
                 "    ((CURRENT -= depth - 1))\n"
                 "    if (($#commands)); then\n"
                 "        _arguments -s -S $options '1:command:->command' && return\n"
                 "        [[ $state == command ]] && _describe -t commands command commands\n"
                 "    else\n"
                 "        _arguments -s -S $options \"*:operand:$operand\"\n"
                 "    fi\n"
                 "}\n"
                 "_patra \"$@\"\n");
}

/* ---- fish ---- */

/* Inside '...'. */
static void fish_text(const char *text, FILE *out)
{
    for (; *text != '\0'; text++)
        fprintf(out, "%s%c", strchr("'\\", *text) != NULL ? "\\" : "", *text);
}

static void fish_path(const struct command *command, const char *path, FILE *out)
{
    (void)command;
    add_path(path, " ", out);
}

static void fish_head(const char *path, const char *form, FILE *out)
{
    fprintf(out, "complete -c patra -n '__patra_at \"%s\"' %s", path, form);
}

static void fish_name(const char *path, const char *name, const char *summary, FILE *out)
{
    fish_head(path, "-f", out);
    fprintf(out, " -a %s -d '", name);
    fish_text(summary, out);
    fprintf(out, "'\n");
}

static void fish_words(const struct command *command, const char *path, FILE *out)
{
    if (is_root(path))
        fish_name(path, "help", HELP_SUMMARY, out);
    for (const struct command *const *c = command->children; c != NULL && *c != NULL; c++)
        fish_name(path, (*c)->name, (*c)->summary, out);
    fish_head(path, "-l help", out);
    fprintf(out, " -d '%s'\n", HELP_OPTION);
    for (const struct option *o = command->options; o->name != NULL; o++) {
        fish_head(path, "-l", out);
        fprintf(out, " %s", o->name);
        if (command_letter(command, o) != '\0')
            fprintf(out, " -s %c", command_letter(command, o));
        fprintf(out, "%s -d '", o->value != NULL ? " -r" : "");
        fish_text(o->help, out);
        fprintf(out, "'\n");
    }
    if (takes_source(command)) {
        fish_head(path, "-a", out);
        fprintf(out, " '(__patra_sources)' -d source\n");
    }
}

static void print_fish(const struct command *root, FILE *out)
{
    fprintf(out, "# fish completion for patra, generated from its command table.\n"
                 "function __patra_sources\n"
                 "    " SOURCE_NAMES "\n"
                 "end\n"
                 "function __patra_at\n"
                 "    set -l path patra\n"
                 "    for word in (commandline -opc)[2..-1]\n"
                 "        switch \"$path $word\"\n"
                 "            case");
    walk(root, "", out, fish_path);
    fprintf(out, "\n"
                 "                set path \"$path $word\"\n"
                 "        end\n"
                 "    end\n"
                 "    test \"$path\" = \"$argv[1]\"\n"
                 "end\n");
    walk(root, "", out, fish_words);
}

bool completion_print(const struct command *root, const char *shell, FILE *out, struct error *err)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(root, out);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(root, out);
    else if (strcmp(shell, "fish") == 0)
        print_fish(root, out);
    else
        return command_misused(err, "--completion: '%s' is not bash, zsh or fish", shell);
    return true;
}
