"""A client is tested against a simulator: here it is a few lines on a socket, in your tests it is your driver."""

import socket

import pytest

METER = {
    "devices": {
        "meter": {"registers": {"holding": [{"address": 0, "value": 2301, "name": "voltage", "unit": "V", "scale": 0.1}]}}
    },
    "lines": {"lan": {"tcp": {"port": 502}, "units": {"1": "meter"}}},
}

READ_VOLTAGE = bytes.fromhex("000100000006010300000001")


@pytest.fixture
def meter(start_simulator):
    return start_simulator(METER)


def ask(simulator) -> bytes:
    with socket.create_connection(("127.0.0.1", simulator.port("lan")), timeout=5) as client:
        client.sendall(READ_VOLTAGE)
        return client.recv(260)


def test_reads_the_voltage(meter):
    meter.rest("PUT", "/devices/meter/values/voltage", {"value": 231.5})
    assert int.from_bytes(ask(meter)[9:11], "big") == 2315


def test_is_told_that_the_meter_is_busy(meter):
    meter.rest("PUT", "/faults/busy", {"when": {"count": 1}, "do": {"exception": 6}})
    assert ask(meter)[7:9] == bytes([0x83, 6])
    assert ask(meter)[7] == 0x03


def test_a_mistake_is_told_with_its_place(meter):
    with pytest.raises(RuntimeError, match="no line"):
        meter.port("wan")
