/* Stores all trajectories in two flat arrays, with an index of their starts, and reads and writes
 * their files. Dates are converted by the usual count of days in the proleptic Gregorian calendar,
 * in which a year begins in March so that the leap day is its last. */
#include "models/road/trajectory.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/grow.h"
#include "models/road/table.h"

enum { SECONDS_A_DAY = 86400, DAYS_TO_1970 = 719468, DAYS_IN_400_YEARS = 146097 };

void assay__trajectories_init(assay__trajectories *trajectories)
{
    *trajectories = (assay__trajectories){0};
}

void assay__trajectories_release(assay__trajectories *trajectories)
{
    free(trajectories->first);
    free(trajectories->roads);
    free(trajectories->seconds);
    assay__trajectories_init(trajectories);
}

static assay_status grow_starts(assay__trajectories *self)
{
    bool fresh = self->capacity == 0;
    if (!assay__grow(&self->first, &self->capacity, (size_t)self->count + 2, sizeof *self->first))
        return ASSAY_E_MEMORY;
    if (fresh)
        self->first[0] = self->first[1] = 0;
    return ASSAY_OK;
}

/* While a trajectory is being built, first[count + 1] is its present end. */
assay_status assay__trajectories_drive(assay__trajectories *self, int64_t road, int64_t seconds)
{
    assay_status status = grow_starts(self);
    if (status != ASSAY_OK)
        return status;
    int64_t at = self->first[self->count + 1];
    if (at == ASSAY__TRAJECTORY_POINTS_MAX)
        return ASSAY_E_LIMIT;
    size_t needed = (size_t)at + 1, capacity = self->point_capacity;
    if (!assay__grow(&self->roads, &capacity, needed, sizeof *self->roads) ||
        !assay__grow(&self->seconds, &self->point_capacity, needed, sizeof *self->seconds))
        return ASSAY_E_MEMORY;
    self->roads[at] = (int32_t)road;
    self->seconds[at] = seconds;
    self->first[self->count + 1] = at + 1;
    return ASSAY_OK;
}

assay_status assay__trajectories_end(assay__trajectories *self)
{
    if (self->first == NULL || self->first[self->count + 1] == self->first[self->count])
        return ASSAY_OK;
    self->count++;
    assay_status status = grow_starts(self);
    if (status != ASSAY_OK) {
        self->count--;
        return status;
    }
    self->first[self->count + 1] = self->first[self->count];
    return ASSAY_OK;
}

assay_status assay__trajectories_travel_times(const assay__trajectories *trajectories,
                                              const assay__road_network *network, double *seconds)
{
    int64_t *seen = calloc((size_t)network->roads, sizeof *seen);
    if (seen == NULL)
        return ASSAY_E_MEMORY;
    memset(seconds, 0, (size_t)network->roads * sizeof *seconds);
    for (int64_t i = 0; i < trajectories->count; i++) {
        for (int64_t at = trajectories->first[i]; at + 1 < trajectories->first[i + 1]; at++) {
            int32_t road = trajectories->roads[at];
            seconds[road] += (double)(trajectories->seconds[at + 1] - trajectories->seconds[at]);
            seen[road]++;
        }
    }
    for (int64_t road = 0; road < network->roads; road++) {
        seconds[road] = seen[road] > 0 ? seconds[road] / (double)seen[road]
                                       : network->length_m[road] / network->speed_mps[road];
    }
    free(seen);
    return ASSAY_OK;
}

/* ---- Times ---- */

static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400, of_era = year % 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * DAYS_IN_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           DAYS_TO_1970;
}

/* Read `digits` digits, and then the character `after` unless that is 0. A blank may stand for 'T'.
 * Returns where they end, or NULL if they are not there. */
static const char *take_digits(const char *at, int digits, char after, int64_t *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)at[i]))
            return NULL;
        *value = 10 * *value + (at[i] - '0');
    }
    at += digits;
    if (after == 0)
        return at;
    return *at == after || (after == 'T' && *at == ' ') ? at + 1 : NULL;
}

const char *assay__time_parse(const char *text, int64_t *seconds)
{
    static const struct {
        int digits;
        char after;
        int64_t low, high;
    } parts[] = {{4, '-', 1970, 9999}, {2, '-', 1, 12}, {2, 'T', 1, 31},
                 {2, ':', 0, 23},      {2, ':', 0, 59}, {2, 0, 0, 60}};
    int64_t value[6];
    for (size_t i = 0; i < 6; i++) {
        text = take_digits(text, parts[i].digits, parts[i].after, &value[i]);
        if (text == NULL || value[i] < parts[i].low || value[i] > parts[i].high)
            return NULL;
    }
    if (*text == '.')
        text += 1 + strspn(text + 1, "0123456789");
    *seconds = days_since_1970(value[0], value[1], value[2]) * SECONDS_A_DAY + value[3] * 3600 +
               value[4] * 60 + value[5];
    return *text == 'Z' ? text + 1 : text;
}

void assay__time_format(int64_t seconds, char text[ASSAY__TIME_BYTES])
{
    int64_t days = seconds / SECONDS_A_DAY + DAYS_TO_1970, of_day = seconds % SECONDS_A_DAY;
    int64_t era = days / DAYS_IN_400_YEARS, day_of_era = days % DAYS_IN_400_YEARS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
    month += month < 10 ? 3 : -9;
    int64_t year = year_of_era + 400 * era + (month <= 2);
    snprintf(text, ASSAY__TIME_BYTES, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)(year % 10000),
             (int)month, (int)day, (int)(of_day / 3600), (int)(of_day / 60 % 60),
             (int)(of_day % 60));
}

/* ---- Reading ---- */

typedef struct reader {
    assay__table table;
    const assay__road_network *network;
    assay__trajectories *target;
    assay_error *error;
    int roads, times;             /* columns */
    int entity, trajectory;       /* columns of a .dyna file; -1 if absent */
    int64_t last_entity, last_id; /* of the row before */
    bool started;
} reader;

static assay_status bad(const reader *self, const char *what)
{
    return assay__fail(self->error, ASSAY_E_FORMAT, "%s:%zu: %s", self->table.name,
                       self->table.line, what);
}

/* Append the road with this id to the present trajectory, after checking it. */
static assay_status drive(reader *self, int64_t id, int64_t seconds)
{
    assay__trajectories *target = self->target;
    int64_t road = assay__road_network_find(self->network, id);
    if (road < 0) {
        return assay__fail(self->error, ASSAY_E_FORMAT, "%s:%zu: the network has no road %lld",
                           self->table.name, self->table.line, (long long)id);
    }
    if (target->first != NULL) {
        int64_t at = target->first[target->count + 1];
        if (at > target->first[target->count] && target->seconds[at - 1] > seconds)
            return bad(self, "time goes backwards");
    }
    assay_status status = assay__trajectories_drive(target, road, seconds);
    return status == ASSAY_OK ? status
                              : assay__fail(self->error, status, "%s: too many points or no memory",
                                            self->table.name);
}

/* Skip the blanks, brackets and quotes between the items of a list: "12, 15", "[12,15]",
 * "['a', \"b\"]". */
static const char *skip_list(const char *at)
{
    return at + strspn(at, " \t[]'\"");
}

/* Read a row with a list of roads and a list of times, which must have the same length. */
static assay_status take_lists(reader *self)
{
    const char *road = skip_list(self->table.field[self->roads]);
    const char *time = skip_list(self->table.field[self->times]);
    while (*road != '\0' || *time != '\0') {
        char *end;
        int64_t seconds;
        errno = 0;
        long long id = strtoll(road, &end, 10);
        if (end == road || errno != 0)
            return bad(self, *road == '\0' ? "fewer roads than times" : "roads are not numbers");
        road = skip_list(end);
        const char *after = assay__time_parse(time, &seconds);
        if (after == NULL) {
            return bad(self, *time == '\0' ? "fewer times than roads"
                                           : "times are not like 2019-11-25T00:00:52Z");
        }
        time = skip_list(after);
        if ((*road != '\0' && *road != ',') || (*time != '\0' && *time != ','))
            return bad(self, "items of a list are separated by commas");
        bool more = *road == ',';
        if (more != (*time == ','))
            return bad(self, more ? "fewer times than roads" : "fewer roads than times");
        road += more;
        time += more;
        assay_status status = drive(self, id, seconds);
        if (status != ASSAY_OK)
            return status;
        road = skip_list(road);
        time = skip_list(time);
        if (more && (*road == '\0' || *time == '\0'))
            return bad(self, "a list ends in a comma");
    }
    return assay__trajectories_end(self->target);
}

/* Read a row of a .dyna file. */
static assay_status take_point(reader *self)
{
    int64_t id, seconds, entity = 0, trajectory = 0;
    assay_status status = assay__table_integer(&self->table, self->roads, self->error, &id);
    if (status == ASSAY_OK && self->entity >= 0)
        status = assay__table_integer(&self->table, self->entity, self->error, &entity);
    if (status == ASSAY_OK && self->trajectory >= 0)
        status = assay__table_integer(&self->table, self->trajectory, self->error, &trajectory);
    if (status != ASSAY_OK)
        return status;
    const char *end = assay__time_parse(self->table.field[self->times], &seconds);
    if (end == NULL || *end != '\0')
        return bad(self, "time is not like 2019-11-25T00:00:52Z");
    if (self->started && (entity != self->last_entity || trajectory != self->last_id)) {
        status = assay__trajectories_end(self->target);
        if (status != ASSAY_OK)
            return status;
    }
    self->started = true;
    self->last_entity = entity;
    self->last_id = trajectory;
    return drive(self, id, seconds);
}

static assay_status find_columns(reader *self, bool *lists)
{
    static const char *const forms[][2] = {{"rid_list", "time_list"},
                                           {"gene_trace_road_id", "gene_trace_datetime"},
                                           {"location", "time"}};
    for (size_t i = 0; i < 3; i++) {
        self->roads = assay__table_find(&self->table, forms[i][0]);
        self->times = assay__table_find(&self->table, forms[i][1]);
        if (self->roads >= 0 && self->times >= 0) {
            *lists = i < 2;
            self->entity = assay__table_find(&self->table, "entity_id");
            self->trajectory = assay__table_find(&self->table, "traj_id");
            return ASSAY_OK;
        }
    }
    return assay__fail(self->error, ASSAY_E_FORMAT,
                       "%s: no columns rid_list and time_list, nor location and time",
                       self->table.name);
}

assay_status assay__trajectories_parse(const assay__road_network *network, char *text,
                                       size_t length, const char *name, assay_error *error,
                                       assay__trajectories *trajectories)
{
    reader self = {.network = network, .target = trajectories, .error = error};
    bool lists = false;
    assay__trajectories_init(trajectories);
    assay_status status = assay__table_open(&self.table, text, length, name, error);
    if (status == ASSAY_OK)
        status = find_columns(&self, &lists);
    for (bool more = true; status == ASSAY_OK && more;) {
        status = assay__table_next(&self.table, error, &more);
        if (status == ASSAY_OK && more)
            status = lists ? take_lists(&self) : take_point(&self);
    }
    if (status == ASSAY_OK)
        status = assay__trajectories_end(trajectories);
    if (status == ASSAY_E_MEMORY)
        status = assay__fail(error, status, "%s: no memory", name);
    if (status != ASSAY_OK)
        assay__trajectories_release(trajectories);
    return status;
}

assay_status assay__trajectories_load(const assay__road_network *network, const char *path,
                                      assay_error *error, assay__trajectories *trajectories)
{
    assay__buffer text;
    char nothing[1] = "";
    assay__trajectories_init(trajectories);
    assay__buffer_init(&text, ASSAY__ROAD_FILE_MAX_BYTES);
    assay_status status = assay__file_read(path, &text, error);
    if (status == ASSAY_OK) {
        status = assay__trajectories_parse(network, text.data == NULL ? nothing : text.data,
                                           text.length, path, error, trajectories);
    }
    assay__buffer_release(&text);
    return status;
}

/* ---- Writing ---- */

assay_status assay__trajectories_save(const assay__trajectories *trajectories,
                                      const assay__road_network *network, const char *path,
                                      assay_error *error)
{
    assay__output output;
    assay_status status = assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    fputs("mm_id,entity_id,traj_id,rid_list,time_list\n", output.stream);
    for (int64_t i = 0; i < trajectories->count; i++) {
        int64_t start = trajectories->first[i], end = trajectories->first[i + 1];
        fprintf(output.stream, "%lld,%lld,%lld,\"", (long long)i, (long long)i, (long long)i);
        for (int64_t at = start; at < end; at++) {
            fprintf(output.stream, "%s%lld", at == start ? "" : ",",
                    (long long)network->ids[trajectories->roads[at]]);
        }
        fputs("\",\"", output.stream);
        for (int64_t at = start; at < end; at++) {
            char time[ASSAY__TIME_BYTES];
            assay__time_format(trajectories->seconds[at], time);
            fprintf(output.stream, "%s%s", at == start ? "" : ",", time);
        }
        fputs("\"\n", output.stream);
    }
    return assay__output_commit(&output, error);
}
