"""The plugin of pytest: the fixture `modbus_sim`, and the traffic of a test that failed in its report."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from .simulator import Simulator, running

#: The newest lines of traffic that a report shows. The file beside the capture has more.
SHOWN_LINES = 40

_capture_directory = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("modbus_sim_config", "configuration of the fixture modbus_sim (default: the demo)")
    group = parser.getgroup("modbus-sim")
    group.addoption(
        "--modbus-sim-traffic",
        metavar="DIR",
        help="where the traffic of tests that failed is written (default: a new temporary directory)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "modbus_sim(configuration): content or path of the configuration for the fixture modbus_sim"
    )


@pytest.fixture
def modbus_sim(request: pytest.FixtureRequest) -> Iterator[Simulator]:
    """A Modbus simulator of its own for each test, on free ports.

    Its configuration is that of the mark `modbus_sim` (a dict, or a file beside the test), of an indirect parameter, of
    `modbus_sim_config` in pytest's settings, or the demo.
    """
    directory = request.path.parent
    mark = request.node.get_closest_marker("modbus_sim")
    configured = request.config.getini("modbus_sim_config")
    configuration: Any = request.config.rootpath / configured if configured else None
    if mark is not None:
        configuration = _of_mark(mark, configuration)
    configuration = getattr(request, "param", configuration)
    with Simulator(configuration, directory=directory) as simulator:
        yield simulator


def _of_mark(mark: pytest.Mark, default: Any) -> Any:
    given = [*mark.args, *(value for key, value in mark.kwargs.items() if key == "configuration")]
    if len(given) > 1:
        pytest.fail(f"the mark modbus_sim takes one configuration, not {len(given)}", pytrace=False)
    unknown = [key for key in mark.kwargs if key != "configuration"]
    if unknown:
        names = ", ".join(unknown)
        pytest.fail(f"the mark modbus_sim has no argument {names} (known: configuration)", pytrace=False)
    return given[0] if given else default


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # Those that serve several tests: what is shown of a test begins with it.
    for simulator in list(running):
        simulator.begin_test()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    if not report.failed or call.when == "teardown":
        return
    for name, value in getattr(item, "funcargs", {}).items():
        if isinstance(value, Simulator) and value in running:
            report.sections.append((f"traffic of {name}", _attached(item, name, value)))


def _attached(item: pytest.Item, name: str, simulator: Simulator) -> str:
    """The traffic of a simulator as text, and where the files with it are."""
    # A test that has failed stays the news, whatever becomes of its traffic.
    try:
        text = simulator.traffic()
        stem = _directory(item.config) / re.sub(r"[^\w.-]+", "_", f"{item.nodeid}-{name}")[-150:]
        file = stem.with_name(f"{stem.name}.pcapng")
        stem.with_name(f"{stem.name}.txt").write_text(f"{text}\n", encoding="utf-8")
        lines = text.splitlines() or ["nothing passed the lines"]
        simulator.capture(file)
    except Exception as error:
        return f"not available: {error}"
    item.user_properties.append(("modbus_sim_capture", str(file)))
    left_out = len(lines) - SHOWN_LINES
    before = [f"({left_out} lines before these)"] if left_out > 0 else []
    return "\n".join([*before, *lines[-SHOWN_LINES:], str(file)])


def _directory(config: pytest.Config) -> Path:
    """The directory for traffic, which is made when the first test fails."""
    known = config.stash.get(_capture_directory, None)
    if known is None:
        given = config.getoption("modbus_sim_traffic")
        known = Path(given or tempfile.mkdtemp(prefix="modbus-sim-traffic-")).resolve()
        known.mkdir(parents=True, exist_ok=True)
        config.stash[_capture_directory] = known
    return known
