// The same with the test runner of Node: a client has to notice that a device lost its power.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { startSimulator } from 'modbus-sim';

const READ_COIL = Buffer.from('000100000006010100000001', 'hex');

let simulator;
before(async () => {
  simulator = await startSimulator({
    devices: { relay: { registers: { coils: [{ address: 0, value: 1, name: 'closed', write: true }] } } },
    lines: { lan: { tcp: {}, units: { 1: 'relay' } } },
  });
});
after(() => simulator.stop());

test('the relay is closed', async () => {
  const socket = connect(simulator.line('lan').port, '127.0.0.1');
  socket.write(READ_COIL);
  const [reply] = await once(socket, 'data');
  socket.destroy();
  assert.equal(reply[9] & 1, 1);
});

test('a relay without power does not answer', async () => {
  await simulator.device('relay').power({ state: 'off' });
  const socket = connect(simulator.line('lan').port, '127.0.0.1');
  socket.write(READ_COIL);
  const { steps, silence } = await simulator.traffic.waitFor(({ silence }) => silence !== null);
  socket.destroy();
  assert.deepEqual(steps, []);
  assert.ok(silence);
});
