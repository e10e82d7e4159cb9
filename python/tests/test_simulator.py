"""The simulator under clients that were written elsewhere: pymodbus and pyserial."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import serial
from pymodbus.client import ModbusTcpClient

from pytest_modbus_sim import Simulator, SimulatorError

HERE = Path(__file__).parent
# Function 3, unit 1, one register at address 0, with its CRC.
READ_VOLTAGE = bytes.fromhex("010300000001840a")


@pytest.fixture(scope="module")
def bench() -> Iterator[Simulator]:
    with Simulator("bench.yaml", directory=HERE) as simulator:
        yield simulator


@contextmanager
def tcp_client(simulator: Simulator) -> Iterator[ModbusTcpClient]:
    line = simulator.line("lan")
    client = ModbusTcpClient(line.host, port=line.port, timeout=2)
    try:
        assert client.connect()
        yield client
    finally:
        client.close()


@contextmanager
def polling(simulator: Simulator) -> Iterator[None]:
    over = threading.Event()

    def poll() -> None:
        with tcp_client(simulator) as client:
            while not over.wait(0.1):
                client.read_holding_registers(0, 1, slave=1)

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_value_that_is_set_is_what_a_client_reads(bench):
    meter = bench.device("meter")
    meter["voltage"] = 229.5
    with tcp_client(bench) as client:
        assert client.read_holding_registers(0, 1, slave=1).registers == [2295]
    assert meter["voltage"] == 229.5


def test_the_port_of_the_file_is_replaced_by_a_free_one(bench):
    assert bench.line("lan").port not in (0, 502)
    assert ":8080" not in bench.url


def test_a_serial_line_is_a_port_that_pyserial_opens(bench):
    bench.device("meter")["voltage"] = 230
    with serial.Serial(bench.line("bus").path, 19200, timeout=5) as port:
        port.write(READ_VOLTAGE)
        assert port.read(7)[3:5] == (2300).to_bytes(2, "big")


def test_a_fault_acts_on_what_its_conditions_want_and_ends_with_its_block(bench):
    with serial.Serial(bench.line("bus").path, 19200, timeout=5) as port:
        with bench.fault(crc="invert", function=3) as damaged:
            port.write(READ_VOLTAGE)
            spoilt = port.read(7)
        port.write(READ_VOLTAGE)
        right = port.read(7)
        assert spoilt[:5] == right[:5]
        assert spoilt[5:] == bytes(each ^ 0xFF for each in right[5:])
        with pytest.raises(SimulatorError, match="no rule"):
            damaged.hits


def test_a_rule_counts_what_it_has_acted_on(bench):
    busy = bench.fault({"exception": 6}, line="lan", count=1)
    with tcp_client(bench) as client:
        assert client.read_holding_registers(0, 1, slave=1).exception_code == 6
        assert not client.read_holding_registers(0, 1, slave=1).isError()
    assert busy.hits == 1
    busy.remove()


def test_waits_for_a_write_that_comes_later(bench):
    def write() -> None:
        with tcp_client(bench) as client:
            client.write_register(10, 7, slave=1)

    threading.Timer(0.3, write).start()
    written = bench.wait_for(function=6, address=10, timeout=20)
    assert written["line"] == "lan"
    assert written["request"].replace(" ", "").endswith("0106000a0007")


def test_waits_only_as_long_as_it_is_told_for_what_never_comes(bench):
    with pytest.raises(TimeoutError, match=r"function 16, address 10-19.* within 0\.2 s"):
        bench.wait_for(function=16, address="10-19", timeout=0.2)


def test_an_exchange_of_an_earlier_test_is_not_what_is_waited_for(bench):
    with pytest.raises(TimeoutError):
        bench.wait_for(function=6, address=10, timeout=0)


def test_a_scenario_passes_and_fails_as_its_client_deserves(bench):
    with polling(bench):
        report = bench.run_scenario("reader.yaml", parameters={"voltage": 231})
    assert report.passed
    assert bench.device("meter")["voltage"] == 231
    silent = {"name": "nobody polls", "steps": [{"expect": {"function": 4}, "within": "100ms"}]}
    file = Path(bench._own) / "silent.yaml"
    file.write_text(repr(silent), encoding="utf-8")
    with pytest.raises(AssertionError, match="nobody polls"):
        bench.run_scenario(file)


def test_a_client_is_tested(bench):
    with polling(bench):
        report = bench.test_client("lan", checks=["watching"], limit="1m")
    assert {each["group"] for each in report.data["checks"]} == {"watching"}
    assert "watching the client" in report.text


def test_a_client_is_fuzzed(bench):
    late = {"after": 0, "requests": 1, "does": {"fault": {"when": {"line": "lan"}, "do": [{"delay": 10}]}}}
    file = Path(bench._own) / "moves.json"
    file.write_text(json.dumps({"schedule": [late]}), encoding="utf-8")
    with polling(bench):
        report = bench.fuzz("lan", replay=file, limit="1m")
    assert report.passed
    assert report.data["moves"] == 2
    assert report.data["findings"] == []


def test_what_is_refused_says_what_was_meant(bench):
    with pytest.raises(SimulatorError, match=r'unknown name "volage", did you mean "voltage"\? \(known: relay, voltage, setpoint\)'):
        bench.device("meter")["volage"] = 1
    with pytest.raises(SimulatorError, match=r'no line "bsu" \(known: (lan, bus|bus, lan)\)'):
        bench.line("bsu")
    with pytest.raises(SimulatorError, match="is serial"):
        bench.line("bus").port


@pytest.mark.modbus_sim({"devices": {}, "lines": {"lan": {"tcp": {}, "units": {"1": "meter"}}}})
def test_a_configuration_with_a_mistake_is_told_with_its_path(request):
    configuration = request.node.get_closest_marker("modbus_sim").args[0]
    with pytest.raises(SimulatorError, match=r"lines\.lan\.units"):
        Simulator(configuration)
