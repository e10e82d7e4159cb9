import modbusSerial from 'modbus-serial';
import { poll } from './poll.mjs';

// modbus-serial.mjs PATH|HOST BAUD|PORT TIMEOUT_MS FILE
const [place = '', number, timeoutMs, file = ''] = process.argv.slice(2);

await poll(file, async () => {
  const client = new modbusSerial.default();
  client.on('error', () => {});
  if (place.startsWith('/')) await client.connectRTUBuffered(place, { baudRate: Number(number) });
  else await client.connectTCP(place, { port: Number(number) });
  client.setID(1);
  client.setTimeout(Number(timeoutMs));
  return {
    read: async (address, quantity) => (await client.readHoldingRegisters(address, quantity)).data,
    isOpen: () => client.isOpen,
    close: () => client.close(() => {}),
  };
});
