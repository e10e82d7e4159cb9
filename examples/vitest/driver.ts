// The program under test: a driver that reads a voltage by Modbus TCP, and asks again while the meter is busy.
import { once } from 'node:events';
import { connect } from 'node:net';

const READ_VOLTAGE = Buffer.from('000100000006010300000001', 'hex');
const BUSY = 6;

export async function readVoltage(port: number): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  try {
    for (;;) {
      socket.write(READ_VOLTAGE);
      const [reply] = (await once(socket, 'data')) as [Buffer];
      if (reply[7] === 0x03) return reply.readUInt16BE(9) / 10;
      if (reply[8] !== BUSY) throw new Error(`exception ${reply[8]}`);
    }
  } finally {
    socket.destroy();
  }
}
