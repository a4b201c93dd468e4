"""sim_sources: sources of patra for three upstreams of patra-sim, with the window that has all its records, in pages of 250."""
FROM, TO, DAYS = '2026-01-01', '2026-04-01', 90  # what the simulator has

# The simulator says a limit of its own, as Crossref does, and patra keeps it: the bucket holds what all walks request.
CROSSREF = '''source: {source}
http: {{ base_url: "{base}/crossref", allow_plain_http: true{http} }}
rate: {{ per_second: 1000, burst: 10000, concurrency: 8 }}
window: {{ key: indexed, granularity: second, lag: 1m, max: {slice}, min: 1m }}
endpoints:
  works:
    role: search
    path: /works
    query:
      filter: >-
        from-index-date:${{formatDateTime(window.from, "yyyy-MM-dd'T'HH:mm:ss")}},until-index-date:${{formatDateTime(window.last, "yyyy-MM-dd'T'HH:mm:ss")}}
      cursor: "${{page.token}}"
      rows: "${{page.size}}"
    page: {{ type: token, size: {page}, size_max: 1000, initial: "*",
            next: "$.message['next-cursor']", replayable: false, same_token: continue }}
    response: {{ items: "$.message.items", id: "$.DOI", id_case: lower,
                updated_at: "{updated}", date_formats: [epoch_ms],
                total: "$.message['total-results']" }}
    payload: {{ packed: {packed} }}
    fields: {{ {fields} }}
operations:
  harvest: {{ endpoint: works }}
  replay: {{ endpoint: works }}
'''

OAI = '''source: bench
template: oai-pmh
http: {{ base_url: "{base}/oai/size250", allow_plain_http: true }}
rate: {{ per_second: 1000, burst: 10000, concurrency: 8 }}
'''

GENERIC = '''source: bench
http: {{ base_url: "{base}", allow_plain_http: true }}
rate: {{ per_second: 1000, burst: 10000, concurrency: 8 }}
window: {{ key: updated_at, granularity: microsecond, lag: 1m, max: {slice}, min: 1m }}
endpoints:
  records:
    role: search
    path: /generic/next
    query: {{ size: "${{page.size}}", from: "${{window.from}}", to: "${{window.to}}" }}
    page: {{ type: url, size: 250, size_max: 1000, next: $.next }}
    response: {{ items: $.items, id: $.id, updated_at: $.updated_at, version: $.version,
                deleted: $.deleted, merged_into: $.merged_into, total: $.total }}
    fields: {{ title: $.title }}
operations:
  harvest: {{ endpoint: records }}
  replay: {{ endpoint: records }}
'''


def crossref(base, source='bench', http='', days=DAYS, page=250, updated='$.indexed.timestamp', packed='false', fields='title: "$.title[0]"'):
    """Slices of so many days, one for a worker."""
    return CROSSREF.format(base=base, source=source, http=http, slice=f'{days}d', page=page, updated=updated, packed=packed, fields=fields)


def oai(base):
    return OAI.format(base=base)


def generic(base, days=DAYS):
    return GENERIC.format(base=base, slice=f'{days}d')
