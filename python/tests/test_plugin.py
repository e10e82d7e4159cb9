"""What users of the plugin see: where the configuration comes from, and what the report of a failed test has."""

from pathlib import Path

import pytest

METER = """
devices: {meter: {registers: {holding: [{address: 0, value: 7}]}}}
lines: {lan: {tcp: {}, units: {1: meter}}}
"""

TESTS = """
import socket
import pytest

READ = bytes.fromhex("000100000006010300000001")

def ask(simulator):
    with socket.create_connection(("127.0.0.1", simulator.line("lan").port), timeout=5) as client:
        client.sendall(READ)
        return client.recv(260)[-1]

@pytest.mark.modbus_sim("meter.yaml")
def test_a_file_beside_the_test(modbus_sim):
    assert ask(modbus_sim) == 8

@pytest.mark.modbus_sim({
    "devices": {"meter": {"registers": {"holding": [{"address": 0, "value": 5}]}}},
    "lines": {"lan": {"tcp": {}, "units": {"1": "meter"}}},
})
def test_a_dict(modbus_sim):
    assert ask(modbus_sim) == 5

def test_nothing(modbus_sim):
    assert modbus_sim.line("demo").path.startswith("/dev/pts/")
"""


def test_a_test_that_failed_shows_its_traffic_and_a_capture_for_wireshark(pytester: pytest.Pytester):
    pytester.makefile(".yaml", meter=METER)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("--modbus-sim-traffic=kept", "--junitxml=junit.xml")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*traffic of modbus_sim*", "*  lan  in    unit 1 read holding registers 0*", "*.pcapng"])
    capture = next(Path("kept").glob("*.pcapng"))
    assert capture.read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    assert "unit 1 read holding registers 0: 7" in capture.with_suffix(".txt").read_text(encoding="utf-8")
    assert capture.name in Path("junit.xml").read_text(encoding="utf-8")


def test_an_argument_that_the_mark_does_not_know_is_an_error(pytester: pytest.Pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.modbus_sim(config="meter.yaml")
        def test_misspelt(modbus_sim): pass

        @pytest.mark.modbus_sim("meter.yaml", "more.yaml")
        def test_two(modbus_sim): pass
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*no argument config (known: configuration)*", "*takes one configuration, not 2*"])


def test_a_traceback_ends_at_the_line_of_the_test(pytester: pytest.Pytester):
    pytester.makepyfile("def test_nothing_asks(modbus_sim):\n    modbus_sim.wait_for(unit=1, timeout=0)\n")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([">*modbus_sim.wait_for(unit=1, timeout=0)", "*no such exchange (unit 1) within 0 s"])
    result.stdout.no_fnmatch_line("*pytest_modbus_sim/simulator.py*")
