"""A simulator in a process of its own, and what a test does with it."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, TypedDict, Union

from .command import NOT_FOUND, find_command

#: pytest ends the traceback of a failure at the line of the test (`--full-trace` shows the rest).
__tracebackhide__ = True

#: What a simulator is made of: the content of a native file, the path of one, or None for the demo.
Configuration = Union[Mapping[str, Any], str, "os.PathLike[str]", None]

#: The longest time for a start, in seconds, on a busy machine.
START_LIMIT = 120.0
STOP_LIMIT = 5.0
#: The longest time for an answer of REST, in seconds, and the longest that it is asked to wait for traffic.
ANSWER_LIMIT = 30.0
LONGEST_WAIT = 10.0
#: The most events that `traffic` shows.
SHOWN_EVENTS = 1000


class SimulatorError(Exception):
    """The simulator could not be started, or refused what it was asked."""


class Exchange(TypedDict):
    """A request and what became of it; `GET /api/v1/exchanges` in docs/rest.md has all of its keys."""

    id: int
    requestId: int
    time: str
    line: str
    client: str | None
    unit: int
    function: int
    request: str
    faults: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    silence: str | None
    ended: str


#: The simulators that are running.
running: weakref.WeakSet[Simulator] = weakref.WeakSet()


class Simulator:
    """A running modbus-sim, whose lines are on free ports whatever its configuration says. `stop` ends it.

    Relative paths begin at `directory`, the current one unless another is given.
    """

    def __init__(self, configuration: Configuration = None, *, directory: str | os.PathLike[str] = ".") -> None:
        self.directory = Path(directory).resolve()
        #: The traffic that a test sees comes after this number; the traffic before is that of earlier tests.
        self._begin = 0
        self._conditions: frozenset[str] | None = None
        self._rules = 0
        self._temporary = tempfile.TemporaryDirectory(prefix="modbus-sim-")
        self._own = Path(self._temporary.name)
        # Of this simulator alone, whatever token the configuration has.
        self._token = secrets.token_hex(16)
        arguments = ["--free-ports", "--http_host", "127.0.0.1", "--http_port", "0"]
        if configuration is not None:
            arguments += ["--config", str(self._file(configuration))]
        self._process: subprocess.Popen[bytes] | None = None
        try:
            with open(self._own / "out", "wb") as out:
                self._process = subprocess.Popen(
                    self._command(arguments),
                    env=self._environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    # A shell does not pass a signal on, so it is sent to all of them.
                    start_new_session=True,
                )
            self.url = self._until_ready(self._process)
        except BaseException:
            self.stop()
            raise
        running.add(self)

    def line(self, name: str) -> Line:
        """A line by its name. Raises SimulatorError with the names that are known if there is none."""
        try:
            view = self.rest("GET", f"/lines/{_quoted(name)}")
        except SimulatorError as error:
            known = ", ".join(each["name"] for each in self.rest("GET", "/lines")["lines"])
            raise SimulatorError(f"{error} (known: {known or 'none'})") from None
        return Line(self, view)

    def device(self, name: str) -> Device:
        """A device by its name. Its first use raises SimulatorError if there is none."""
        return Device(self, name)

    def fault(
        self,
        *faults: Mapping[str, Any],
        rule: str | None = None,
        seed: int | None = None,
        **keys: Any,
    ) -> Fault:
        """Puts a fault rule in force, until the `with` block ends or `remove` is called.

        Keys that are conditions (`unit`, `function`, `address`, `count`, …) say which requests it is for. All others are
        faults with their parameters (`crc="invert"`, `delay=250`), in the order in which they act, after `faults`.
        docs/faults.md has all of them. `rule` is the name of the rule.
        """
        if self._conditions is None:
            schema = self.rest("GET", "/schemas/fault-rule")["schema"]
            self._conditions = frozenset(schema["properties"]["when"]["properties"])
        self._rules += 1
        name = rule or f"pytest-{self._rules}"
        when = {key: value for key, value in keys.items() if key in self._conditions}
        do = [*faults, *({key: value} for key, value in keys.items() if key not in self._conditions)]
        body: dict[str, Any] = {"when": when, "do": do}
        if seed is not None:
            body["seed"] = seed
        self.rest("PUT", f"/faults/{_quoted(name)}", body)
        return Fault(self, name)

    def wait_for(
        self,
        match: Callable[[Exchange], bool] | None = None,
        *,
        timeout: float = 5.0,
        after: Exchange | int | None = None,
        **filters: Any,
    ) -> Exchange:
        """The first exchange since the test began, or after `after`, that has ended and that the filters want.

        Filters are those of `GET /api/v1/exchanges` (`line`, `unit`, `function`, `address`, `rule`, …): a value, text with
        ranges such as `"1-4"`, or a list. `match` looks at what passes them. Raises TimeoutError after `timeout` seconds.
        """
        end = time.monotonic() + timeout
        seen = self._begin if after is None else after if isinstance(after, int) else after["id"]
        query = {key: _listed(value) for key, value in filters.items()}
        while True:
            left = max(0.0, end - time.monotonic())
            wait = f"{min(left, LONGEST_WAIT) * 1000:.0f}ms"
            asked = urllib.parse.urlencode({**query, "after": seen, "limit": 1000, "wait": wait})
            page = self.rest("GET", f"/exchanges?{asked}")
            exchanges: list[Exchange] = page["exchanges"]
            for exchange in exchanges:
                if match is None or match(exchange):
                    return exchange
            seen = page["next"]
            if left == 0 and page["next"] >= page["last"]:
                wanted = ", ".join(f"{key} {value}" for key, value in query.items()) or "any"
                raise TimeoutError(f"no such exchange ({wanted}) within {timeout:g} s")

    def run_scenario(
        self,
        file: str | os.PathLike[str],
        *,
        parameters: Mapping[str, Any] | None = None,
        dut: str | None = None,
        check: bool = True,
    ) -> Report:
        """Runs a scenario on this simulator. Raises AssertionError with its report if it does not pass.

        `devices` and `lines` of the file are not used. With `check=False`, the report tells whether it passed.
        """
        path = self.directory / file
        sets = [word for key, value in (parameters or {}).items() for word in ("--set", f"{key}={value}")]
        return self._judged(["test", str(path), *sets, *_option("dut", dut)], path.parent, check)

    def test_client(
        self,
        line: str,
        *,
        checks: Iterable[str] = (),
        unit: int | None = None,
        limit: str | None = None,
        seed: int | None = None,
        dut: str | None = None,
        check: bool = True,
    ) -> Report:
        """Tests the client that polls a line (docs/test-client.md). Raises AssertionError with the report if a check failed.

        `dut` is the command line of the client, in which `{lines.NAME.port}` stands for a port; without it, a client must
        poll already. `limit` is the longest time, such as `"2m"`.
        """
        options = [*_option("checks", ",".join(checks) or None), *_option("unit", unit), *_option("limit", limit)]
        options += [*_option("seed", seed), *_option("dut", dut)]
        return self._judged(["test-client", line, *options], self.directory, check)

    def fuzz(
        self,
        line: str,
        *,
        moves: int | None = None,
        leave_out: Sequence[str] = (),
        replay: str | os.PathLike[str] | None = None,
        unit: int | None = None,
        limit: str | None = None,
        seed: int | None = None,
        dut: str | None = None,
        check: bool = True,
    ) -> Report:
        """Fuzzes the client that polls a line (docs/fuzz.md). Raises AssertionError with the report if it failed.

        `moves` is the most that are tried, `leave_out` kinds of moves that are not; `replay` is a report of `fuzz --json`,
        whose schedule is played. `dut` and `limit` are those of `test-client`.
        """
        file = None if replay is None else self.directory / replay
        options = [*_option("moves", moves), *_option("except", ",".join(leave_out) or None), *_option("replay", file)]
        options += [*_option("unit", unit), *_option("limit", limit), *_option("seed", seed), *_option("dut", dut)]
        return self._judged(["fuzz", line, *options], self.directory, check)

    def traffic(self, after: int | None = None) -> str:
        """The newest traffic since the test began, or after an event, in words: one event a line."""
        begin = self._begin if after is None else after
        # Without a number the newest events come, and those of earlier tests are left out here.
        events = [each for each in self.rest("GET", f"/traffic?limit={SHOWN_EVENTS}")["events"] if each["seq"] > begin]
        return "\n".join(_event_line(each) for each in events)

    def capture(self, file: str | os.PathLike[str], after: int | None = None) -> None:
        """Writes the traffic since the test began, or after an event, to a file for Wireshark (pcapng)."""
        begin = self._begin if after is None else after
        Path(file).write_bytes(self._ask("GET", f"/capture.pcapng?after={begin}"))

    def begin_test(self) -> None:
        """Lets `wait_for`, `traffic` and `capture` begin at this moment. The fixtures of this package call it."""
        self._begin = self.rest("GET", "/traffic?limit=1")["last"]

    def rest(self, method: str, path: str, body: Any = None) -> Any:
        """Sends a request to `/api/v1` (docs/rest.md): `rest("GET", "/devices")`. Returns the body of the answer.

        Raises SimulatorError with the mistakes, if the request is refused.
        """
        text = self._ask(method, path, body)
        return json.loads(text) if text else None

    def stop(self) -> None:
        """Ends the simulator. It may be called again."""
        running.discard(self)
        process = self._process
        if process is not None and process.poll() is None:
            _send(process, signal.SIGTERM)
            try:
                process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                _send(process, getattr(signal, "SIGKILL", signal.SIGTERM))
                process.wait()
        self._temporary.cleanup()

    def __enter__(self) -> Simulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _file(self, configuration: Mapping[str, Any] | str | os.PathLike[str]) -> Path:
        if not isinstance(configuration, Mapping):
            return self.directory / configuration
        file = self._own / "configuration.json"
        file.write_text(json.dumps(configuration), encoding="utf-8")
        return file

    def _command(self, arguments: Sequence[str], *directories: Path) -> list[str]:
        command = find_command(os.environ, [self._own, self.directory, *directories])
        if command is None:
            raise SimulatorError(NOT_FOUND)
        return [*command, *arguments]

    def _environment(self) -> dict[str, str]:
        # Links of virtual lines are in the directory for temporary files: each simulator has its own.
        return {**os.environ, "MODBUS_SIM_TOKEN": self._token, "TMPDIR": str(self._own)}

    def _until_ready(self, process: subprocess.Popen[bytes]) -> str:
        end = time.monotonic() + START_LIMIT
        while True:
            has_ended = process.poll() is not None
            printed = (self._own / "out").read_text(encoding="utf-8", errors="replace")
            address = re.search(r"^REST on (\S+)(?s:.*)^ready$", printed, re.MULTILINE)
            if address:
                return address[1]
            if has_ended:
                raise SimulatorError(f"modbus-sim did not start:\n{printed}")
            if time.monotonic() > end:
                raise SimulatorError(f"modbus-sim was not ready within {START_LIMIT:g} s:\n{printed}")
            time.sleep(0.02)

    def _ask(self, method: str, path: str, body: Any = None) -> bytes:
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        if data is None:
            del headers["content-type"]
        request = urllib.request.Request(f"{self.url}/api/v1{path}", method=method, data=data, headers=headers)
        try:
            # No proxy of the environment stands between a test and its own machine.
            with _opener.open(request, timeout=ANSWER_LIMIT) as answer:
                content: bytes = answer.read()
                return content
        except urllib.error.HTTPError as error:
            with error:
                detail = _detail(error.read())
            raise SimulatorError(f"{method} {path}: {detail or error}") from None
        except OSError as error:
            raise SimulatorError(f"{method} {path}: no answer: {error}") from error

    def _judged(self, arguments: Sequence[str], directory: Path, check: bool) -> Report:
        file = self._own / "report.json"
        file.unlink(missing_ok=True)
        command = self._command([*arguments, "--url", self.url, "--json", str(file)], directory)
        over = subprocess.run(
            command,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        if over.returncode not in (0, 1) or not file.exists():
            raise SimulatorError(f"modbus-sim {' '.join(arguments)}:\n{over.stdout}")
        report = Report(over.returncode == 0, over.stdout, json.loads(file.read_text(encoding="utf-8")))
        if check and not report.passed:
            raise AssertionError(report.text)
        return report


class Line:
    """A line of a simulator as it was when it was asked for."""

    def __init__(self, simulator: Simulator, view: dict[str, Any]) -> None:
        self._simulator = simulator
        #: The answer of `GET /api/v1/lines/NAME`.
        self.view = view

    @property
    def name(self) -> str:
        return str(self.view["name"])

    @property
    def host(self) -> str:
        """The address of a socket. Raises SimulatorError for a serial line."""
        return str(self._address()["host"])

    @property
    def port(self) -> int:
        """The port of a socket. Raises SimulatorError for a serial line."""
        return int(self._address()["port"])

    @property
    def path(self) -> str:
        """What the client of a serial line opens, such as `/dev/pts/3`. Raises SimulatorError for a socket."""
        if "address" in self.view:
            raise SimulatorError(f"line {self.name} is a socket: it has a port but no path")
        return str(self.view["place"])

    def stop(self) -> None:
        """Closes the line. Its clients are disconnected."""
        self._change("POST", "/stop")

    def start(self) -> None:
        """Opens the line again. A socket has another free port then."""
        self._change("POST", "/start")

    def change(self, settings: Mapping[str, Any]) -> None:
        """Changes settings while the line serves: `{"serial": {"baudRate": 9600}}`."""
        self._change("PUT", "", settings)

    def _address(self) -> dict[str, Any]:
        address: dict[str, Any] | None = self.view.get("address")
        if address is None:
            raise SimulatorError(f"line {self.name} is serial: it has a path but no port")
        return address

    def _change(self, method: str, below: str, body: Any = None) -> None:
        self.view = self._simulator.rest(method, f"/lines/{_quoted(self.name)}{below}", body)


class Device:
    """A device of a simulator: a mapping of its values by name, in their units."""

    def __init__(self, simulator: Simulator, name: str) -> None:
        self._simulator = simulator
        self.name = name

    def __getitem__(self, name: str) -> float | int | str | None:
        """A value in its unit; None while it is not available. Text where a float could not stand for it."""
        value: float | int | str | None = self._ask("GET", f"/values/{_quoted(name)}")["value"]
        return value

    def __setitem__(self, name: str, value: float | int | str | bool) -> None:
        """Sets a value, whether or not clients may write it."""
        self._ask("PUT", f"/values/{_quoted(name)}", {"value": value})

    def power(self, state: str, **more: Any) -> None:
        """Switches the power `"on"`, `"off"` or `"cycle"`, with `forMs` and `bootMs`. Without it, nothing is answered."""
        self._ask("POST", "/power", {"state": state, **more})

    def reset(self) -> None:
        """Restores the values of the configuration."""
        self._ask("POST", "/reset")

    def _ask(self, method: str, below: str, body: Any = None) -> Any:
        return self._simulator.rest(method, f"/devices/{_quoted(self.name)}{below}", body)


class Fault:
    """A fault rule in force. It ends with its `with` block, with `remove`, or with the simulator."""

    def __init__(self, simulator: Simulator, name: str) -> None:
        self._simulator = simulator
        self.name = name

    @property
    def hits(self) -> int:
        """How many requests the rule has acted on."""
        return int(self._simulator.rest("GET", f"/faults/{_quoted(self.name)}")["hits"])

    def remove(self) -> None:
        """Takes the rule out of force."""
        self._simulator.rest("DELETE", f"/faults/{_quoted(self.name)}")

    def __enter__(self) -> Fault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


class Report:
    """What a run found."""

    def __init__(self, passed: bool, text: str, data: dict[str, Any]) -> None:
        self.passed = passed
        #: As a person reads it.
        self.text = text
        #: The report of `--json`, with a verdict for each step or check.
        self.data = data

    def __repr__(self) -> str:
        return f"<Report {self.data.get('verdict')}>"


_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _send(process: subprocess.Popen[bytes], number: int) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, number)
    else:
        process.terminate()


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _listed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple, set, range)) else str(value)


def _option(name: str, value: Any) -> list[str]:
    return [] if value is None else [f"--{name}", str(value)]


def _detail(body: bytes) -> str | None:
    try:
        detail: str = json.loads(body)["detail"]
        return detail
    except (ValueError, KeyError, TypeError):
        return None


def _event_line(event: Mapping[str, Any]) -> str:
    data = event.get("bytes")
    words = [event["time"][11:26], event["line"], event["direction"].ljust(4), event.get("text", "")]
    return "  ".join(words) + (f"  [{data}]" if data else "")
