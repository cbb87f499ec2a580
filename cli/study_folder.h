/* Finds the record of a study in the folder that --out named. */
#ifndef ASSAY_CLI_STUDY_FOLDER_H
#define ASSAY_CLI_STUDY_FOLDER_H

#include <stdbool.h>

enum { STUDY_PATH_SIZE = 4096 };

/* Whether the path is a folder. */
bool study_folder_is(const char *path);

/* Find record.json in the folder, or in the folder of its only experiment. Returns false if there
 * is none. */
bool study_folder_find(const char *folder, char record[STUDY_PATH_SIZE]);

#endif
