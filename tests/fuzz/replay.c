/* Feeds saved inputs to a fuzz target, so that every test run checks again the errors that fuzzing
 * once found, with any compiler. Arguments are files or folders of files. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    struct stat status;
    if (stream == NULL || fstat(fileno(stream), &status) != 0) {
        perror(path);
        exit(1);
    }
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size == 0 ? 1 : size); /* exact: the sanitizer sees every overrun */
    if (data == NULL || fread(data, 1, size, stream) != size) {
        perror(path);
        exit(1);
    }
    fclose(stream);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int replay(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return replay_file(path);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        count += replay_file(name);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    printf("%d inputs replayed\n", count);
    return count == 0; /* a target without a corpus is a mistake */
}
