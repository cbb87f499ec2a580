/* Reads and writes LibCity's .geo and .rel files. They are CSV with a header; columns are found by
 * name, and unknown columns are ignored. Coordinates are GeoJSON arrays, longitude first, in one
 * quoted field. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/grow.h"
#include "models/road/network.h"
#include "models/road/table.h"

typedef struct geo_reader {
    assay__table table;
    int id, type, coordinates;
    int length, speed; /* -1: not in this file */
    locale_t c_locale;
    assay__place *points; /* of the current road */
    size_t count, capacity;
} geo_reader;

/* ---- Numbers and coordinates ---- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Read the JSON number at `at`. Returns where it ends, or NULL if there is no number. */
static const char *take_number(const char *at, locale_t c_locale, double *value)
{
    size_t length = strspn(at, "0123456789+-.eE"); /* no "nan", no "0x10" */
    char *end;
    *value = strtod_l(at, &end, c_locale);
    return length > 0 && end == at + length && isfinite(*value) ? end : NULL;
}

/* Read a place such as "[102.5, 0.25]". A third number, the height, is allowed and ignored. Returns
 * where the place ends, or NULL if there is none. */
static const char *take_place(const char *at, locale_t c_locale, assay__place *place)
{
    double value[3];
    int count = 0;
    at = skip_blanks(at);
    if (*at != '[')
        return NULL;
    do {
        at = count < 3 ? take_number(skip_blanks(at + 1), c_locale, &value[count]) : NULL;
        if (at == NULL)
            return NULL;
        count++;
        at = skip_blanks(at);
    } while (*at == ',');
    if (*at != ']' || count < 2)
        return NULL;
    *place = (assay__place){value[0], value[1]};
    return at + 1;
}

/* Read the coordinates of a road, a place or an array of places, which must fill the field. */
static assay_status take_line(geo_reader *self, bool is_point, assay_error *error)
{
    const char *at = skip_blanks(self->table.field[self->coordinates]);
    bool good = is_point || *at == '[';
    self->count = 0;
    do {
        assay__place place;
        at = good ? take_place(is_point ? at : at + 1, self->c_locale, &place) : NULL;
        if (at == NULL) {
            return assay__fail(error, ASSAY_E_FORMAT, "%s:%zu: coordinates are not %s",
                               self->table.name, self->table.line,
                               is_point ? "[longitude, latitude]" : "[[longitude, latitude], ...]");
        }
        if (!assay__grow(&self->points, &self->capacity, self->count + 1, sizeof place))
            return assay__fail(error, ASSAY_E_MEMORY, "%s: no memory", self->table.name);
        self->points[self->count++] = place;
        at = skip_blanks(at);
    } while (!is_point && *at == ',');
    if (!is_point) {
        good = *at == ']';
        at = skip_blanks(at + (good ? 1 : 0));
    }
    if (!good || *at != '\0') {
        return assay__fail(error, ASSAY_E_FORMAT, "%s:%zu: text after the coordinates",
                           self->table.name, self->table.line);
    }
    return ASSAY_OK;
}

/* Read a number. It is 0 if the field is empty or the file has no such column. */
static assay_status take_property(const geo_reader *self, int column, assay_error *error,
                                  double *value)
{
    *value = 0;
    if (column < 0)
        return ASSAY_OK;
    const char *text = skip_blanks(self->table.field[column]);
    const char *end = *text == '\0' ? text : take_number(text, self->c_locale, value);
    if (end == NULL || *skip_blanks(end) != '\0' || *value < 0) {
        return assay__fail(error, ASSAY_E_FORMAT, "%s:%zu: %s is '%.40s', not a number from 0 up",
                           self->table.name, self->table.line, self->table.header[column], text);
    }
    return ASSAY_OK;
}

/* ---- .geo ---- */

static assay_status take_road(geo_reader *self, assay__road_network *network, assay_error *error)
{
    const assay__table *table = &self->table;
    const char *type = table->field[self->type];
    bool is_point = strcmp(type, "Point") == 0;
    assay__road road = {0};
    double speed_kmh;
    if (!is_point && strcmp(type, "LineString") != 0) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "%s:%zu: type is '%.40s'; a road is a LineString or a Point",
                           table->name, table->line, type);
    }
    assay_status status = assay__table_integer(table, self->id, error, &road.id);
    if (status == ASSAY_OK)
        status = take_line(self, is_point, error);
    if (status == ASSAY_OK)
        status = take_property(self, self->length, error, &road.length_m);
    if (status == ASSAY_OK)
        status = take_property(self, self->speed, error, &speed_kmh);
    if (status != ASSAY_OK)
        return status;
    road.points = self->points;
    road.point_count = self->count;
    road.speed_mps = speed_kmh / 3.6;
    assay_error detail = {0};
    status = assay__road_network_add(network, &road, &detail);
    return status == ASSAY_OK
               ? status
               : assay__fail(error, status, "%s:%zu: %s", table->name, table->line, detail.message);
}

static assay_status find_geo_columns(geo_reader *self, assay_error *error)
{
    self->length = assay__table_find(&self->table, "length");
    self->speed = assay__table_find(&self->table, "maxspeed");
    assay_status status = assay__table_need(&self->table, "geo_id", error, &self->id);
    if (status == ASSAY_OK)
        status = assay__table_need(&self->table, "type", error, &self->type);
    if (status == ASSAY_OK)
        status = assay__table_need(&self->table, "coordinates", error, &self->coordinates);
    return status;
}

assay_status assay__road_geo_parse(char *text, size_t length, const char *name,
                                   assay__road_network *network, assay_error *error)
{
    geo_reader self = {.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (self.c_locale == (locale_t)0)
        return assay__fail(error, ASSAY_E_MEMORY, "%s: no memory", name);
    assay_status status = assay__table_open(&self.table, text, length, name, error);
    if (status == ASSAY_OK)
        status = find_geo_columns(&self, error);
    for (bool more = true; status == ASSAY_OK && more;) {
        status = assay__table_next(&self.table, error, &more);
        if (status == ASSAY_OK && more)
            status = take_road(&self, network, error);
    }
    free(self.points);
    freelocale(self.c_locale);
    return status;
}

/* ---- .rel ---- */

static assay_status take_end(const assay__table *table, int column,
                             const assay__road_network *network, assay_error *error, int64_t *road)
{
    int64_t id;
    assay_status status = assay__table_integer(table, column, error, &id);
    if (status != ASSAY_OK)
        return status;
    *road = assay__road_network_find(network, id);
    if (*road < 0) {
        return assay__fail(error, ASSAY_E_FORMAT, "%s:%zu: %s is %lld, a road the .geo file lacks",
                           table->name, table->line, table->header[column], (long long)id);
    }
    return ASSAY_OK;
}

assay_status assay__road_rel_parse(char *text, size_t length, const char *name,
                                   assay__road_network *network, assay_error *error)
{
    assay__table table;
    int origin, destination;
    assay_status status = assay__table_open(&table, text, length, name, error);
    if (status == ASSAY_OK)
        status = assay__table_need(&table, "origin_id", error, &origin);
    if (status == ASSAY_OK)
        status = assay__table_need(&table, "destination_id", error, &destination);
    for (bool more = true; status == ASSAY_OK && more;) {
        int64_t from, to;
        status = assay__table_next(&table, error, &more);
        if (status != ASSAY_OK || !more)
            break;
        status = take_end(&table, origin, network, error, &from);
        if (status == ASSAY_OK)
            status = take_end(&table, destination, network, error, &to);
        if (status == ASSAY_OK)
            status = assay__road_network_link(network, from, to, error);
    }
    return status;
}

/* ---- Whole files ---- */

typedef assay_status (*parser)(char *text, size_t length, const char *name,
                               assay__road_network *network, assay_error *error);

static assay_status load_file(const char *path, parser parse, assay__road_network *network,
                              assay_error *error)
{
    assay__buffer text;
    assay__buffer_init(&text, ASSAY__ROAD_FILE_MAX_BYTES);
    assay_status status = assay__file_read(path, &text, error);
    char nothing[1] = "";
    if (status == ASSAY_OK)
        status = parse(text.data == NULL ? nothing : text.data, text.length, path, network, error);
    assay__buffer_release(&text);
    return status;
}

assay_status assay__road_network_load(const char *geo_path, const char *rel_path,
                                      assay_error *error, assay__road_network **network)
{
    assay_status status = assay__road_network_new(network);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "%s: no memory", geo_path);
    status = load_file(geo_path, assay__road_geo_parse, *network, error);
    if (status == ASSAY_OK)
        status = load_file(rel_path, assay__road_rel_parse, *network, error);
    if (status == ASSAY_OK)
        status = assay__road_network_finish(*network, error);
    if (status != ASSAY_OK) {
        assay__road_network_free(*network);
        *network = NULL;
    }
    return status;
}

static void write_geo(const assay__road_network *network, FILE *stream)
{
    fputs("geo_id,type,coordinates,length,maxspeed\n", stream);
    for (int64_t road = 0; road < network->roads; road++) {
        int64_t start = network->point_first[road], end = network->point_first[road + 1];
        bool is_point = end - start == 1;
        fprintf(stream, "%lld,%s,\"%s", (long long)network->ids[road],
                is_point ? "Point" : "LineString", is_point ? "" : "[");
        for (int64_t i = start; i < end; i++) {
            fprintf(stream, "%s[%.7f, %.7f]", i == start ? "" : ", ", network->points[i].longitude,
                    network->points[i].latitude);
        }
        fprintf(stream, "%s\",%.3f,%.3f\n", is_point ? "" : "]", network->length_m[road],
                network->speed_mps[road] * 3.6);
    }
}

static void write_rel(const assay__road_network *network, FILE *stream)
{
    fputs("rel_id,type,origin_id,destination_id\n", stream);
    for (int64_t road = 0; road < network->roads; road++) {
        for (int64_t k = network->first[road]; k < network->first[road + 1]; k++) {
            fprintf(stream, "%lld,geo,%lld,%lld\n", (long long)k, (long long)network->ids[road],
                    (long long)network->ids[network->next[k]]);
        }
    }
}

static assay_status save_file(const assay__road_network *network, const char *path,
                              void (*write)(const assay__road_network *, FILE *),
                              assay_error *error)
{
    assay__output output;
    assay_status status = assay__output_begin(&output, path, error);
    if (status == ASSAY_OK) {
        write(network, output.stream);
        status = assay__output_commit(&output, error);
    }
    return status;
}

assay_status assay__road_network_save(const assay__road_network *network, const char *geo_path,
                                      const char *rel_path, assay_error *error)
{
    assay_status status = save_file(network, geo_path, write_geo, error);
    return status == ASSAY_OK ? save_file(network, rel_path, write_rel, error) : status;
}
