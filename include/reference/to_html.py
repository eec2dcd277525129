# SPDX-License-Identifier: BSD-3-Clause
"""All pages as one HTML page: well-formed, nothing fetched; every public name is an anchor, and where it is named, a link. An index stands
beside the text. page.css is its style; page.js its search field, without which all is still there."""
import os
from html import escape

import pages

HERE = os.path.dirname(os.path.abspath(__file__))
# What the index calls the pages of a header; all others are in the first group.
GROUPS = {'hilock.hpp': 'C++', 'stats.h': 'Statistics, tracing', 'trace.h': 'Statistics, tracing', 'blocking.h': 'Calls that block',
          'loop.h': 'Event loops', 'memory.h': 'A store for tests', 'version.h': 'Version'}
FIRST_GROUP = 'Clients and locks'


def prose(text, known):
    made = ''
    for kind, part in pages.spans(text):
        name = part.removesuffix('()')
        if kind == 'name' and name in known:
            made += f'<a href="#{name}"><code>{escape(part)}</code></a>'
        elif kind in ('name', 'code'):
            made += f'<code>{escape(part)}</code>'
        else:
            made += f'<b>{escape(part)}</b>' if kind == 'lead' else escape(part)
    return made


def described(doc, known):
    made, in_list = '', False
    for kind, text in doc:
        if (kind == 'li') != in_list:
            made, in_list = made + ('</ol>\n' if in_list else '<ol>\n'), not in_list
        if kind == 'pre':
            made += f'<pre>{escape(text)}</pre>\n'
        elif kind == 'head':
            made += f'<p><b>{escape(text)}</b></p>\n'
        elif kind == 'li':
            made += f'<li>{prose(text.split(" ", 1)[1], known)}</li>\n'
        else:
            made += ''.join(f'<p>{prose(paragraph, known)}</p>\n' for paragraph in pages.paragraphs(text))
    return made + '</ol>\n' * in_list


def tagged(tag, names, doc, known):
    anchors = ''.join(f'<a id="{name}"></a>' for name in names)
    return f'<dt>{anchors}{escape(tag)}</dt><dd>{described(doc, known)}</dd>\n'


def member_list(item, known):
    made, group = '', []
    for member in item.members:
        if member.group and member.group != group:
            made += f'</dl>\n{described(member.group, known)}<dl>\n'
        group = member.group
        made += tagged(member.code, pages.constants_in(member), member.doc, known)
    return f'<dl>\n{made}</dl>\n'.replace('<dl>\n</dl>\n', '')


def section(page, known):
    made = f'<section id="page-{page.name}">\n<h2>{page.name}</h2>\n<p class="brief">{escape(page.brief)}</p>\n'
    code = [f'#include <hilock/{path}>' for path in page.includes] + [line for item in page.items for line in pages.synopsis(item)]
    made += f'<pre>{escape(chr(10).join(code))}</pre>\n'
    for item in page.items:
        anchors = ''.join(f'<a id="{name}"></a>' for name in item.shared if name != item.path)
        if item.kind in ('struct', 'enum'):
            made += f'<h3>{anchors if item.name.islower() else ""}{pages.title(item)}</h3>\n'
            made += described(item.doc, known) + member_list(item, known)
        elif item.kind == 'header':
            made += described(item.doc, known)
        elif item.doc:
            made += f'<dl><dt>{anchors}{", ".join(item.shared)}</dt><dd>{described(item.doc, known)}</dd></dl>\n'
        elif not any(item.name in other.shared for other in page.items if other is not item):
            made += f'<p>{anchors}</p>\n'
    if page.example:
        made += f'<h3>Example</h3>\n<pre>{escape(page.example)}</pre>\n'
    return made + '</section>\n'


def group_of(page):
    path = page.includes[0] if page.includes else ''
    return 'Event loops' if path.startswith('adapters/') else GROUPS.get(path, FIRST_GROUP)


def index(every):
    groups = {}
    for page in every:
        groups.setdefault(group_of(page), []).append(page)
    made = ''
    for name, members in groups.items():
        rows = ''.join(f'<li><a href="#page-{page.name}">{page.name}<small>{escape(page.brief)}</small></a></li>\n' for page in members)
        made += f'<h3>{name}</h3>\n<ul>\n{rows}</ul>\n'
    return made


def text_of(name):
    with open(os.path.join(HERE, name), encoding='utf-8') as file:
        return file.read()


def html(every, version):
    items = [item for page in every for item in page.items if item.kind != 'header']
    known = {item.name for item in items} | {name for item in items for member in item.members for name in pages.constants_in(member)}
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>\n'
            f'<title>hilock {version}: reference</title>\n<style>\n{text_of("page.css")}</style></head><body>\n'
            f'<aside>\n<h1>hilock {version}</h1>\n'
            '<input id="search" type="search" placeholder="Search names and text ( / )" aria-label="Search" hidden="hidden"/>\n'
            f'<a id="menu" href="#index">Index</a>\n<ul id="found"></ul>\n<nav id="index">\n{index(every)}</nav>\n</aside>\n<main>\n'
            + ''.join(section(page, known) for page in every)
            + f'</main>\n<script>//<![CDATA[\n{text_of("page.js")}//]]></script>\n</body></html>\n')
