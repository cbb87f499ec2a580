/* CUDA's devices as the management library counts them.
 *
 * The two count differently: CUDA_VISIBLE_DEVICES hides and reorders what CUDA shows, by default
 * CUDA puts the fastest device first, and a device of CUDA may be an instance of a divided board
 * (MIG). So figures of a board belong to a device of CUDA only if both say the same UUID or bus. */
#ifndef ASSAY_INSTRUMENT_CUDA_BOARD_H
#define ASSAY_INSTRUMENT_CUDA_BOARD_H

#include <stdbool.h>
#include <stddef.h>

/* The number of the board (assay_device_read()) that CUDA's device `number` is, or is a part of.
 * False if it is not known: no driver was found in this process yet (assay__cuda_driver()), the
 * program has not initialised it, or one of the libraries is too old to tell. Asked for the first
 * time, it may open the management library, which takes milliseconds; an answer is remembered. */
bool assay__cuda_board(int number, size_t *board);

/* Does the environment leave the boards in their order? To be asked on a thread of the caller,
 * since it may change its environment. */
bool assay__boards_in_order(void);

/* "cuda:1", by the number that a board has in this process, if CUDA is used here; "board:1" if CUDA
 * does not show it, or if CUDA is not used yet and the boards may not be `in_order`. */
enum { ASSAY__BOARD_LABEL = 32 };
const char *assay__board_label(size_t board, bool in_order, char label[ASSAY__BOARD_LABEL]);

#endif
