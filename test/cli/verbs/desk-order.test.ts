import { expect, it } from 'vitest';
import { RawClient, until } from '../../modbus/transport/socket/raw-client.js';
import { startProgram } from '../../support/program.mjs';
import { poll } from './mortal-desk.js';
import { METER, TCP_LINE } from './plant.js';

it('whoever has an answer to a write or a poll reads what it did', async () => {
  const program = await startProgram({ config: { devices: METER, lines: { lan: TCP_LINE } } });
  const client = new RawClient(program.tcpPort('lan'));
  const url = `${program.restUrl()}/api/v1`;
  for (let i = 1; i <= 50; i++) {
    await poll(client);
    const page = (await (await fetch(`${url}/traffic?kind=request&limit=1`)).json()) as {
      readonly events: readonly { readonly seq: number }[];
    };
    expect(page.events.length).toBe(1);
    const changed = await fetch(`${url}/devices/meter/registers`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ changes: [{ table: 'holding', address: 0, value: i }] }),
    });
    expect(changed.status).toBe(200);
    const words = await fetch(`${url}/devices/meter/words?table=holding&from=0&to=0`);
    expect(((await words.json()) as { words: number[] }).words).toEqual([i]);
    await fetch(`${url}/traffic`, { method: 'DELETE' });
    const empty = (await (await fetch(`${url}/traffic`)).json()) as typeof page;
    expect(empty.events).toEqual([]);
  }
  client.socket.destroy();
  expect(await program.stop()).toBe(0);
});

/** When asked: keeps many objects for a moment, which makes a young generation grow that may, and tells its size. */
const CROWD = `
  import { isMainThread } from 'node:worker_threads';
  import { getHeapSpaceStatistics } from 'node:v8';
  if (isMainThread) process.once('SIGUSR2', () => {
    const kept = [];
    for (let i = 0; i < 300; i++) {
      kept.push(Array.from({ length: 20000 }, (_, i) => ({ i })));
      if (kept.length > 20) kept.shift();
    }
    const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    console.error('young generation: ' + space_size + ' bytes');
  });
`;

it('the young generation of the lines stays small beside a desk, so that its collections stay short', async () => {
  const program = await startProgram({
    config: { devices: METER, lines: { lan: TCP_LINE } },
    env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(CROWD)}` },
  });
  process.kill(program.pid, 'SIGUSR2');
  const told = () => Number(/young generation: (\d+) bytes/.exec(program.output.stderr)?.[1]);
  await until(() => told() > 0, 'the size is told');
  // It grows a little before the desk is there, and to 33,554,432 bytes where it may.
  expect(told()).toBeLessThan(17_000_000);
  expect(await program.stop()).toBe(0);
});
