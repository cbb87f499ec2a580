/* A study leaves record.json in its folder, or in the folder of an experiment below it. */
#include "cli/study_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool has_record(const char *folder, const char *experiment, char record[STUDY_PATH_SIZE])
{
    struct stat info;
    int length = snprintf(record, STUDY_PATH_SIZE, "%s/%s/record.json", folder, experiment);
    return length < STUDY_PATH_SIZE && stat(record, &info) == 0;
}

static bool find_experiment(const char *folder, char record[STUDY_PATH_SIZE])
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort), found = 0;
    for (int i = 0; i < count; i++) {
        char candidate[STUDY_PATH_SIZE];
        if (entries[i]->d_name[0] != '.' && has_record(folder, entries[i]->d_name, candidate)) {
            memcpy(record, candidate, STUDY_PATH_SIZE);
            found++;
        }
        free(entries[i]);
    }
    free(entries);
    return found == 1;
}

bool study_folder_is(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool study_folder_find(const char *folder, char record[STUDY_PATH_SIZE])
{
    return has_record(folder, ".", record) || find_experiment(folder, record);
}
