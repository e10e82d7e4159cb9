"""A client is tested against a simulator: here it is a few lines on a socket, in your tests it is your driver.

The fixture `modbus_sim` comes with the package pytest-modbus-sim (../../python).
"""

import socket

import pytest

READ_VOLTAGE = bytes.fromhex("000100000006010300000001")

pytestmark = pytest.mark.modbus_sim(
    {
        "devices": {
            "meter": {"registers": {"holding": [{"address": 0, "value": 2301, "name": "voltage", "unit": "V", "scale": 0.1}]}}
        },
        "lines": {"lan": {"tcp": {"port": 502}, "units": {"1": "meter"}}},
    }
)


def ask(simulator) -> bytes:
    with socket.create_connection(("127.0.0.1", simulator.line("lan").port), timeout=5) as client:
        client.sendall(READ_VOLTAGE)
        return client.recv(260)


def test_reads_the_voltage(modbus_sim):
    modbus_sim.device("meter")["voltage"] = 231.5
    assert int.from_bytes(ask(modbus_sim)[9:11], "big") == 2315


def test_is_told_that_the_meter_is_busy(modbus_sim):
    with modbus_sim.fault(exception=6, count=1) as busy:
        assert ask(modbus_sim)[7:9] == bytes([0x83, 6])
        assert ask(modbus_sim)[7] == 0x03
        assert busy.hits == 1
