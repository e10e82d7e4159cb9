# pymodbus_server.py: pymodbus' asyncio TCP server with ten holding registers, on any free port of the loopback.
# Tells the port on its standard output when it listens. For pymodbus 3, as Debian has it.
import asyncio
import logging

from pymodbus import __version__
from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.server.async_io import ModbusTcpServer


async def main():
    # Addresses of the context begin at 1 unless zero_mode says otherwise.
    block = ModbusSequentialDataBlock(0, [4711] * 10)
    context = ModbusServerContext(slaves=ModbusSlaveContext(hr=block, zero_mode=True), single=True)
    server = ModbusTcpServer(context, address=("127.0.0.1", 0))
    serving = asyncio.ensure_future(server.serve_forever())
    while server.server is None or not server.server.sockets:
        await asyncio.sleep(0.01)
    print(server.server.sockets[0].getsockname()[1], __version__, flush=True)
    await serving


# It calls every client that leaves an error.
logging.disable(logging.CRITICAL)
asyncio.run(main())
