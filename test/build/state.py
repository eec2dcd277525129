# SPDX-License-Identifier: BSD-3-Clause
"""The state that structs of lib/ keep, and the tables that their calls go through, as clang reads the sources. For
counts.py alone: `apt-get install python3-clang`, and a python3 that finds it (Debian's is /usr/bin/python3).
What cannot be followed is left out: macros that write members, and whole structs that are copied.

A plain flag is an integer member that is only ever 0 or 1. Every write in lib/ is looked at: it is 0 or 1 if it is such a
literal or enumerator, a comparison, !, && or ||, or comes from variables, members, parameters and functions that are
themselves only ever 0 or 1. What nobody writes in lib/ (options of the user, atomics) is judged by its name."""
import collections
import glob
import os
import re

from clang.cindex import CursorKind, Index, TypeKind

ARGUMENTS = ('-std=gnu11', '-D_GNU_SOURCE', '-I/usr/include/hiredis', '-I/usr/include/uuid')
QUESTION = re.compile(r'(?:is|has|was|had|are|may|can)_')
OPTIONAL = re.compile(r"'(?:hiredis/hiredis_ssl|openssl/\w+)\.h' file not found")  # a build without TLS; the rest of the source is read
COMPARES = {'==', '!=', '<', '>', '<=', '>='}
LOGIC = {'&&', '||'}
SPECIAL = re.compile(r'U?INT(?:8|16|32|64)?_MAX$|HILOCK_FOREVER$|HL_\w*(?:NEVER|ALL|UNKNOWN)\w*$|-1$')
LINKS = ('next', 'prev', 'first', 'last')  # pointers of these names are those of base/list.h
WRAPPERS = (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR, CursorKind.CSTYLE_CAST_EXPR)
INTEGERS = {TypeKind.BOOL, TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.USHORT, TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG, TypeKind.CHAR_S,
            TypeKind.SCHAR, TypeKind.SHORT, TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG, TypeKind.ENUM}


def place(cursor):
    """What tells a declaration from all others, in every source that includes it."""
    location = cursor.location
    return location.file.name if location.file else '', location.offset, cursor.spelling


def bare(cursor):
    """An expression without parentheses and casts."""
    while cursor.kind in WRAPPERS:
        inner = [child for child in cursor.get_children() if child.kind.is_expression()]
        if not inner:
            return cursor
        cursor = inner[-1]
    return cursor


class Sources:
    def __init__(self, root, folders):
        self.root, self.folders = os.path.realpath(root), tuple(os.path.join(os.path.realpath(root), 'lib', folder) for folder in folders)
        self.texts, self.seen = {}, set()
        self.fields = {}                                # place: (struct, member, its cursor's type), in the folders
        self.writes = collections.defaultdict(list)     # place: what is written, each None (not 0 or 1) or the places that it comes from
        self.specials = collections.defaultdict(set)    # place of a member: constants that it is compared with, or set to
        self.tested = set()                             # places of members that are tested for 0 or NULL
        self.masks = {}                                 # first enumerator: how many single bits
        self.members = collections.Counter()            # struct: how many
        self.pointers = {}                              # place of a member that is a function pointer of ours: (struct, member)
        self.structs = {}                               # struct: places of its function pointers
        self.to_structs = {}                            # place of a member that points to a struct: (struct, member, that struct)
        self.stored = collections.defaultdict(set)      # place of a member or variable: functions, variables and members it was given
        self.tables = collections.defaultdict(set)      # struct: variables of that type that are filled where they are defined
        self.errors = []
        index = Index.create()
        include = [f'-I{os.path.join(self.root, folder)}' for folder in ('include', 'lib')]
        for path in sorted(glob.glob(os.path.join(self.root, 'lib/**/*.c'), recursive=True)):
            unit = index.parse(path, [*ARGUMENTS, *include])
            self.errors += [str(problem) for problem in unit.diagnostics
                            if problem.severity >= 3 and not OPTIONAL.search(problem.spelling)]
            for cursor in unit.cursor.get_children():
                file = cursor.location.file
                if file and os.path.realpath(file.name).startswith(self.root + '/') and place(cursor) not in self.seen:
                    self.seen.add(place(cursor))
                    self.visit(cursor, None)

    def text(self, cursor):
        return self.between(cursor, cursor.extent.start.offset, cursor.extent.end.offset)

    def between(self, cursor, start, end):
        name = cursor.extent.start.file.name if cursor.extent.start.file else None
        if name and name not in self.texts:
            with open(name, 'rb') as file:
                self.texts[name] = file.read()
        return self.texts[name][start:end].decode() if name else ''

    def operator(self, cursor):
        """The operator between the two operands of an expression."""
        left, right = list(cursor.get_children())[:2]
        text = re.sub(r'/\*.*?\*/|\s|[()]', '', self.between(cursor, left.extent.end.offset, right.extent.start.offset), flags=re.S)
        return text

    # ---- what a value is

    def source(self, cursor):
        """None: it may be other than 0 or 1. Otherwise the places that it comes from."""
        cursor = bare(cursor)
        kind, children = cursor.kind, list(cursor.get_children())
        if kind == CursorKind.INTEGER_LITERAL:
            return [] if re.fullmatch(r'[01][uUlL]*|HL_PLANTED\(.*\)|true|false', self.text(cursor), re.S) else None
        if kind == CursorKind.UNARY_OPERATOR:
            return [] if self.text(cursor).startswith('!') else None
        if kind == CursorKind.CONDITIONAL_OPERATOR:
            return self.all_of(children[1:])
        if kind == CursorKind.BINARY_OPERATOR:
            operator = self.operator(cursor)
            if operator in COMPARES or operator in LOGIC:
                return []
            if operator == '&':
                found = [source for source in map(self.source, children) if source is not None]
                return found[0] if found else None
            return self.all_of(children) if operator in ('|', '^') else self.source(children[1]) if operator in ('=', ',') else None
        if kind in (CursorKind.MEMBER_REF_EXPR, CursorKind.DECL_REF_EXPR) and cursor.referenced:
            if cursor.referenced.kind == CursorKind.ENUM_CONSTANT_DECL:
                return [] if cursor.referenced.enum_value in (0, 1) else None
            return [place(cursor.referenced)]
        if kind == CursorKind.CALL_EXPR and cursor.referenced:
            return [self.named(cursor.referenced)]
        return None

    def all_of(self, cursors):
        found = [self.source(cursor) for cursor in cursors]
        return None if None in found else [one for some in found for one in some]

    @staticmethod
    def named(function):
        """Declarations of one function are one."""
        if function.kind != CursorKind.FUNCTION_DECL:
            return place(function)
        own = '' if function.linkage.name == 'EXTERNAL' else function.location.file.name
        return own, 0, function.spelling

    # ---- what happens to members

    def written(self, target, value):
        target = bare(target)
        if target.kind not in (CursorKind.MEMBER_REF_EXPR, CursorKind.DECL_REF_EXPR) or not target.referenced:
            return
        self.gets(target.referenced, value)

    def gets(self, declared, value):
        """A variable or a member is given a value."""
        self.writes[place(declared)].append(self.source(value))
        inner = bare(value)
        parts = list(inner.get_children()) if inner.kind == CursorKind.CONDITIONAL_OPERATOR else [None, value]
        is_cut = parts[0] is not None and re.search('[<>]=? ', self.text(parts[0]))  # a number that is cut has no special value
        for one in parts[1:]:
            self.stores(place(declared), one)
            if not is_cut:
                self.special(place(declared), one)

    def stores(self, where, value):
        value = bare(value)
        if value.kind == CursorKind.UNARY_OPERATOR and self.text(value).startswith('&'):
            value = bare(list(value.get_children())[0])
        if value.kind in (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR) and value.referenced:
            self.stored[where].add(self.named(value.referenced))

    def special(self, where, value):
        text = self.text(value).strip('() ')
        if SPECIAL.match(text):
            self.specials[where].add(text)

    def test(self, cursor):
        """This value is asked for 0 or NULL."""
        cursor = bare(cursor)
        if cursor.kind == CursorKind.MEMBER_REF_EXPR and cursor.referenced:
            self.tested.add(place(cursor.referenced))

    def record(self, cursor):
        if not cursor.is_definition():
            return
        file, name = os.path.realpath(cursor.location.file.name), cursor.spelling
        for field in cursor.get_children():
            canonical = field.type.get_canonical()
            if field.kind != CursorKind.FIELD_DECL or field.spelling in LINKS and canonical.kind == TypeKind.POINTER and \
                    canonical.get_pointee().kind == TypeKind.RECORD:
                continue
            self.members[name] += 1
            if file.startswith(self.folders):
                self.fields[place(field)] = name, field.spelling, canonical, os.path.relpath(file, os.path.join(self.root, 'lib'))
            if not file.startswith(os.path.join(self.root, 'lib/')) or canonical.kind != TypeKind.POINTER:
                continue
            pointee = canonical.get_pointee()
            if pointee.kind == TypeKind.FUNCTIONPROTO and not re.match(r'hilock_\w+_fn\b', field.type.spelling):
                self.pointers[place(field)] = name, field.spelling
                self.structs.setdefault(name, []).append(place(field))
            elif pointee.kind == TypeKind.RECORD:
                self.to_structs[place(field)] = name, field.spelling, pointee.get_declaration().spelling

    def enum(self, cursor):
        values = [one.enum_value for one in cursor.get_children() if one.kind == CursorKind.ENUM_CONSTANT_DECL]
        if os.path.realpath(cursor.location.file.name).startswith(self.folders) and len(values) > 1 and \
                all(value == 1 << i for i, value in enumerate(values)):
            first = [one.spelling for one in cursor.get_children()]
            self.masks[f'{first[0]} to {first[-1]}'] = len(values)

    def fill(self, cursor, structure):
        """{a, .b = c}: members are given values."""
        fields = [field for field in structure.get_declaration().get_children() if field.kind == CursorKind.FIELD_DECL]
        at = 0
        for child in cursor.get_children():
            parts = list(child.get_children())
            if parts and parts[0].kind == CursorKind.MEMBER_REF and parts[0].referenced in fields:
                at = fields.index(parts[0].referenced)
                if len(parts) == 2:
                    self.gets(fields[at], parts[1])
            elif at < len(fields) and child.kind.is_expression():
                self.gets(fields[at], child)
            at += 1

    def visit(self, cursor, function):
        kind, children = cursor.kind, list(cursor.get_children())
        if kind in (CursorKind.STRUCT_DECL, CursorKind.UNION_DECL):
            self.record(cursor)
        elif kind == CursorKind.ENUM_DECL:
            self.enum(cursor)
        elif kind == CursorKind.FUNCTION_DECL:
            function = cursor
            for parameter in cursor.get_arguments():
                self.writes[place(parameter)].append([(*self.named(cursor), parameter.spelling)])
                self.stored[place(parameter)].add((*self.named(cursor), parameter.spelling))
        elif kind == CursorKind.VAR_DECL and children and children[-1].kind.is_expression():
            self.gets(cursor, children[-1])
            if bare(children[-1]).kind == CursorKind.INIT_LIST_EXPR:
                self.tables[re.sub(r'\bconst |struct |\[.*', '', cursor.type.get_canonical().spelling).strip()].add(place(cursor))
        elif kind == CursorKind.RETURN_STMT and children:
            self.writes[self.named(function)].append(self.source(children[0]))
        elif kind == CursorKind.INIT_LIST_EXPR and cursor.type.get_canonical().kind == TypeKind.RECORD:
            self.fill(cursor, cursor.type.get_canonical())
        elif kind == CursorKind.CALL_EXPR and cursor.referenced and cursor.referenced.kind == CursorKind.FUNCTION_DECL:
            called = cursor.referenced.get_definition() or cursor.referenced
            for parameter, value in zip(called.get_arguments(), cursor.get_arguments()):
                self.argument(called, parameter, value)
        elif kind == CursorKind.BINARY_OPERATOR and len(children) == 2:
            self.binary(self.operator(cursor), *children)
        elif kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
            is_kept = re.search(r'[|&]=$', self.operator(cursor))
            target = bare(children[0])
            if target.referenced:
                self.writes[place(target.referenced)].append(self.source(children[1]) if is_kept else None)
        elif kind == CursorKind.UNARY_OPERATOR:
            self.unary(self.text(cursor), children[0])
        elif kind in (CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.CONDITIONAL_OPERATOR):
            self.test(children[0])
        elif kind == CursorKind.DO_STMT:
            self.test(children[-1])
        elif kind == CursorKind.FOR_STMT:
            for child in children[:-1]:
                self.test(child)
        for child in children:
            self.visit(child, function)

    def argument(self, called, parameter, value):
        """A parameter is one in all declarations of its function."""
        where = *self.named(called), parameter.spelling
        self.writes[where].append(self.source(value))
        self.stores(where, value)
        if not self.text(value).startswith('&'):
            return
        target = bare(list(bare(value).get_children())[0]) if list(bare(value).get_children()) else None
        if target is not None and target.kind == CursorKind.MEMBER_REF_EXPR and target.referenced:
            self.writes[place(target.referenced)].append(None)

    def binary(self, operator, left, right):
        if operator == '=':
            self.written(left, right)
        elif operator in LOGIC:
            self.test(left)
            self.test(right)
        elif operator in ('==', '!='):
            for one, other in ((left, right), (right, left)):
                one, text = bare(one), self.text(other).strip('() ')
                if one.kind == CursorKind.MEMBER_REF_EXPR and one.referenced:
                    self.special(place(one.referenced), other)
                    if text in ('0', 'NULL'):
                        self.test(one)

    def unary(self, text, operand):
        if text.startswith('!'):
            self.test(operand)
        elif text.startswith(('++', '--')) or text.endswith(('++', '--')):
            target = bare(operand)
            if target.referenced:
                self.writes[place(target.referenced)].append(None)

    # ---- figures

    def values_of(self, where, seen=()):
        """What a pointer was given in lib/, through members and parameters: functions and tables, each (file, .., name)."""
        if where in seen:
            return set()
        if where not in self.stored:
            return {where}
        return {value for one in self.stored[where] for value in self.values_of(one, (*seen, where))}

    def is_value(self, where):
        """It is a function, or a variable that is a table."""
        return where[1] == 0 and len(where) == 3 or any(where in tables for tables in self.tables.values())

    def only_0_or_1(self):
        """The places that are; begins with all, and takes away until nothing changes."""
        other = {where for where, writes in self.writes.items() if None in writes}
        before = -1
        while before != len(other):
            before = len(other)
            other |= {where for where, writes in self.writes.items()
                      if where not in other and any(self.is_other(one, other) for write in writes if write is not None for one in write)}
        return other

    def is_other(self, where, other):
        is_named = QUESTION.match(re.sub(r'^hl_(?:\w+_)?(?=is_|has_|was_|are_)', '', where[-1]))
        is_given = where not in self.writes or where[0].startswith(os.path.join(self.root, 'include/'))
        return where in other or is_given and not is_named

    def plain_flags(self):
        """[(struct, member, file)]"""
        other = self.only_0_or_1()
        return [(struct, member, file) for where, (struct, member, kind, file) in self.fields.items()
                if (kind.kind in INTEGERS or 'atomic' in kind.spelling.lower()) and
                (where in self.writes and where not in other or where not in self.writes and QUESTION.match(member))]

    def special_values(self):
        """[(struct, member, constant)]"""
        return [(*self.fields[where][:2], constant) for where, constants in self.specials.items() if where in self.fields
                for constant in sorted(constants)]

    def tested_members(self):
        """{(struct, member)}: not 0 or not NULL is asked for."""
        return {self.fields[where][:2] for where in self.tested if where in self.fields}

    def only_value(self, where):
        """The name of what a pointer is always set to; None: there are several, or none, or the user's."""
        values = self.values_of(where)
        return next(iter(values))[-1] if len(values) == 1 and all(map(self.is_value, values)) else None

    def is_table(self, struct):
        """At least two function pointers, which are most of it."""
        return len(self.structs.get(struct, ())) > 1 and 2 * len(self.structs[struct]) > self.members[struct]

    def single_tables(self):
        """Structs that are tables of calls, each call with one implementation: {struct: the calls}."""
        return {struct: [self.pointers[where][1] for where in places] for struct, places in self.structs.items()
                if self.is_table(struct) and all(self.only_value(where) for where in places)}

    def single_pointers(self):
        """Outside of tables: [(struct, member, what it always is)]"""
        calls = [(*self.pointers[where], self.only_value(where)) for where in self.pointers if not self.is_table(self.pointers[where][0])]
        tables = [(struct, member, self.only_value(where)) for where, (struct, member, other) in self.to_structs.items()
                  if self.is_table(other) and other not in self.single_tables()]
        return sorted(one for one in calls + tables if one[-1])
