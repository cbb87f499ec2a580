/* Finds the history of runs, by ASSAY_HISTORY or in the XDG data folder, opens it and saves records
 * into it. Passwords in the address of a server are removed before a message shows the address. */
#include "cli/common/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "cli/common/message.h"

enum { LOCATION_BYTES = 4096 };

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcasecmp(word, *words) == 0)
            return true;
    return false;
}

/* The file or address that ASSAY_HISTORY names. NULL if the variable is unset or only says yes or
 * no. `*on` tells whether it asks for saving. */
static const char *named_place(bool *on)
{
    static const char *const off[] = {"", "0", "off", "no", "false", NULL};
    static const char *const yes[] = {"1", "on", "yes", "true", NULL};
    const char *said = getenv("ASSAY_HISTORY");
    *on = said != NULL && !is_one_of(said, off);
    return *on && !is_one_of(said, yes) ? said : NULL;
}

/* Write the path or address of the history into `location`. Returns false after a message. */
static bool find_location(const char *command, char location[LOCATION_BYTES])
{
    bool on;
    const char *named = named_place(&on), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length;
    if (named != NULL)
        length = snprintf(location, LOCATION_BYTES, "%s", named);
    else if (data != NULL && data[0] == '/') /* the XDG specification ignores relative paths */
        length = snprintf(location, LOCATION_BYTES, "%s/assay/history.sqlite", data);
    else if (home != NULL && home[0] == '/')
        length = snprintf(location, LOCATION_BYTES, "%s/.local/share/assay/history.sqlite", home);
    else {
        message_error("assay %s: there is no place for the history: neither XDG_DATA_HOME nor HOME "
                      "is set; name a file with ASSAY_HISTORY",
                      command);
        return false;
    }
    if (length < LOCATION_BYTES)
        return true;
    message_error("assay %s: the place of the history is longer than %d bytes", command,
                  LOCATION_BYTES - 1);
    return false;
}

/* The location as a message may show it: without the password and the query of a server's address.
 */
static const char *shown(const char *location, char text[LOCATION_BYTES])
{
    snprintf(text, LOCATION_BYTES, "%s", location);
    if (!assay__store_is_server(location))
        return text;
    char *authority = strstr(text, "://") + 3, *end = authority + strcspn(authority, "/?");
    char *at = memchr(authority, '@', (size_t)(end - authority));
    char *colon = at != NULL ? memchr(authority, ':', (size_t)(at - authority)) : NULL;
    if (colon != NULL)
        memmove(colon, at, strlen(at) + 1);
    char *query = strchr(text, '?');
    if (query != NULL)
        *query = '\0';
    return text;
}

/* Make the folders above a path. Only the user may enter them (mode 0700), as the XDG specification
 * asks. */
static bool make_folders(const char *path)
{
    char folder[LOCATION_BYTES];
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

const char *history_machine(void)
{
    const char *machine = getenv("ASSAY_MACHINE");
    return machine != NULL && *machine != '\0' ? machine : NULL;
}

int history_exit(assay_status status)
{
    switch (status) {
    case ASSAY_E_FULL:
        return EX_IOERR;
    case ASSAY_E_PERMISSION:
        return EX_NOPERM;
    default:
        return message_input_exit(status);
    }
}

int history_open(const char *command, bool create, assay__store **store)
{
    char location[LOCATION_BYTES], text[LOCATION_BYTES];
    struct stat file;
    assay_error error = {0};
    *store = NULL;
    if (!find_location(command, location))
        return EX_CONFIG;
    bool server = assay__store_is_server(location);
    bool missing = !server && stat(location, &file) != 0;
    if (missing && !create) {
        message_error("assay %s: there is no history yet: '%s': %s; save a run with --save",
                      command, location, strerror(errno));
        return EX_NOINPUT;
    }
    if (missing && !make_folders(location)) {
        message_error("assay %s: cannot make the folder of '%s': %s", command, location,
                      strerror(errno));
        return EX_CANTCREAT;
    }
    assay_status status = assay__store_open(location, create, &error, store);
    if (status == ASSAY_OK)
        return EX_OK;
    message_error("assay %s: %.300s: %s", command, shown(location, text), error.message);
    return history_exit(status);
}

bool history_wanted(bool asked)
{
    bool on;
    (void)named_place(&on);
    return asked || on;
}

int history_refuse(const char *command, bool asked)
{
    char location[LOCATION_BYTES];
    return history_wanted(asked) && !find_location(command, location) ? EX_CONFIG : EX_OK;
}

int history_save(const char *command, bool asked, const assay_record *record)
{
    assay__store *store;
    assay__store_saved saved;
    assay_error error = {0};
    if (!history_wanted(asked))
        return EX_OK;
    fflush(stdout); /* the result comes first, whatever happens to the history */
    int code = history_open(command, true, &store);
    if (code != EX_OK) {
        message_error("assay %s: the record was not saved in the history", command);
        return code;
    }
    assay_status status = assay__store_save(store, record, history_machine(), &error, &saved);
    assay__store_close(store);
    if (status != ASSAY_OK) {
        message_error("assay %s: the record was not saved in the history: %s", command,
                      error.message);
        return history_exit(status);
    }
    message_note("saved as run %lld of the history", (long long)saved.run);
    return EX_OK;
}
