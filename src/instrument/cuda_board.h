/* Which board of the management library (NVML) is which device of CUDA.
 *
 * The two count differently. CUDA_VISIBLE_DEVICES hides and reorders the devices of CUDA. By
 * default CUDA puts the fastest device first. A device of CUDA may be an instance of a divided
 * board (MIG). So the figures of a board belong to a device of CUDA only if both have the same UUID
 * or PCI bus id. */
#ifndef ASSAY_INSTRUMENT_CUDA_BOARD_H
#define ASSAY_INSTRUMENT_CUDA_BOARD_H

#include <stdbool.h>
#include <stddef.h>

/* Find the number of the board (assay_device_read()) that CUDA's device `number` is, or is a part
 * of. False if it is not known: no driver was found in this process yet (assay__cuda_driver()), the
 * program has not initialised the driver, or one of the two libraries is too old. The first call
 * may open the management library, which takes milliseconds. Answers are remembered. */
bool assay__cuda_board(int number, size_t *board);

/* Whether the environment leaves the boards in their order. Call this on a thread of the caller,
 * because the caller may change its environment at other times. */
bool assay__boards_in_order(void);

/* Write the label of a board. If this process uses CUDA, the label is "cuda:1" with CUDA's number
 * of the board, or "board:1" if CUDA does not show the board. If CUDA is not used yet, the label is
 * "cuda:1" if the boards are `in_order`, else "board:1". Returns `label`. */
enum { ASSAY__BOARD_LABEL = 32 };
const char *assay__board_label(size_t board, bool in_order, char label[ASSAY__BOARD_LABEL]);

#endif
