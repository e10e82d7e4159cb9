import { once } from 'node:events';
import { SerialPort } from 'serialport';

/* rtu-floor.mjs PATH: a serialport that answers fixed bytes at every 8th byte, the least that a server can do. */
const port = new SerialPort({ path: process.argv[2], baudRate: 115200 });
await once(port, 'open');

const answer = Buffer.alloc(25, 1);
let received = 0;
port.on('data', (chunk) => {
  received += chunk.length;
  if (received < 8) return;
  received -= 8;
  port.write(answer);
});
process.send('ready');
