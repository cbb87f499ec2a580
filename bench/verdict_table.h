/* The tables of bench/verdicts.c: numbers under named rows and columns, written as Markdown for
 * people and as CSV for programs. */
#ifndef ASSAY_BENCH_VERDICT_TABLE_H
#define ASSAY_BENCH_VERDICT_TABLE_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { TABLE_ROWS = 12, TABLE_COLUMNS = 6, TABLES_MOST = 20 };

typedef struct table {
    const char *name; /* in the CSV */
    const char *title;
    const char *corner; /* the title of the rows */
    const char *rows[TABLE_ROWS], *columns[TABLE_COLUMNS];
    size_t row_count, column_count;
    int decimals;
    double cells[TABLE_ROWS][TABLE_COLUMNS];
} table;

typedef struct tables {
    table list[TABLES_MOST];
    size_t count;
} tables;

/* Adds a table. Its rows and columns are borrowed, and must live as long as the table. Exits if
 * there are too many. */
static inline table *tables_add(tables *all, table begun, const char *const *rows,
                                const char *const *columns)
{
    if (all->count == TABLES_MOST || begun.row_count > TABLE_ROWS ||
        begun.column_count > TABLE_COLUMNS)
        abort();
    table *it = &all->list[all->count++];
    *it = begun;
    for (size_t i = 0; i < it->row_count; i++)
        it->rows[i] = rows[i];
    for (size_t i = 0; i < it->column_count; i++)
        it->columns[i] = columns[i];
    return it;
}

/* Rounds the cells as they are shown, so that text, CSV and plots have the same numbers, and prints
 * the table. */
static inline void table_finish(table *it, FILE *out)
{
    double unit = pow(10, -it->decimals);
    for (size_t i = 0; i < it->row_count; i++)
        for (size_t k = 0; k < it->column_count; k++)
            it->cells[i][k] = round(it->cells[i][k] / unit) * unit;
    fprintf(out, "\n%s\n\n| %s |", it->title, it->corner);
    for (size_t i = 0; i < it->column_count; i++)
        fprintf(out, " %s |", it->columns[i]);
    fputs("\n|---|", out);
    for (size_t i = 0; i < it->column_count; i++)
        fputs("--:|", out);
    for (size_t i = 0; i < it->row_count; i++) {
        fprintf(out, "\n| %s |", it->rows[i]);
        for (size_t k = 0; k < it->column_count; k++)
            fprintf(out, " %.*f |", it->decimals, it->cells[i][k]);
    }
    fputc('\n', out);
}

static inline void tables_print_csv(const tables *all, FILE *out)
{
    fputs("table,row,column,value\n", out);
    for (size_t t = 0; t < all->count; t++) {
        const table *it = &all->list[t];
        for (size_t i = 0; i < it->row_count; i++)
            for (size_t k = 0; k < it->column_count; k++)
                fprintf(out, "\"%s\",\"%s\",\"%s\",%.*f\n", it->name, it->rows[i], it->columns[k],
                        it->decimals, it->cells[i][k]);
    }
}

#endif
