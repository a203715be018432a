"""Drives a browser through chromedriver: WebDriver over loopback, with Python's standard library alone."""
import http.client
import json
import re
import subprocess
import time

# Containers allow no sandbox and have little shared memory.  The pages are our own, so no sandbox is needed.
FLAGS = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
         "--no-first-run"]
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008", "Escape": "\ue00c",
        "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015"}


class Browser:
    def __init__(self, width=1280, height=1400):
        self.process = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        try:
            self.begin(width, height)
        except Exception:
            self.end()
            raise

    def begin(self, width, height):
        port = None
        while port is None:             # it prints the port that it chose, or exits
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("chromedriver ended before it listened")
            port = re.search(r"successfully on port (\d+)", line)
        self.server = http.client.HTTPConnection("127.0.0.1", int(port.group(1)), timeout=60)
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": FLAGS},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = "/session/" + session["sessionId"]
        self.resize(width, height)

    def call(self, method, path, body=None):
        self.server.request(method, path, None if body is None else json.dumps(body),
                            {"Content-Type": "application/json"})
        value = json.loads(self.server.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(value["error"] + ": " + value["message"])
        return value

    def post(self, path, **body):
        return self.call("POST", self.session + path, body)

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.end()

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def devtools(self, command, **params):
        return self.post("/goog/cdp/execute", cmd=command, params=params)

    def resize(self, width, height):
        """Sets the size of the page itself, because a window cannot be as narrow as a phone."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=width < 600)

    def theme(self, name):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path):
        self.errors(), self.requests()                              # drops those of the page before
        self.post("/url", url="file://" + path)

    def run(self, script, *args):
        return self.post("/execute/sync", script=script, args=list(args))

    def value(self, expression):
        return self.run("return " + expression)

    def until(self, expression):
        """Whether this becomes true soon: the browser's events reach a page with some delay."""
        for _ in range(100):
            if self.value(expression):
                return True
            time.sleep(0.02)
        return False

    def move(self, x, y, click=False):
        """Moves the pointer to a place in the window, as a hand would."""
        actions = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y), "origin": "viewport"}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.post("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}])

    def point(self, selector, click=False):
        self.run("document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", selector)
        box = self.run("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", selector)
        self.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, click)

    def click(self, selector):
        self.point(selector, click=True)

    def press(self, *names, shift=False):
        keys = [KEYS.get(name, name) for name in names]
        events = [{"type": t, "value": k} for k in keys for t in ("keyDown", "keyUp")]
        if shift:
            events = [{"type": "keyDown", "value": KEYS["Shift"]}] + events + [
                {"type": "keyUp", "value": KEYS["Shift"]}]
        self.post("/actions", actions=[{"type": "key", "id": "keyboard", "actions": events}])

    def errors(self):
        """The errors in the console since the last call."""
        return [entry["message"] for entry in self.post("/se/log", type="browser")]

    def requests(self):
        """The addresses requested since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.post("/se/log", type="performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
