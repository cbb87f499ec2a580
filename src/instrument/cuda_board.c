/* Matches the devices of CUDA with the boards of the management library (NVML), by UUID or, where
 * that fails, by PCI bus id. */
#include "instrument/cuda_board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/cuda.h"
#include "instrument/nvml.h"

enum { MOST_DEVICES = 64, UUID_BYTES = 16, TEXT_BYTES = 96 };

/* The board of each of CUDA's devices, plus 1; 0 if it was not found yet. */
static _Atomic int known[MOST_DEVICES];

static void write_uuid(const unsigned char bytes[UUID_BYTES], const char *kind, char *text)
{
    int used = snprintf(text, TEXT_BYTES, "%s", kind);
    for (int i = 0; i < UUID_BYTES; i++)
        used += snprintf(text + used, (size_t)(TEXT_BYTES - used), "%s%02x",
                         i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

/* The number of the board with this UUID; -1 if there is none. */
static int board_named(const assay__nvml *nvml, const char *uuid)
{
    unsigned count = 0;
    if (nvml->count(&count) != ASSAY__NVML_OK)
        return -1;
    for (unsigned i = 0; i < count; i++) {
        assay__nvml_device device;
        char text[TEXT_BYTES] = "";
        if (nvml->device_at(i, &device) == ASSAY__NVML_OK &&
            ASSAY__NVML_CALL(nvml, uuid, device, text, sizeof text) == ASSAY__NVML_OK &&
            strcmp(text, uuid) == 0)
            return (int)i;
    }
    return -1;
}

static int board_of_handle(const assay__nvml *nvml, assay__nvml_device device)
{
    char text[TEXT_BYTES] = "";
    if (ASSAY__NVML_CALL(nvml, uuid, device, text, sizeof text) != ASSAY__NVML_OK)
        return -1;
    return board_named(nvml, text);
}

/* The number of the board that an instance (MIG) is a part of; -1 if it is not known. */
static int board_of_instance(const assay__nvml *nvml, const char *uuid)
{
    assay__nvml_device instance, device;
    if (ASSAY__NVML_CALL(nvml, by_uuid, uuid, &instance) != ASSAY__NVML_OK ||
        ASSAY__NVML_CALL(nvml, parent, instance, &device) != ASSAY__NVML_OK)
        return -1;
    return board_of_handle(nvml, device);
}

static int board_by_uuid(const assay__cuda *cuda, const assay__nvml *nvml, int number)
{
    unsigned char bytes[UUID_BYTES];
    char text[TEXT_BYTES];
    if ((cuda->device_uuid == NULL || cuda->device_uuid(bytes, number) != ASSAY__CUDA_OK) &&
        (cuda->board_uuid == NULL || cuda->board_uuid(bytes, number) != ASSAY__CUDA_OK))
        return -1;
    write_uuid(bytes, "GPU-", text);
    int board = board_named(nvml, text);
    if (board >= 0)
        return board;
    write_uuid(bytes, "MIG-", text);
    return board_of_instance(nvml, text);
}

static int board_by_bus(const assay__cuda *cuda, const assay__nvml *nvml, int number)
{
    char text[TEXT_BYTES];
    assay__nvml_device device;
    if (cuda->device_bus == NULL || cuda->device_bus(text, sizeof text, number) != ASSAY__CUDA_OK ||
        ASSAY__NVML_CALL(nvml, by_bus, text, &device) != ASSAY__NVML_OK)
        return -1;
    return board_of_handle(nvml, device);
}

bool assay__cuda_board(int number, size_t *board)
{
    const assay__cuda *cuda = assay__cuda_known();
    const assay__nvml *nvml;
    if (cuda == NULL || number < 0 || number >= MOST_DEVICES)
        return false;
    if (known[number] == 0) {
        if (assay__nvml_open(NULL, &nvml) != ASSAY_OK)
            return false;
        int found = board_by_uuid(cuda, nvml, number);
        known[number] = (found >= 0 ? found : board_by_bus(cuda, nvml, number)) + 1;
    }
    *board = (size_t)(known[number] - 1);
    return known[number] > 0;
}

bool assay__boards_in_order(void)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    for (long next = 0; visible != NULL && *visible != '\0'; next++) {
        char *end;
        if (strtol(visible, &end, 10) != next || end == visible || (*end != ',' && *end != '\0'))
            return false;
        visible = *end == ',' ? end + 1 : end;
    }
    return true;
}

const char *assay__board_label(size_t board, bool in_order, char label[ASSAY__BOARD_LABEL])
{
    size_t found;
    bool any = false;
    for (int number = 0; number < MOST_DEVICES && assay__cuda_board(number, &found); number++) {
        any = true;
        if (found == board) {
            snprintf(label, ASSAY__BOARD_LABEL, "cuda:%d", number);
            return label;
        }
    }
    snprintf(label, ASSAY__BOARD_LABEL, "%s:%zu", !any && in_order ? "cuda" : "board", board);
    return label;
}
