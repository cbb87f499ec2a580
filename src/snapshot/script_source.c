/* Reads the source text of lines from their files as they are now. A program may have changed its
 * folder or its files meanwhile. Text that cannot be read is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "snapshot/script_merge.h"

enum { MAX_LINE = 240 };

/* A line whose text is wanted. */
typedef struct wanted {
    const char *file;
    uint64_t line;
    const char **source;
} wanted;

static int by_place(const void *left, const void *right)
{
    const wanted *a = left, *b = right;
    int order = strcmp(a->file, b->file);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static const char *trimmed(char *line)
{
    size_t length = strcspn(line, "\r\n");
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    line[length] = '\0';
    return line + strspn(line, " \t\f");
}

/* Skip the rest of a line that is longer than the buffer. */
static void skip_rest(FILE *stream, const char *line)
{
    if (strchr(line, '\n') == NULL)
        for (int c; (c = fgetc(stream)) != EOF && c != '\n';)
            ;
}

/* Read the wanted lines of one file, which are sorted. Several entries may want the same line, so
 * the last line that was read is kept. */
static assay_status read_file(assay_record *record, const wanted *first, size_t count)
{
    char line[MAX_LINE];
    uint64_t number = 0;
    FILE *stream = first->file[0] != '<' ? fopen(first->file, "re") : NULL;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < count && stream != NULL && status == ASSAY_OK; i++) {
        bool there = number == first[i].line;
        while (number < first[i].line && (there = fgets(line, sizeof line, stream) != NULL)) {
            skip_rest(stream, line);
            number++;
        }
        if (!there)
            break;
        const char *text = trimmed(line);
        if (*text != '\0' && (*first[i].source = assay_record_text(record, text)) == NULL)
            status = ASSAY_E_MEMORY;
    }
    if (stream != NULL)
        fclose(stream);
    return status;
}

assay_status assay__script_put_sources(assay_record *record)
{
    assay_record_python *python = &record->python;
    size_t count = 0, total = python->line_count + python->allocation_count;
    wanted *all = malloc((total + 1) * sizeof *all);
    assay_status status = all != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    for (size_t i = 0; i < python->line_count && all != NULL; i++)
        all[count++] =
            (wanted){python->lines[i].file, python->lines[i].line, &python->lines[i].source};
    for (size_t i = 0; i < python->allocation_count && all != NULL; i++)
        all[count++] = (wanted){python->allocations[i].file, python->allocations[i].line,
                                &python->allocations[i].source};
    if (count > 0)
        qsort(all, count, sizeof *all, by_place);
    for (size_t i = 0, next; i < count && status == ASSAY_OK; i = next) {
        for (next = i + 1; next < count && strcmp(all[next].file, all[i].file) == 0;)
            next++;
        status = read_file(record, &all[i], next - i);
    }
    free(all);
    return status;
}
