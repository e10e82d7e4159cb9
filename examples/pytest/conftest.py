"""A fixture for pytest: a modbus-sim of its own for each test. It needs the standard library only.

The command is `modbus-sim`; the environment variable MODBUS_SIM names another one, such as `node dist/main.js`.
"""

import json
import os
import re
import shlex
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

import pytest

START_LIMIT_S = 30
STOP_LIMIT_S = 5


class Simulator:
    """A running modbus-sim, whose lines are on free ports. `port(line)` and `path(line)` say where clients find a line."""

    def __init__(self, configuration: dict):
        self._directory = tempfile.TemporaryDirectory(prefix="modbus-sim-")
        file = os.path.join(self._directory.name, "config.json")
        with open(file, "w", encoding="utf-8") as config:
            # JSON is YAML, too. The fixture has no token for REST.
            json.dump({**configuration, "api": {}}, config)
        command = shlex.split(os.environ.get("MODBUS_SIM", "modbus-sim"))
        # The links of virtual lines are in the directory for temporary files: each simulator has its own.
        self._log = open(os.path.join(self._directory.name, "log"), "w+", encoding="utf-8")
        self._process = subprocess.Popen(
            [*command, "--config", file, "--free-ports"],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, "TMPDIR": self._directory.name},
        )
        try:
            self._printed = self._until_ready()
            self.url = re.search(r"^REST on (\S+)", self._printed, re.MULTILINE)[1]
        except BaseException:
            self.stop()
            raise

    def _until_ready(self) -> str:
        watchdog = threading.Timer(START_LIMIT_S, self._process.kill)
        watchdog.start()
        printed = ""
        for line in self._process.stdout:
            if line == "ready\n":
                watchdog.cancel()
                return printed
            printed += line
        watchdog.cancel()
        self._log.seek(0)
        raise RuntimeError(f"modbus-sim did not become ready:\n{printed}{self._log.read()}")

    def rest(self, method: str, path: str, body=None):
        """Sends a request to /api/v1 and returns the body of its answer. Raises RuntimeError with what is wrong."""
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={} if body is None else {"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {json.load(error)['detail']}") from None
        return json.loads(text) if text else None

    def place(self, line: str) -> str:
        return self.rest("GET", f"/lines/{line}")["place"]

    def port(self, line: str) -> int:
        """The port of a line on a socket."""
        return int(self.place(line).rsplit(":", 1)[1])

    def path(self, line: str) -> str:
        """What a client of a serial line opens."""
        return self.place(line)

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()
        self._directory.cleanup()


@pytest.fixture
def start_simulator():
    """A function that starts a simulator with a configuration; all of them are stopped after the test."""
    running = []

    def start(configuration: dict) -> Simulator:
        running.append(Simulator(configuration))
        return running[-1]

    yield start
    for simulator in running:
        simulator.stop()
