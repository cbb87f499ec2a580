/* Which commit is checked out, read from .git without running git.
 *
 * HEAD names a commit or a branch. The commit of a branch is in a file of that name or in
 * packed-refs. In a linked work tree or a submodule, .git is a file that names the real directory,
 * and the branches are in the `commondir` of that directory (gitrepository-layout(5)). Reads are
 * bounded. If anything is not as expected, the fact is missing. Repositories with the reftable
 * backend are not supported. */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/text.h"
#include "instrument/proc.h"
#include "instrument/provenance.h"

enum {
    PACKED_REFS_MAX = 64 << 20, /* about half a million refs */
    COMMIT_BYTES = 65           /* SHA-256 and terminator */
};

typedef struct repository {
    char directory[PATH_MAX]; /* holds HEAD */
    char common[PATH_MAX];    /* holds the refs; the same unless linked */
} repository;

/* Write "directory/name" into `path` of PATH_MAX bytes, or only the name if it is absolute. False
 * if the result is too long. */
static bool join(char *path, const char *directory, const char *name)
{
    int length = name[0] == '/' ? snprintf(path, PATH_MAX, "%s", name)
                                : snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return length > 0 && length < PATH_MAX;
}

/* Read the first line of the file directory/name. False if there is none. */
static bool read_line(const char *directory, const char *name, char *line, size_t capacity)
{
    char path[PATH_MAX];
    if (!join(path, directory, name) || assay__proc_read(path, line, capacity) != ASSAY_OK)
        return false;
    line[strcspn(line, "\r\n")] = '\0';
    return line[0] != '\0';
}

static bool is_directory(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

/* Look into `top`/.git, which is a directory or a file that names one. */
static bool open_repository(const char *top, repository *found)
{
    char git[PATH_MAX], line[PATH_MAX];
    static const char prefix[] = "gitdir: ";
    if (!join(git, top, ".git"))
        return false;
    if (is_directory(git))
        memcpy(found->directory, git, strlen(git) + 1);
    else if (!read_line(top, ".git", line, sizeof line) ||
             strncmp(line, prefix, strlen(prefix)) != 0 ||
             !join(found->directory, top, line + strlen(prefix)))
        return false;
    if (!read_line(found->directory, "commondir", line, sizeof line))
        memcpy(found->common, found->directory, strlen(found->directory) + 1);
    else if (!join(found->common, found->directory, line))
        return false;
    return true;
}

static bool find_repository(const char *directory, repository *found)
{
    char top[PATH_MAX];
    if (realpath(directory != NULL ? directory : ".", top) == NULL)
        return false;
    for (;;) {
        if (open_repository(top, found))
            return true;
        char *slash = strrchr(top, '/');
        if (slash == NULL || top[1] == '\0')
            return false;
        slash[slash == top] = '\0'; /* keep the root's own slash */
    }
}

/* Copy a commit id: 40 or 64 hexadecimal digits, followed by the end of the word. */
static bool copy_commit(const char *text, char commit[COMMIT_BYTES])
{
    size_t length = 0;
    while (length < COMMIT_BYTES && isxdigit((unsigned char)text[length]))
        length++;
    if ((length != 40 && length != 64) ||
        (text[length] != '\0' && !isspace((unsigned char)text[length])))
        return false;
    memcpy(commit, text, length);
    commit[length] = '\0';
    return true;
}

/* Lines of packed-refs are "COMMIT NAME"; others start with '#' or '^'. */
static bool find_packed(const char *common, const char *name, char commit[COMMIT_BYTES])
{
    char path[PATH_MAX];
    assay__buffer text;
    bool found = false;
    assay__buffer_init(&text, PACKED_REFS_MAX);
    if (join(path, common, "packed-refs") && assay__file_read(path, &text, NULL) == ASSAY_OK) {
        size_t length = strlen(name);
        for (const char *line = text.data; line != NULL && !found;) {
            const char *space = strpbrk(line, " \n");
            if (space != NULL && *space == ' ' && strncmp(space + 1, name, length) == 0 &&
                (space[1 + length] == '\n' || space[1 + length] == '\0'))
                found = copy_commit(line, commit);
            line = strchr(line, '\n');
            line = line != NULL && line[1] != '\0' ? line + 1 : NULL;
        }
    }
    assay__buffer_release(&text);
    return found;
}

/* Whether a name is below refs/ and, as git itself requires, cannot lead out of the repository. */
static bool is_safe_ref(const char *name)
{
    return strncmp(name, "refs/", 5) == 0 && strstr(name, "..") == NULL;
}

static bool resolve(const repository *found, const char *name, char commit[COMMIT_BYTES])
{
    char line[256];
    if (!is_safe_ref(name))
        return false;
    if (read_line(found->directory, name, line, sizeof line) && copy_commit(line, commit))
        return true;
    if (read_line(found->common, name, line, sizeof line) && copy_commit(line, commit))
        return true;
    return find_packed(found->common, name, commit);
}

static void emit_text(assay_fact_sink emit, void *context, const char *key, char *value, bool known)
{
    if (known)
        assay__text_make_printable(value);
    emit(context, key, known ? value : NULL, known ? ASSAY_VALID : ASSAY_NOT_ENOUGH_DATA);
}

void assay__git_describe(const char *directory, assay_fact_sink emit, void *context)
{
    repository found;
    char head[1024] = "", commit[COMMIT_BYTES] = "";
    static const char prefix[] = "ref: ", heads[] = "refs/heads/";
    bool inside =
        find_repository(directory, &found) && read_line(found.directory, "HEAD", head, sizeof head);
    bool on_branch = inside && strncmp(head, prefix, strlen(prefix)) == 0;
    char *name = head + (on_branch ? strlen(prefix) : 0);
    bool has_commit =
        inside && (on_branch ? resolve(&found, name, commit) : copy_commit(head, commit));
    if (on_branch && strncmp(name, heads, strlen(heads)) == 0)
        name += strlen(heads);
    char detached[] = "(detached)";
    emit_text(emit, context, "commit", commit, has_commit);
    emit_text(emit, context, "branch", on_branch ? name : detached, on_branch || has_commit);
    emit(context, "dirty", NULL, inside ? ASSAY_NOT_MEASURED : ASSAY_NOT_ENOUGH_DATA);
    if (!inside)
        emit(context, "repository", "none", ASSAY_VALID);
}
