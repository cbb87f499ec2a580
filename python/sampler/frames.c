/* Reads frames, codes and texts of CPython 3.11 to 3.15, without the interpreter lock.
 *
 * The interpreters of these versions store the address of every instruction before they execute it
 * (prev_instr; instr_ptr from 3.13 on), so a sample is exact to the instruction. The compiler
 * that 3.14 and 3.15 have, if it is on (PYTHON_JIT), stores the address of some instructions only.
 * Earlier versions lay out their frames differently. Every pointer that is followed may be stale:
 * objects are recognised by their types, instructions by their range. */
#define Py_BUILD_CORE_MODULE 1
#include <Python.h>

#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interp.h>
#include <internal/pycore_interpframe.h>
#endif

#include "python/sampler/sampler.h"

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x03100000
#error "assay._sampler knows the frames of Python 3.11 to 3.15"
#endif
#ifdef Py_GIL_DISABLED
#error "assay._sampler needs the global interpreter lock"
#endif

enum { PAGE_BYTES = 4096 }; /* the page size of the machine is this or a multiple of it */

const void *frames_first_thread(void *interpreter)
{
    return PyInterpreterState_ThreadHead(interpreter);
}

bool frames_are_compiled(const void *interpreter)
{
#if PY_VERSION_HEX >= 0x030E0000
    return ((const PyInterpreterState *)interpreter)->jit;
#else
    (void)interpreter;
    return false;
#endif
}

bool frames_read_thread(const void *state, frames_thread *thread)
{
    PyThreadState copy;
    if (!memory_copy(&copy, state, sizeof copy))
        return false;
    *thread = (frames_thread){.state = state,
                              .next = copy.next,
                              .id = copy.id,
                              .thread_id = (int64_t)copy.native_thread_id};
    return true;
}

bool frames_read_innermost(const frames_thread *thread, const void **nested, const void **frame)
{
    const char *at = thread->state;
#if PY_VERSION_HEX >= 0x030D0000
    *nested = at + offsetof(PyThreadState, current_frame);
#else
    /* Each call of the interpreter's loop has a _PyCFrame on the C stack. */
    if (!memory_copy(nested, at + offsetof(PyThreadState, cframe), sizeof *nested))
        return false;
    *nested = (const char *)*nested + offsetof(_PyCFrame, current_frame);
#endif
    return memory_copy(frame, *nested, sizeof *frame);
}

static void parse_frame(const void *at, const _PyInterpreterFrame *copy, frames_frame *found)
{
    found->frame = at;
    found->previous = copy->previous;
#if PY_VERSION_HEX >= 0x030E0000
    /* The low bits of a reference say who counts it. */
    found->code = (const void *)(copy->f_executable.bits & ~(uintptr_t)Py_TAG_BITS);
    found->instruction = copy->instr_ptr;
#elif PY_VERSION_HEX >= 0x030D0000
    found->code = copy->f_executable;
    found->instruction = copy->instr_ptr;
#else
    found->code = copy->f_code;
    found->instruction = copy->prev_instr;
#endif
#if PY_VERSION_HEX >= 0x030E0000
    found->is_shim = copy->owner >= FRAME_OWNED_BY_INTERPRETER;
#elif PY_VERSION_HEX >= 0x030C0000
    found->is_shim = copy->owner == FRAME_OWNED_BY_CSTACK;
#else
    found->is_shim = false;
#endif
}

bool frames_read_frame(const void *frame, frames_window *window, frames_frame *found)
{
    const size_t bytes = offsetof(_PyInterpreterFrame, localsplus);
    const char *at = frame;
    if (!memory_within(at, bytes, window->begin, window->bytes)) {
        /* Copy from the beginning of the frame's page: the page below may not be mapped. */
        size_t below = (uintptr_t)at % PAGE_BYTES, room = sizeof window->copy - bytes;
        window->begin = at - (below < room ? below : room);
        window->bytes = (size_t)(at - window->begin) + bytes;
        if (!memory_copy(window->copy, window->begin, window->bytes)) {
            window->bytes = 0;
            return false;
        }
    }
    _PyInterpreterFrame copy;
    memcpy(&copy, window->copy + (at - window->begin), bytes);
    parse_frame(frame, &copy, found);
    return true;
}

bool frames_is_still_at(const frames_thread *thread, const void *nested, const void *frame,
                        const void *instruction)
{
    const void *found_frame, *found_instruction, *found_nested;
    const char *state = thread->state;
#if PY_VERSION_HEX >= 0x030D0000
    const size_t offset = offsetof(_PyInterpreterFrame, instr_ptr);
    found_nested = state + offsetof(PyThreadState, current_frame);
    size_t count = 2;
#else
    const size_t offset = offsetof(_PyInterpreterFrame, prev_instr);
    size_t count = 3;
#endif
    const memory_piece pieces[] = {
        {&found_frame, nested, sizeof found_frame},
        {&found_instruction, (const char *)frame + offset, sizeof found_instruction},
#if PY_VERSION_HEX < 0x030D0000
        {&found_nested, state + offsetof(PyThreadState, cframe), sizeof found_nested},
#endif
    };
    if (!memory_copy_all(pieces, count))
        return false;
#if PY_VERSION_HEX < 0x030D0000
    found_nested = (const char *)found_nested + offsetof(_PyCFrame, current_frame);
#endif
    return found_nested == nested && found_frame == frame && found_instruction == instruction;
}

size_t frames_code_bytes(void)
{
    return offsetof(PyCodeObject, co_code_adaptive);
}

bool frames_parse_code(const void *at, const void *copied, frames_code *code)
{
    const PyCodeObject *copy = copied;
    if (Py_TYPE((PyObject *)(uintptr_t)copied) != &PyCode_Type || copy->ob_base.ob_size <= 0)
        return false;
    *code = (frames_code){
        .file = copy->co_filename,
        .name = copy->co_qualname,
        .line_table = copy->co_linetable,
        .first_instruction = (const char *)at + offsetof(PyCodeObject, co_code_adaptive),
        .instructions = (size_t)copy->ob_base.ob_size,
        .first_line = copy->co_firstlineno > 0 ? (uint32_t)copy->co_firstlineno : 0};
    return true;
}

static size_t put_utf8(char *text, uint32_t point)
{
    if (point < 0x80) {
        text[0] = (char)point;
        return 1;
    }
    size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xC0, 0xE0, 0xF0};
    text[0] = (char)(marks[more] | (point >> (6 * more)));
    for (size_t i = 1; i <= more; i++)
        text[i] = (char)(0x80 | ((point >> (6 * (more - i))) & 0x3F));
    return more + 1;
}

long frames_read_text(const void *object, char *text, size_t room)
{
    PyCompactUnicodeObject copy;
    unsigned char data[ASSAY__SCRIPT_MAX_TEXT];
    if (object == NULL || !memory_copy(&copy, object, sizeof(PyASCIIObject)) ||
        Py_TYPE((PyObject *)&copy) != &PyUnicode_Type || !copy._base.state.compact)
        return -1;
    size_t kind = copy._base.state.kind;
    size_t offset = copy._base.state.ascii ? sizeof(PyASCIIObject) : sizeof(PyCompactUnicodeObject);
    size_t length = copy._base.length > 0 ? (size_t)copy._base.length : 0, used = 0;
    if (kind != 1 && kind != 2 && kind != 4)
        return -1;
    if (length > sizeof data / kind)
        length = sizeof data / kind;
    if (length > 0 && !memory_copy(data, (const char *)object + offset, length * kind))
        return -1;
    for (size_t i = 0; i < length && used + 5 <= room; i++) {
        uint32_t point = kind == 1   ? data[i]
                         : kind == 2 ? ((const uint16_t *)(const void *)data)[i]
                                     : ((const uint32_t *)(const void *)data)[i];
        bool is_text = point >= 0x20 && point != 0x7F && (point < 0xD800 || point > 0xDFFF) &&
                       point < 0x110000;
        used += put_utf8(text + used, is_text ? point : '?');
    }
    text[used] = '\0';
    return (long)used;
}

long frames_read_bytes(const void *object, unsigned char *bytes, size_t room)
{
    PyBytesObject copy;
    if (object == NULL || !memory_copy(&copy, object, offsetof(PyBytesObject, ob_sval)) ||
        Py_TYPE((PyObject *)&copy) != &PyBytes_Type || copy.ob_base.ob_size < 0)
        return -1;
    size_t length = (size_t)copy.ob_base.ob_size;
    if (length > room)
        length = room;
    if (length > 0 &&
        !memory_copy(bytes, (const char *)object + offsetof(PyBytesObject, ob_sval), length))
        return -1;
    return (long)length;
}

bool frames_own(frames_frame *found)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyThreadState *state = PyThreadState_GetUnchecked();
#else
    PyThreadState *state = _PyThreadState_UncheckedGet();
#endif
    if (state == NULL)
        return false;
#if PY_VERSION_HEX >= 0x030D0000
    const _PyInterpreterFrame *frame = state->current_frame;
#else
    const _PyInterpreterFrame *frame = state->cframe->current_frame;
#endif
    for (; frame != NULL; frame = found->previous) {
        parse_frame(frame, frame, found);
        if (!found->is_shim)
            return true;
    }
    return false;
}
