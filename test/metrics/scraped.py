# SPDX-License-Identifier: BSD-3-Clause
"""scraped.py DEMO FOLDER [PROMETHEUS] - a Prometheus on loopback scrapes the shops of the demo. When the demo kills one, HilockProcessGone fires for it,
and when one has slept beyond its lease, HilockOverlap; none of the alerts about servers and rights fires; and every query of the dashboard answers."""
import contextlib
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import served  # noqa: E402

WAITS_S = 120
EMPTY = {'hilock_failed_total'} # has no line before something has failed
CONFIG = """
global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 500ms}
rule_files: ['%s']
scrape_configs:
  - job_name: shops
    static_configs: [{targets: [%s]}]
"""
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Front(http.server.BaseHTTPRequestHandler):
    """The metrics of a shop, at an address that stays when the shop is opened again. Prometheus takes new targets only every five seconds, and a sale
    is over after fifteen."""
    def do_GET(self):
        body = b''
        with contextlib.suppress(OSError):
            with OPENER.open(f'http://{self.server.shop}{self.path}', timeout=1) as answer:
                body = answer.read()
        with contextlib.suppress(OSError): # Prometheus may have hung up
            self.send_response(200 if body else 502)
            self.send_header('Content-Type', 'text/plain; version=0.0.4')
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def fronts():
    """{shop: its front}"""
    found = {name: http.server.ThreadingHTTPServer(('127.0.0.1', 0), Front) for name in 'ABC'}
    for server in found.values():
        server.shop = '127.0.0.1:1'
        threading.Thread(target=server.serve_forever).start()
    try:
        yield found
    finally:
        for server in found.values():
            server.shutdown()
            server.server_close()


def place_of(server):
    return f'127.0.0.1:{server.server_address[1]}'


class Prometheus:
    def __init__(self, program, work, rules, places):
        config = os.path.join(work, 'prometheus.yml')
        with open(config, 'w', encoding='utf-8') as file:
            file.write(CONFIG % (rules, ', '.join(f"'{place}'" for place in places)))
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.place = f'127.0.0.1:{probe.getsockname()[1]}'
        self.targets = len(places)
        self.log = open(os.path.join(work, 'log'), 'w+', encoding='utf-8')
        self.process = subprocess.Popen([program, '--config.file=' + config, '--storage.tsdb.path=' + os.path.join(work, 'data'),
                                         '--web.listen-address=' + self.place, '--log.level=error'], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def ask(self, path, **arguments):
        url = f'http://{self.place}/api/v1/{path}?{urllib.parse.urlencode(arguments)}'
        with OPENER.open(url, timeout=WAITS_S) as answer:
            return json.load(answer)['data']

    def await_scrapes(self):
        end = time.monotonic() + WAITS_S
        while True:
            with contextlib.suppress(OSError):
                if len(self.ask('query', query='up')['result']) == self.targets:
                    return
            if self.process.poll() is not None or time.monotonic() > end:
                self.log.seek(0)
                raise SystemExit('prometheus does not scrape: ' + self.log.read())
            time.sleep(0.1)

    def firing(self):
        """{(alert, instance)}"""
        return {(alert['labels']['alertname'], alert['labels'].get('instance')) for alert in self.ask('alerts')['alerts'] if alert['state'] == 'firing'}

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.log.close()


class Demo:
    """It runs, and what it says is read: where shops are, which is killed and which suspended."""
    def __init__(self, program, shops):
        self.shops, self.lines, self.killed, self.suspended = shops, [], None, None
        self.process = subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            opened = re.search(r'shop (.) is open: process \d+, http://([\d.:]+)/', line)
            killed, suspended = re.search(r'kill -9 of shop (.)', line), re.search(r'shop (.) is suspended', line)
            if opened:
                self.shops[opened[1]].shop = opened[2]
            self.killed = place_of(self.shops[killed[1]]) if killed else self.killed
            self.suspended = place_of(self.shops[suspended[1]]) if suspended else self.suspended

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()


def watch(prometheus, demo):
    """What fired while the demo ran, and what the dashboard's queries answered then, at best."""
    fired, answered = set(), {}
    while demo.process.poll() is None:
        fired |= prometheus.firing()
        for title, query in served.queries(served.read(os.path.join(FOLDER, 'dashboard.json'))):
            found = prometheus.ask('query', query=query.replace('[5m]', '[10s]'))['result']
            answered[title, query] = answered.get((title, query)) or [row for row in found if row['value'][1] != 'NaN']
        time.sleep(0.2)
    return fired, answered


def look_on(program, server, work):
    """(the demo, what fired, what was answered)"""
    with fronts() as shops:
        prometheus = Prometheus(server, work, os.path.join(FOLDER, 'alerts.yml'), [place_of(shop) for shop in shops.values()])
        try:
            prometheus.await_scrapes()
            demo = Demo(program, shops)
            try:
                return demo, *watch(prometheus, demo)
            finally:
                demo.end()
        finally:
            prometheus.end()


def main(program, server):
    with tempfile.TemporaryDirectory() as work:
        demo, fired, answered = look_on(program, server, work)
    print('\n'.join(demo.lines))
    print('fired:', *sorted(f'{alert} ({place})' for alert, place in fired))
    wrong = [] if demo.process.returncode == 0 else [f'the demo ended with status {demo.process.returncode}']
    wrong += [f'{alert} of {place} did not fire' for alert, place in (('HilockProcessGone', demo.killed), ('HilockOverlap', demo.suspended)) if (alert, place) not in fired]
    wrong += [f'{alert} of {place} fired' for alert, place in sorted(fired) if alert not in ('HilockProcessGone', 'HilockOverlap', 'HilockHoldsExpire')]
    wrong += [f'no answer: {title}: {query}' for (title, query), found in answered.items() if not found and not EMPTY & served.named(query)]
    print(*wrong or [f'{len(answered)} queries answered'], sep='\n')
    return len(wrong)


if __name__ == '__main__':
    FOLDER = os.path.abspath(sys.argv[2])
    if len(sys.argv) < 4:
        print('prometheus is not installed (Debian: prometheus): that it scrapes the demo was not checked')
        sys.exit(77)
    sys.exit(main(sys.argv[1], sys.argv[3]))
