# SPDX-License-Identifier: BSD-3-Clause
"""install.py MESON CC SOURCE_ROOT QUICKSTART.c REDIS_SERVER BUNDLES - the library as a user gets it: configured with a prefix, installed there, and used by
programs outside of the tree that know pkg-config only, shared and static; and refused at configure time where hiredis has a defect. Then all of that with
hiredis inside (-Dhiredis=bundled), where BUNDLES is "can"; elsewhere that is refused. CC may be several words ("ccache gcc"). It is built below the folder
that this runs in, a build directory: from there the way to the sources is the same each time, and ccache knows them."""
import os
import re
import sys
import tempfile

import outside

VERSION = ('#include <hilock/hilock.h>\n#include <hilock/version.h>\n#include <stdio.h>\n'
           'int main(void) { return printf("%s %s\\n", HILOCK_VERSION, hilock_version()) < 0; }\n')
BLOCKING = ('#include <hilock/blocking.h>\n#include <stdio.h>\n'
            'int main(int argc, char **argv)\n{\n    hilock_blocking *client;\n    hilock_blocking_lock *lock;\n'
            '    if (argc < 2 || hilock_blocking_open(&client, HILOCK_CLIENT_OPTIONS(.url = argv[1]), NULL) != HILOCK_OK ||\n'
            '        hilock_blocking_acquire(client, "name", NULL, HILOCK_FOREVER, &lock, NULL) != HILOCK_OK)\n        return 1;\n'
            '    puts(hilock_status_name(hilock_blocking_release(lock, NULL)));\n    hilock_blocking_free(client);\n    return 0;\n}\n')
NEEDED = {
    'libhilock.so': {'libhiredis', 'libuuid', 'libc'},
    'libhilock-libevent.so': {'libhilock', 'libevent_core-2', 'libevent_extra-2', 'libc'},
    'libhilock-blocking.so': {'libhilock', 'libhilock-libevent', 'libevent_core-2', 'libc'},
    'libhilock-memory.so': {'liblua5.1', 'libm', 'libc'},
}
TLS = {'libhiredis_ssl', 'libssl', 'libcrypto'}  # where they are installed
EXAMPLES = {'quickstart.c', 'shop.c', 'cache.c', 'pool.c', 'traps.c', 'jobs.cc', 'spans.c', 'loops.c', 'unit_test.c', 'README.md'}
HEADERS = {'hilock/hilock.h', 'hilock/options.h', 'hilock/inquiry.h', 'hilock/stats.h', 'hilock/trace.h', 'hilock/hilock.hpp', 'hilock/detail/state.hpp', 'hilock/loop.h', 'hilock/version.h',
           'hilock/memory.h', 'hilock/blocking.h', 'hilock/adapters/libevent.h'}
# (package, its version, why it is refused)
REFUSED = [('hiredis', '0.13.3', 'hiredis >=0.14.1 is missing; Debian has it in libhiredis-dev'), ('hiredis', '1.0.0', 'can kill a good connection'),
           ('hiredis', '1.0.2', 'can kill a good connection'), ('libevent_core', '2.0', 'libevent_core >=2.1 is missing; Debian has it in libevent-dev')]
PC = 'Name: {0}\nDescription: another version\nVersion: {1}\nLibs: -l{0}\nCflags:\n'
LOOPS = {'libuv': 'libuv', 'libev': 'libev', 'sd-event': 'libsystemd'}  # what each needs; installed where that is there
PACKAGES = {'libuv': 'libuv1-dev', 'libev': 'libev-dev', 'sd-event': 'libsystemd-dev'}


def needed(path):
    """Names of the shared objects that this one asks for, without .so and what follows."""
    return set(re.findall(r'\(NEEDED\).*\[(.+?)\.so', outside.run('readelf', '-d', path).replace('2.1.so', '2.so')))


def installed(prefix):
    return {os.path.relpath(os.path.join(folder, name), prefix) for folder, _, names in os.walk(prefix) for name in names}


def expect(claim, text):
    if not claim:
        raise SystemExit(text)
    print('ok:', text.split(':')[0])


def pkg_config(pkg_dir, *arguments):
    return outside.run('pkg-config', *arguments, env={**os.environ, 'PKG_CONFIG_PATH': pkg_dir}).split()


def install(meson, compiler, source, work, name, *options):
    """(prefix, libdir)"""
    prefix, build = os.path.join(work, name, 'prefix'), os.path.join(work, name + '-build')
    done, text = outside.configure(meson, compiler, source, build, '--prefix', prefix, '-Dtests=disabled', '-Dbench=disabled',
                                   '-Doptimization=1', *options)
    expect(done, f'configures with a prefix, without tests and bench, {name}: {text}')
    outside.run(meson, 'install', '-C', build, '--quiet')
    libdirs = {os.path.dirname(path) for path in installed(prefix) if path.endswith('libhilock.so')}
    expect(len(libdirs) == 1, f'one library directory: {libdirs}')
    return prefix, os.path.join(prefix, libdirs.pop())


def contents(prefix, libdir):
    files = installed(prefix)
    loops = {name for name in LOOPS if os.path.join(os.path.relpath(libdir, prefix), f'pkgconfig/hilock-{name}.pc') in files}
    headers = HEADERS | {f'hilock/adapters/{name}.h' for name in loops}
    expect({f[len('include/'):] for f in files if f.startswith('include/')} == headers, f'headers are {sorted(headers)}: {sorted(files)}')
    expect({'share/man/man7/hilock.7', 'share/man/man3/hilock_acquire.3', 'share/doc/hilock/hilock.html'} <= files, f'the reference is: {files}')
    docs = {*(f'share/doc/hilock/{page}.md' for page in ('use', 'operate', 'choose', 'redisson', 'embed')), *(f'share/doc/hilock/examples/{name}' for name in EXAMPLES)}
    expect(docs <= files, f'guide and examples are installed: {docs - files} are missing')
    ours = (r'^include/|/libhilock(-libevent|-libuv|-libev|-sd-event|-blocking)?\.(a|so[.0-9]*)$|'
            r'/libhilock-memory\.so[.0-9]*$|/pkgconfig/hilock(-libevent|-libuv|-libev|-sd-event|-blocking|-memory)?\.pc$|'
            r'^bin/hilock$|^share/bash-completion/completions/hilock$|^share/zsh/site-functions/_hilock$|^share/(man/man[137]|doc/hilock|doc/hilock/examples)/[\w.]+$')
    others = {f for f in files if not re.search(ours, f)}
    expect(not others, f'nothing else is installed: {others}')
    for name, names in [*NEEDED.items(), *((f'libhilock-{loop}.so', {'libhilock', LOOPS[loop], 'libc'}) for loop in sorted(loops))]:
        found = needed(os.path.join(libdir, name))
        if name == 'libhilock.so' and found & TLS:
            names = names | TLS
        expect(found <= names and names - {'libc'} <= found, f'{name} needs {sorted(names)}: {sorted(found)}')


def anchors(text):
    """Of the headings, as a reader of Markdown makes them."""
    heads = re.findall(r'^#+ (.*)$', text, re.M)
    return {re.sub(r'[^\w -]', '', head.lower()).replace(' ', '-') for head in heads}


def dead_links(folder):
    """Of the guide and the examples' page."""
    for path in sorted(installed(folder)):
        text = outside.read(os.path.join(folder, path)) if path.endswith('.md') else ''
        text = re.sub(r'^```.*?^```$', '', text, flags=re.S | re.M)
        for target in re.findall(r'\]\(([^)]+)\)', text):
            page, _, anchor = target.partition('#')
            there = os.path.join(folder, os.path.dirname(path), page) if page else os.path.join(folder, path)
            if not re.match('https?:', target) and (not os.path.exists(there) or anchor and anchor not in anchors(outside.read(there))):
                yield f'{path}: {target}'


def source_paths(folder):
    """What only a reader of the source has."""
    for path in sorted(installed(folder)):
        if path.endswith(('.md', '.html', '.1', '.3', '.7')):
            for found in re.findall(r'(?<![\w/.<-])(?:test|lib|adapters|bench|include|build)/[a-z][\w./]*', outside.read(os.path.join(folder, path))):
                yield f'{path}: {found}'


def pages_of(prefix):
    for folder in ('share/doc/hilock', 'share/man'):
        dead, source = [*dead_links(os.path.join(prefix, folder))], [*source_paths(os.path.join(prefix, folder))]
        expect(not dead, f'no link of {folder} is dead: {dead}')
        expect(not source, f'no page of {folder} has a path of the source: {source}')


def absent(meson, compiler, source, work):
    """The pages alone, of a build without the loops and the store in memory."""
    build = os.path.join(work, 'few')
    done, text = outside.configure(meson, compiler, source, build, '-Dtests=disabled', '-Dbench=disabled', '-Dmemory=disabled',
                                   *(f'-D{name}=disabled' for name in LOOPS))
    expect(done, 'configures without other loops: ' + text)
    outside.run(meson, 'compile', '-C', build, 'reference')
    pages = installed(os.path.join(build, 'include/reference'))
    others = {path for path in pages if re.search('libuv|libev[._]|sd_event|memory', path)}
    expect('man3/hilock_client_open_libevent.3' in pages and not others, f'what is not installed has no page: {others}')


def first_page(source):
    """README's first screen names all loops; who follows it gets what they need."""
    screen = outside.read(os.path.join(source, 'README.md')).partition('\n## ')[0]
    unnamed = [name for name in ['libevent', *LOOPS] if name not in screen]
    expect(not unnamed, f'the first screen of README names each loop: {unnamed}')
    packages = outside.run(os.path.join(source, 'test/packages'), 'demo', 'test').split()
    expect(set(PACKAGES.values()) <= set(packages), f'test/packages has what each loop needs: {packages}')


def programs(compiler, prefix, libdir, work, quickstart, url):
    """Each is built with the shared libraries; then these are removed, and it is built with the static ones."""
    pkg_dir, binary = os.path.join(libdir, 'pkgconfig'), os.path.join(work, 'program')
    version = pkg_config(pkg_dir, '--modversion', 'hilock')[0]
    asked = pkg_config(pkg_dir, '--cflags', 'hilock-libevent')
    expect(asked == ['-I' + os.path.join(prefix, 'include')],
           f'a program gets no folder of headers but hilock\'s own: {asked}')
    rows = [(outside.write(work, 'version.c', VERSION), 'hilock', f'{version} {version}\n'), (quickstart, 'hilock-libevent', 'ours, token '),
            (outside.write(work, 'blocking.c', BLOCKING), 'hilock-blocking', 'OK\n')]
    for kind in ([], ['--static']):
        for source, package, said in rows:
            flags = pkg_config(pkg_dir, '--cflags', '--libs', *kind, package)
            outside.run(*compiler.split(), '-std=c11', '-Wall', '-Wextra', '-Werror', source, '-o', binary, *flags)
            expect(any('hilock' in name for name in needed(binary)) != bool(kind), f'{package}, {kind or "shared"}: is linked so')
            answer = outside.run(binary, url, env={**os.environ, 'LD_LIBRARY_PATH': libdir})
            expect(answer.startswith(said), f'{package}, {kind or "shared"}: says {said!r}: {answer}')
        for name in os.listdir(libdir):
            if '.so' in name:
                os.unlink(os.path.join(libdir, name))


def refusals(meson, compiler, source, work):
    """Of a package that cannot be used: its file of pkg-config is found before the real one."""
    for package, version, reason in REFUSED:
        folder = os.path.join(work, package + version)
        outside.write(folder, package + '.pc', PC.format(package, version))
        done, text = outside.configure(meson, compiler, source, os.path.join(folder, 'build'), '-Dtests=disabled', '-Dbench=disabled',
                                       pkg_config_path=folder)
        expect(not done and reason in text, f'{package} {version} is refused, with the reason: {text}')


def bundled(meson, compiler, source, work, quickstart, url):
    """hiredis is inside, and nobody else finds it there."""
    prefix, libdir = install(meson, compiler, source, work, 'bundled', '-Dhiredis=bundled', '-Dmemory=disabled', '-Dshell=disabled',
                             '-Dreference=disabled', *(f'-D{name}=disabled' for name in LOOPS))
    flags = pkg_config(os.path.join(libdir, 'pkgconfig'), '--libs', '--static', 'hilock-libevent')
    expect('-luuid' in flags and not [flag for flag in flags if 'hiredis' in flag], f'pkg-config names no hiredis: {flags}')
    library = os.path.join(libdir, 'libhilock.so')
    shown = re.findall(r'\bredis\w+', outside.run('nm', '-D', library))
    expect(not shown and not any('hiredis' in name for name in needed(library)), f'no name of hiredis is needed or shown: {shown}')
    programs(compiler, prefix, libdir, work, quickstart, url)


def bundling_is_refused(meson, compiler, source, work):
    done, text = outside.configure(meson, compiler, source, os.path.join(work, 'bundled-build'), '-Dtests=disabled', '-Dhiredis=bundled')
    expect(not done and 'needs the static archive' in text, f'hiredis cannot be bundled, with the reason: {text}')


def main(meson, compiler, source, quickstart, server, bundles):
    with tempfile.TemporaryDirectory() as short, tempfile.TemporaryDirectory(dir='.') as work, outside.redis(server, short) as url:
        work = os.path.abspath(work)
        refusals(meson, compiler, source, work)
        prefix, libdir = install(meson, compiler, source, work, 'shared')
        contents(prefix, libdir)
        pages_of(prefix)
        first_page(source)
        absent(meson, compiler, source, work)
        programs(compiler, prefix, libdir, work, quickstart, url)
        if bundles == 'can':
            bundled(meson, compiler, source, work, quickstart, url)
        else:
            bundling_is_refused(meson, compiler, source, work)


if __name__ == '__main__':
    main(*sys.argv[1:])
