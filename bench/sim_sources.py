"""sim_sources: sources of patra for three upstreams of patra-sim, with the window that has all its records, in pages of 250.

Each is a template with two holes: {base}, the simulator, and {slice}, how much of the window a worker takes at once.
"""
FROM, TO = '2026-01-01', '2026-04-01'

# The simulator says a limit of its own, as Crossref does, and patra keeps it: the bucket holds what all walks request.
CROSSREF = '''source: bench
http: {{ base_url: "{base}/crossref", allow_plain_http: true }}
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
    page: {{ type: token, size: 250, size_max: 1000, initial: "*",
            next: "$.message['next-cursor']", replayable: false, same_token: continue }}
    response: {{ items: "$.message.items", id: "$.DOI", id_case: lower,
                updated_at: "$.indexed.timestamp", date_formats: [epoch_ms],
                total: "$.message['total-results']" }}
    fields: {{ title: "$.title[0]" }}
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
