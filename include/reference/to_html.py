# SPDX-License-Identifier: BSD-3-Clause
"""All pages as one HTML page: well-formed, no script, nothing fetched; every public name is an anchor, and where it is named, a link."""
from html import escape

import pages

STYLE = """body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 0 auto; padding: 1em; color: #222; background: #fff }
h2 { margin-top: 3em; border-top: 1px solid #ccc; padding-top: .5em } h3 { margin-top: 2em }
pre, code, dt { font-family: monospace; font-size: 14px } pre { background: #f5f5f5; padding: .7em; overflow-x: auto }
dt { font-weight: bold; margin-top: .7em } a { color: #05a; text-decoration: none } a:hover { text-decoration: underline }
nav td { padding: 0 1em 0 0; vertical-align: top }"""


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
    made = f'<h2 id="page-{page.name}">{page.name}: {escape(page.brief)}</h2>\n'
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
    return made


def html(every, version):
    items = [item for page in every for item in page.items if item.kind != 'header']
    known = {item.name for item in items} | {name for item in items for member in item.members for name in pages.constants_in(member)}
    rows = ''.join(f'<tr><td><a href="#page-{page.name}">{page.name}</a></td><td>{escape(page.brief)}</td></tr>\n' for page in every)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>hilock {version}: reference</title>\n'
            f'<style>\n{STYLE}\n</style></head><body>\n<h1>hilock {version}: reference</h1>\n<nav><table>\n{rows}</table></nav>\n'
            + ''.join(section(page, known) for page in every) + '</body></html>\n')
