"""serve_pymodbus.py PORT|PATH BAUD

Serves one device with pymodbus 3.0, as its examples do: unit 1 with 300 registers and 2100 bits in each table.
"""

import asyncio
import logging
import sys

from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.device import ModbusDeviceIdentification
from pymodbus.server import StartAsyncSerialServer, StartAsyncTcpServer
from pymodbus.transaction import ModbusRtuFramer

place, baud = sys.argv[1:]
logging.getLogger().setLevel(logging.CRITICAL)


def block(values):
    """pymodbus counts from 1 unless zero_mode is set."""
    return ModbusSequentialDataBlock(0, list(values))


slave = ModbusSlaveContext(
    hr=block(1000 + i for i in range(300)),
    ir=block(2000 + i for i in range(300)),
    co=block(i % 3 != 0 for i in range(2100)),
    di=block(i % 3 != 1 for i in range(2100)),
    zero_mode=True,
)
context = ModbusServerContext(slaves={1: slave}, single=False)
identity = ModbusDeviceIdentification(
    info_name={"VendorName": "Pymodbus", "ProductCode": "PM", "MajorMinorRevision": "3.0"}
)


async def serve():
    if place.startswith("/"):
        await StartAsyncSerialServer(
            context, identity, framer=ModbusRtuFramer, port=place, baudrate=int(baud), timeout=0.005
        )
    else:
        await StartAsyncTcpServer(context, identity, address=("127.0.0.1", int(place)))


asyncio.run(serve())
