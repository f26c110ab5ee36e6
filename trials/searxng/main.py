"""Puts the real SearXNG behind the real broker: its answers, its refusals, and an engine of it that does not answer.

Word: a folder with SearXNG's source, which is no package. It runs on loopback, with one engine, which is served here."""

import http.server
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TOKEN = "d" * 64


class Engine(http.server.BaseHTTPRequestHandler):
    """What SearXNG asks: two pages for any words; 500 for `broken`."""

    def do_GET(self):
        words = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query).get("q", [""])[0]
        hits = [
            {"t": "Grey <b>herons</b> & co", "u": "https://example.org/herons?a=b&c=d", "c": f"They fish at dawn: {words}"},
            {"t": "Two", "u": "https://example.org/2", "c": ""},
        ]
        body = json.dumps({"hits": hits}).encode()
        self.send_response(500 if "broken" in words else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(what, look):
    for _ in range(600):
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit(f"trials searxng: {what} did not begin")


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=5).status
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return None


def settings(port, engine, formats):
    return json.dumps({
        "use_default_settings": {"engines": {"keep_only": []}},
        "search": {"formats": formats},
        "server": {"secret_key": "of a trial", "limiter": False, "bind_address": "127.0.0.1", "port": port},
        "engines": [{
            "name": "pages", "engine": "json_engine", "search_url": f"http://127.0.0.1:{engine}/?q={{query}}",
            "results_query": "hits", "title_query": "t", "url_query": "u", "content_query": "c", "enable_http": True,
            "shortcut": "pg", "categories": "general", "disabled": False,
        }],
    })


class House:
    """The broker over a house whose search is the SearXNG at this address."""

    def __init__(self, folder, url):
        for path, text in {
            "owner.toml": f'[search]\nprovider = "searxng"\nbase_url = "{url}"\n',
            ".self/broker/tokens.json": json.dumps({"life": {"number": 1, "token": TOKEN}}),
        }.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        program = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/broker"
        log = (folder / "log").open("w")
        self.child = subprocess.Popen([program, "--house", folder], stderr=log, stdout=log, env={"PATH": os.environ["PATH"]})
        self.url = until("the broker", lambda: re.search(r"serving on (\S+)", (folder / "log").read_text()))[1]

    def ask(self, path, body=None):
        heads = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        asked = urllib.request.Request(f"http://{self.url}{path}", json.dumps(body).encode() if body else None, heads)
        return json.loads(urllib.request.urlopen(asked, timeout=40).read())

    def search(self, words, **more):
        query = {"q": words, "format": "json", **more}
        return self.ask("/service", {"service": "search", "method": "GET", "path": "/search", "query": query})


def judge(sources, formats, look):
    """Runs SearXNG with these formats behind a broker, and looks."""
    engine = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    port = free_port()
    children = []
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        (place / "settings.yml").write_text(settings(port, engine.server_port, formats))
        env = {**os.environ, "SEARXNG_SETTINGS_PATH": str(place / "settings.yml")}
        try:
            with (place / "searxng.log").open("w") as log:
                command = [sys.executable, "-m", "searx.webapp"]
                children.append(subprocess.Popen(command, cwd=sources, env=env, stdout=log, stderr=log))
            until("SearXNG", lambda: answers(f"http://127.0.0.1:{port}/"))
            house = House(place / "house", f"http://127.0.0.1:{port}")
            children.append(house.child)
            return look(house)
        finally:
            for child in children:
                child.terminate()
                child.wait()
            engine.shutdown()


def gives_json(house):
    found = house.search("grey herons & co")
    body = json.loads(found["body"])
    first, silent = body["results"][0], json.loads(house.search("broken")["body"])
    return {
        "a search is answered": (found["ok"], found["status"]) == (True, 200),
        "it asks what was meant": body["query"] == "grey herons & co",
        "a result has title, url and content": (first["title"], first["url"]) == ("Grey <b>herons</b> & co", "https://example.org/herons?a=b&c=d")
        and first["content"].startswith("They fish at dawn"),
        "what is found taints": house.ask("/status")["tainted"] is True,
        "what is new and later pages are asked": house.search("x", time_range="week", pageno="2")["status"] == 200,
        "a wrong parameter is 400, with a reason": house.search("x", time_range="bogus")["status"] == 400,
        "an engine that fails is named": silent["results"] == [] and silent["unresponsive_engines"][0][0] == "pages",
    }


def gives_none(house):
    return {"without json in its formats it is 403": house.search("herons")["status"] == 403}


def main(sources):
    said = {**judge(sources, ["html", "json"], gives_json), **judge(sources, ["html"], gives_none)}
    for what, is_so in said.items():
        print(f"trials searxng: {what}: {'yes' if is_so else 'NO'}")
    return 0 if all(said.values()) else 1


sys.exit(main(Path(sys.argv[1]).resolve()))
