// A Modbus RTU client for testing scenarios: polls unit 1, and prints a line when it begins.
import { SerialPort } from 'serialport';

const [path = '', periodMs] = process.argv.slice(2);
/** Function 3: one register from address 0 of unit 1. */
const REQUEST = Buffer.from('010300000001840a', 'hex');

const port = new SerialPort({ path, baudRate: 9600 });
port.on('data', () => {});
port.on('open', () => {
  console.log('polling');
  setInterval(() => port.write(REQUEST), Number(periodMs));
});
