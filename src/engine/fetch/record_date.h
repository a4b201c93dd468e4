/* record_date: the dates of a record, as the formats of its source say. */
#ifndef PATRA_ENGINE_FETCH_RECORD_DATE_H
#define PATRA_ENGINE_FETCH_RECORD_DATE_H

#include "data/date.h"
#include "data/json.h"
#include "spec/spec.h"

/* By the first of response.date_formats that can read it. False: none can. */
bool record_date_text(const struct spec_response *response, struct str text, struct date *date);

/* Crossref's [[2001, 9, 15]] and the like: a list of numbers, perhaps inside another one. */
bool record_date_parts(const struct json_doc *doc, struct json_node node, struct date *date);

#endif
