"""poll_pymodbus.py PATH|HOST BAUD|PORT TIMEOUT_S FILE

Polls with the synchronous clients of pymodbus 3.0: everything that can be set is left as it is, except the time-out,
which has to be whole seconds there. See clients.mjs for what all pollers do alike.
"""

import logging
import os
import sys
import time

from pymodbus.client import ModbusSerialClient, ModbusTcpClient
from pymodbus.exceptions import ModbusException

place, number, timeout, file = sys.argv[1:]
logging.getLogger().setLevel(logging.CRITICAL)
if place.startswith("/"):
    client = ModbusSerialClient(place, baudrate=int(number), timeout=int(timeout))
else:
    client = ModbusTcpClient(place, port=int(number), timeout=int(timeout))
values = [(0, 0), (0, 0)]


def show():
    """A file that is written in place could be read half."""
    with open(file + ".next", "w", encoding="ascii") as output:
        print(*(f"{first},{second}" for first, second in values), file=output)
    os.rename(file + ".next", file)


while True:
    for question in range(2):
        try:
            # Connects where no connection is open.
            reply = client.read_holding_registers(question * 10, 2, slave=1)
        except (ModbusException, OSError):
            continue
        if not reply.isError() and len(reply.registers) == 2:
            values[question] = tuple(reply.registers)
            show()
    time.sleep(0.25)
