"""The shape of an answer: for every path in it, which types stand there and which forms its texts have.

Two answers have the same shape when neither has a path, a type or a form that the other lacks. JSON paths
look like $.message.items[*].DOI; XML paths like /OAI-PMH/ListRecords/record, attributes behind an @.
"""
import json
import re
import xml.etree.ElementTree

# The first that matches tells the form of a text. Texts for people have no form.
FORMS = [(name, re.compile(pattern + r'\Z', re.S)) for name, pattern in [
    ('nothing', r''),
    ('day', r'\d{4}-\d\d-\d\d'),
    ('month', r'\d{4}-\d\d'),
    ('second Z', r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'),
    ('millisecond Z', r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z'),
    ('second', r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d'),
    ('microsecond', r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}'),
    ('slashed minute', r'\d{4}/\d\d/\d\d \d\d:\d\d'),
    ('RFC 822', r'(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d GMT'),
    ('ORCID URL', r'https?://orcid\.org/\d{4}-\d{4}-\d{4}-\d{3}[\dX]'),
    ('ORCID', r'\d{4}-\d{4}-\d{4}-\d{3}[\dX]'),
    ('ISSN', r'\d{4}-\d{3}[\dXx]'),
    ('DOI URL', r'https?://(dx\.)?doi\.org/10\.\d+/.+'),
    ('DOI', r'10\.\d{4,}/\S+'),
    ('work URL', r'https://openalex\.org/W\d+'),
    ('URL', r'https?://.*'),
    ('Y or N', r'[YN]'),
    ('number', r'-?\d+'),
    ('scroll id', r'DnF1ZXJ5VGhlbkZldGNo[A-Za-z0-9_-]+=*'),
    ('cursor mark', r'AoI[A-Za-z0-9+/]+=*'),
    ('WebEnv', r'MCID_[0-9a-f]{24}'),
    ('PMC id', r'PMC\d+'),
    ('preprint id', r'PPR\d+'),
    ('OAI id', r'oai:[^:]+:.+'),
    ('base64', r'(?=.{24})[A-Za-z0-9+/]+=*'),
]]


def form(text):
    return next((name for name, pattern in FORMS if pattern.match(text)), 'text')


def add(shape, path, kind):
    shape.setdefault(path, set()).add(kind)


def of_value(value, free, path='$', shape=None):
    """`free`: patterns of paths whose member names are data, not structure."""
    shape = {} if shape is None else shape
    if isinstance(value, dict):
        add(shape, path, 'object')
        data = any(re.fullmatch(pattern, path) for pattern in free)
        for name, member in value.items():
            of_value(member, free, f'{path}.{"*" if data else name}', shape)
    elif isinstance(value, list):
        add(shape, path, 'array')
        for member in value:
            of_value(member, free, path + '[*]', shape)
    elif isinstance(value, str):
        add(shape, path, 'string: ' + form(value))
    elif value is None:
        add(shape, path, 'null')
    else:
        add(shape, path, {bool: 'boolean', int: 'integer', float: 'float'}[type(value)])
    return shape


def of_json(body, free=()):
    return of_value(json.loads(body), free)


def local(name):
    return re.sub(r'\{.*\}', '', name)


def of_element(element, path, shape):
    path += '/' + local(element.tag)
    text = (element.text or '').strip()
    if text or len(element) == 0:
        add(shape, path, 'text: ' + form(text))
    else:
        add(shape, path, 'element')
    for name, value in element.attrib.items():
        add(shape, f'{path}/@{local(name)}', 'text: ' + form(value))
    for child in element:
        of_element(child, path, shape)
    return shape


def of_xml(body, free=()):
    return of_element(xml.etree.ElementTree.fromstring(body), '', {})


def differences(real, ours):
    """(path, what) for each: a path only one has, a type or form of ours that no real answer shows there."""
    for path in sorted(real.keys() | ours.keys()):
        parent = re.sub(r'(\[\*\]|\.[^.\[]*|/[^/]*)\Z', '', path)
        if path not in ours:
            if parent in ours or parent not in real or parent in ('', '$'):
                yield path, 'only in the recorded answer'
        elif path not in real:
            if parent in real or parent in ('', '$'):
                yield path, 'only in ours'
        else:
            for kind in sorted(ours[path] - real[path]):
                yield path, f'{kind}, recorded: {", ".join(sorted(real[path]))}'
