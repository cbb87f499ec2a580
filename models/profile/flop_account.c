/* Sums FLOPs by component. Components arrive layer by layer and mostly repeat the one before, so a
 * component is searched from the last one backwards. A linear search is fast enough, as an account
 * has some hundred components. */
#include <stdlib.h>
#include <string.h>

#include "assay/flops.h"
#include "base/arena.h"
#include "base/grow.h"
#include "models/profile/flop_group.h"

enum { NAMES_MAX_BYTES = 16 << 20 };

struct assay_flop_account {
    assay__arena *names;
    assay_flop_component *components;
    size_t count, capacity;
    uint32_t kinds; /* bit set of the kinds of terms that occurred */
    assay_status status;
};

assay_status assay_flop_account_new(assay_flop_account **account)
{
    *account = NULL;
    assay_flop_account *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return ASSAY_E_MEMORY;
    fresh->names = assay__arena_new(NAMES_MAX_BYTES);
    if (fresh->names == NULL) {
        free(fresh);
        return ASSAY_E_MEMORY;
    }
    *account = fresh;
    return ASSAY_OK;
}

void assay_flop_account_free(assay_flop_account *account)
{
    if (account == NULL)
        return;
    assay__arena_free(account->names);
    free(account->components);
    free(account);
}

/* Find the component with this name (`length` bytes), or add it. */
static assay_status find(assay_flop_account *account, const char *name, size_t length,
                         assay_flop_component **component)
{
    for (size_t i = account->count; i-- > 0;) {
        const char *known = account->components[i].name;
        if (strncmp(known, name, length) == 0 && known[length] == '\0') {
            *component = &account->components[i];
            return ASSAY_OK;
        }
    }
    if (account->count >= ASSAY_FLOP_COMPONENTS_MAX)
        return ASSAY_E_LIMIT;
    if (!assay__grow(&account->components, &account->capacity, account->count + 1,
                     sizeof *account->components))
        return ASSAY_E_MEMORY;
    char *copy = assay__arena_allocate(account->names, length + 1, 1);
    if (copy == NULL)
        return ASSAY_E_MEMORY;
    memcpy(copy, name, length);
    *component = &account->components[account->count++];
    **component = (assay_flop_component){.name = copy};
    return ASSAY_OK;
}

static assay_status add_flops(assay_flops *sum, assay_flops more)
{
    bool over = __builtin_add_overflow(sum->forward, more.forward, &sum->forward);
    over |= __builtin_add_overflow(sum->backward, more.backward, &sum->backward);
    return over ? ASSAY_E_LIMIT : ASSAY_OK;
}

void assay_flop_account_add(void *context, const assay_term *term)
{
    assay_flop_account *account = context;
    if (account->status != ASSAY_OK)
        return;
    const char *name = term->component != NULL ? term->component : "(unnamed)";
    assay_flop_component *component = NULL;
    account->status = find(account, name, strlen(name), &component);
    for (int convention = 0; convention < ASSAY_FLOP_CONVENTIONS && account->status == ASSAY_OK;
         convention++) {
        assay_flops flops;
        account->status = assay_term_flops(term, (assay_flop_convention)convention, &flops);
        if (account->status == ASSAY_OK)
            account->status = add_flops(&component->flops[convention], flops);
    }
    if (account->status == ASSAY_OK)
        account->kinds |= UINT32_C(1) << term->kind;
}

assay_status assay_flop_account_total(const assay_flop_account *account,
                                      assay_flop_convention convention, assay_flops *flops)
{
    *flops = (assay_flops){0};
    if ((unsigned)convention >= ASSAY_FLOP_CONVENTIONS)
        return ASSAY_E_ARGUMENT;
    assay_status status = account->status;
    for (size_t i = 0; i < account->count && status == ASSAY_OK; i++)
        status = add_flops(flops, account->components[i].flops[convention]);
    return status;
}

const assay_flop_component *assay_flop_account_components(const assay_flop_account *account,
                                                          size_t *count)
{
    *count = account->status == ASSAY_OK ? account->count : 0;
    return account->status == ASSAY_OK ? account->components : NULL;
}

const char *assay__flop_group(const char *name, size_t *length)
{
    const char *dot = strchr(name, '.');
    if (dot != NULL && dot[1] >= '0' && dot[1] <= '9') {
        const char *after = dot + 1 + strspn(dot + 1, "0123456789");
        if (*after == '.')
            name = after + 1;
    }
    *length = strcspn(name, ".");
    return name;
}

assay_status assay_flop_account_group(const assay_flop_account *account,
                                      assay_flop_account **grouped)
{
    *grouped = NULL;
    assay_flop_account *fresh = NULL;
    assay_status status = account->status;
    if (status == ASSAY_OK)
        status = assay_flop_account_new(&fresh);
    for (size_t i = 0; i < account->count && status == ASSAY_OK; i++) {
        size_t length;
        const char *name = assay__flop_group(account->components[i].name, &length);
        assay_flop_component *component = NULL;
        status = find(fresh, name, length, &component);
        for (int c = 0; c < ASSAY_FLOP_CONVENTIONS && status == ASSAY_OK; c++)
            status = add_flops(&component->flops[c], account->components[i].flops[c]);
    }
    if (status != ASSAY_OK) {
        assay_flop_account_free(fresh);
        return status;
    }
    fresh->kinds = account->kinds;
    *grouped = fresh;
    return ASSAY_OK;
}

uint32_t assay_flop_account_left_out(const assay_flop_account *account,
                                     assay_flop_convention convention)
{
    uint32_t left_out = 0;
    for (int kind = 0; kind < ASSAY_TERM_KINDS; kind++) {
        assay_term one = {.kind = (assay_term_kind)kind, .count = 1, .m = 1, .k = 1, .n = 1};
        assay_flops flops;
        if ((account->kinds & UINT32_C(1) << kind) != 0 &&
            assay_term_flops(&one, convention, &flops) == ASSAY_OK && flops.forward == 0)
            left_out |= UINT32_C(1) << kind;
    }
    return left_out;
}
