import { expect, it } from 'vitest';
import { RawClient } from '../../modbus/transport/socket/raw-client.js';
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
