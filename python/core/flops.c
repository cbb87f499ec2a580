/* Estimates FLOPs and memory from sizes alone, and reads the memory of this process. */
#include "assay/flops.h"
#include "assay/memory.h"
#include "python/core/seeds.h"
#include "python/core/watch.h"

#include <math.h>
#include <string.h>

/* A number of FLOPs as a Python integer. libassay returns UINT64_MAX for sizes that are negative or
 * whose FLOPs do not fit 64 bits; these raise an exception. */
static PyObject *flops_of(uint64_t flops)
{
    if (flops != UINT64_MAX)
        return PyLong_FromUnsignedLongLong(flops);
    PyErr_SetString(PyExc_ValueError,
                    "sizes must not be negative, and their FLOPs must fit 64 bits");
    return NULL;
}

PyObject *core_linear_flops(PyObject *module, PyObject *args)
{
    (void)module;
    long long in, out, batch, length;
    if (!PyArg_ParseTuple(args, "LLLL:linear_flops", &in, &out, &batch, &length))
        return NULL;
    return flops_of(assay_estimate_linear_flops(in, out, batch, length));
}

PyObject *core_attention_flops(PyObject *module, PyObject *args)
{
    (void)module;
    long long nodes, hidden, heads;
    double ratio;
    if (!PyArg_ParseTuple(args, "LLLd:attention_flops", &nodes, &hidden, &heads, &ratio))
        return NULL;
    return flops_of(assay_estimate_attention_flops(nodes, hidden, heads, ratio));
}

static bool mpnn_type_of(const char *name, assay_mpnn_type *type)
{
    static const char *const names[] = {
        [ASSAY_MPNN_GIN] = "gin", [ASSAY_MPNN_GCN] = "gcn", [ASSAY_MPNN_GATED_GCN] = "gatedgcn"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *type = (assay_mpnn_type)i;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "mpnn_type must be 'gin', 'gcn' or 'gatedgcn', not '%s'", name);
    return false;
}

PyObject *core_mpnn_flops(PyObject *module, PyObject *args)
{
    (void)module;
    long long nodes, edges, in, out;
    const char *name;
    assay_mpnn_type type;
    if (!PyArg_ParseTuple(args, "LLLLs:mpnn_flops", &nodes, &edges, &in, &out, &name) ||
        !mpnn_type_of(name, &type))
        return NULL;
    return flops_of(assay_estimate_mpnn_flops(nodes, edges, in, out, type));
}

PyObject *core_ffn_flops(PyObject *module, PyObject *args)
{
    (void)module;
    long long hidden, ffn, nodes;
    if (!PyArg_ParseTuple(args, "LLL:ffn_flops", &hidden, &ffn, &nodes))
        return NULL;
    return flops_of(assay_estimate_ffn_flops(hidden, ffn, nodes));
}

PyObject *core_pe_flops(PyObject *module, PyObject *args)
{
    (void)module;
    long long nodes, dim;
    const char *name;
    if (!PyArg_ParseTuple(args, "LLs:pe_flops", &nodes, &dim, &name))
        return NULL;
    assay_pe_type type = ASSAY_PE_NONE;
    if (strcmp(name, "lap") == 0) {
        type = ASSAY_PE_LAPLACIAN;
    } else if (strcmp(name, "rwse") == 0) {
        type = ASSAY_PE_RANDOM_WALK;
    } else if (strcmp(name, "none") != 0) {
        PyErr_Format(PyExc_ValueError, "pe_type must be 'lap', 'rwse' or 'none', not '%s'", name);
        return NULL;
    }
    return flops_of(assay_estimate_pe_flops(nodes, dim, type));
}

static PyObject *components_of(const assay_flop_account *account)
{
    size_t count = 0;
    const assay_flop_component *components = assay_flop_account_components(account, &count);
    PyObject *breakdown = PyDict_New();
    for (size_t i = 0; breakdown != NULL && i < count; i++)
        if (!core_put_count(breakdown, components[i].name,
                            components[i].flops[ASSAY_FLOPS_ASSAY].forward))
            Py_CLEAR(breakdown);
    return breakdown;
}

/* model_flops(nodes, edges, hidden, layers, heads, ffn, sparse_ratio, mpnn_type): (total,
 * breakdown) */
PyObject *core_model_flops(PyObject *module, PyObject *args)
{
    (void)module;
    long long nodes, edges, hidden, layers, heads, ffn;
    const char *name;
    assay_graph_transformer_shape shape = ASSAY_GRAPH_TRANSFORMER_SHAPE_INIT;
    assay_flop_account *account = NULL, *grouped = NULL;
    assay_flops total;
    if (!PyArg_ParseTuple(args, "LLLLLLds:model_flops", &nodes, &edges, &hidden, &layers, &heads,
                          &ffn, &shape.sparse_ratio, &name) ||
        !mpnn_type_of(name, &shape.mpnn_type))
        return NULL;
    shape.num_nodes = nodes;
    shape.num_edges = edges;
    shape.hidden_dim = hidden;
    shape.num_layers = layers;
    shape.num_heads = heads;
    shape.ffn_dim = ffn;
    assay_status status = assay_estimate_model_flops(&shape, &account);
    if (status == ASSAY_OK)
        status = assay_flop_account_group(account, &grouped);
    if (status == ASSAY_OK)
        status = assay_flop_account_total(account, ASSAY_FLOPS_ASSAY, &total);
    PyObject *result = status == ASSAY_OK ? Py_BuildValue("KN", (unsigned long long)total.forward,
                                                          components_of(grouped))
                                          : core_raise(status, NULL);
    assay_flop_account_free(grouped);
    assay_flop_account_free(account);
    return result;
}

static bool term_kind_of(const char *name, assay_term_kind *kind)
{
    for (int i = 0; i < ASSAY_TERM_KINDS; i++)
        if (strcmp(assay_term_kind_name((assay_term_kind)i), name) == 0) {
            *kind = (assay_term_kind)i;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "there is no operation of the kind '%s'", name);
    return false;
}

/* term_flops(kind, count, m, k, n, operand_gradients): {convention: (forward, backward)} */
PyObject *core_term_flops(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    long long count, m, k, n;
    assay_term term = {.component = ""};
    if (!PyArg_ParseTuple(args, "sLLLLi:term_flops", &name, &count, &m, &k, &n,
                          &term.operand_gradients) ||
        !term_kind_of(name, &term.kind))
        return NULL;
    term.count = count, term.m = m, term.k = k, term.n = n;
    PyObject *prices = PyDict_New();
    for (int i = 0; prices != NULL && i < ASSAY_FLOP_CONVENTIONS; i++) {
        assay_flops flops;
        assay_status status = assay_term_flops(&term, (assay_flop_convention)i, &flops);
        PyObject *pair = status == ASSAY_OK ? Py_BuildValue("KK", (unsigned long long)flops.forward,
                                                            (unsigned long long)flops.backward)
                                            : core_raise(status, NULL);
        const char *convention = assay_flop_convention_name((assay_flop_convention)i);
        if (pair == NULL || PyDict_SetItemString(prices, convention, pair) != 0)
            Py_CLEAR(prices);
        Py_XDECREF(pair);
    }
    return prices;
}

PyObject *core_attention_memory(PyObject *module, PyObject *args)
{
    (void)module;
    long long nodes, heads, hidden, batch;
    if (!PyArg_ParseTuple(args, "LLLL:attention_memory", &nodes, &heads, &hidden, &batch))
        return NULL;
    return PyFloat_FromDouble(assay_estimate_attention_memory(nodes, heads, hidden, batch));
}

PyObject *core_pe_storage(PyObject *module, PyObject *args)
{
    (void)module;
    long long nodes, dim, buckets;
    double ratio;
    if (!PyArg_ParseTuple(args, "LLLd:pe_storage", &nodes, &dim, &buckets, &ratio))
        return NULL;
    assay_pe_storage storage = assay_estimate_pe_storage(nodes, dim, buckets, ratio);
    return Py_BuildValue("ddd", storage.node_pe_bytes, storage.relative_pe_dense_bytes,
                         storage.relative_pe_sparse_bytes);
}

/* ---- the memory of this process ---- */

/* Returns {"rss_bytes", "peak_rss_bytes", "heap_bytes"}. The heap is there only if assay counts it.
 */
PyObject *core_memory(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    assay_memory memory = ASSAY_INIT(assay_memory);
    assay_heap_figures heap = ASSAY_INIT(assay_heap_figures);
    assay_status status = assay_memory_read(&memory);
    if (status != ASSAY_OK)
        return core_raise(status, NULL);
    PyObject *figures = PyDict_New();
    if (figures == NULL || !core_put_reading(figures, "rss_bytes", memory.rss_bytes) ||
        !core_put_reading(figures, "peak_rss_bytes", memory.peak_rss_bytes) ||
        (assay_heap_available() && assay_heap_read(&heap) == ASSAY_OK &&
         !core_put_double(figures, "heap_bytes", (double)heap.live_bytes)))
        Py_CLEAR(figures);
    return figures;
}

/* Reset the kernel's peak of resident memory. Returns True, or False if the kernel refuses. */
PyObject *core_reset_peak(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(assay_memory_reset_peak() == ASSAY_OK);
}
