/* dictionaries: the rows of sys_dict_* as SQL, made from the tables of core/codes.h. Run by
 * scripts/dictionaries after a word was added. */
#include <stdio.h>

#include "core/codes.h"

static void print_text(struct str text)
{
    putchar('\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\'')
            putchar('\'');
        putchar(text.data[i]);
    }
    putchar('\'');
}

static void print_items(const struct code_table *table, bool is_last)
{
    for (size_t i = 0; i < table->count; i++) {
        printf("    (");
        print_text(table->type);
        printf(", ");
        print_text(table->items[i].code);
        printf(", %zu, ", i);
        print_text(table->items[i].meaning);
        puts(is_last && i + 1 == table->count ? ");" : "),");
    }
}

int main(void)
{
    puts("-- The words of core/codes.h, written by scripts/dictionaries. Words are never "
         "renamed.\n");
    puts("INSERT INTO sys_dict_type (type_code, meaning) VALUES");
    for (size_t i = 0; i < CODE_TABLE_COUNT; i++) {
        printf("    (");
        print_text(CODE_TABLES[i]->type);
        printf(", ");
        print_text(CODE_TABLES[i]->meaning);
        puts(i + 1 == CODE_TABLE_COUNT ? ");" : "),");
    }
    puts("\nINSERT INTO sys_dict_item (type_code, item_code, position, meaning) VALUES");
    for (size_t i = 0; i < CODE_TABLE_COUNT; i++)
        print_items(CODE_TABLES[i], i + 1 == CODE_TABLE_COUNT);
    return 0;
}
