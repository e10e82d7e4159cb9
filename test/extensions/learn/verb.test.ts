import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newClient } from '../../../src/modbus/client/client.js';
import { runHere, scratchSpace } from '../../cli/verbs/run.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

const { newDirectory, newFile } = scratchSpace();

stopAfterEach();

it('modbus-sim learn --line learns from what a running simulator has kept', async () => {
  const { rest, port } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: [7, 8] }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 5: 'meter' } } },
    }),
  );
  const url = await rest.app.listen({ host: '127.0.0.1', port: 0 });
  const client = newClient({ kind: 'tcp', host: '127.0.0.1', port: port('lan'), framing: 'socket' });
  await client.ask({ unitId: 5, pdu: Uint8Array.of(3, 0, 0, 0, 2), timeout: 20_000 });
  await client.close();
  const { code, stdout } = await runHere(['learn', '--line', 'lan', '--url', url]);
  expect(code).toBe(0);
  expect(stdout).toContain('value: [7, 8]');
  const wrong = await runHere(['learn', '--line', 'wan', '--url', url]);
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('wan');
});

it('modbus-sim learn writes a file that check takes, and says what it left out', async () => {
  const directory = newDirectory();
  const target = join(directory, 'bench.yaml');
  const log = newFile(
    'send ->: 00 01 00 00 00 06 01 03 0b b7 00 02\nreceived <-: 01 00 00 00 00 07 01 03 04 00 00 00 00\nframe 00 01 02 03\n',
    'report.log',
  );
  const { code, stdout, stderr } = await runHere(['learn', log, '-o', target]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `wrote ${target}; serve it with modbus-sim --config ${target}\n`,
  });
  expect(stderr).toBe(
    `${log}: 1 request to unit 1, 0 without a reply\n1 line with bytes left out, without a direction: line 3 (frame 00 01 02 03)\nsent again: 1 of 1 request got the same reply, byte for byte\naccording to its text, the log has 1 request and 1 reply, as many as were learned\n`,
  );
  expect(await runHere(['check', target])).toMatchObject({ code: 0 });
  expect(readFileSync(target, 'utf8')).toContain('transaction: swapped');
  const again = await runHere(['learn', log, '-o', target]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists; --force overwrites it') });
  expect(await runHere(['learn', newFile('nothing', 'empty.log')])).toMatchObject({
    code: 1,
    stdout: '',
  });
});

it('modbus-sim learn says how many requests get the same reply, and fails for a file of which nothing was learned', async () => {
  const log = newFile(
    'send: 00 01 00 00 00 06 01 03 00 00 00 01\nrecv: 00 01 00 00 00 05 01 03 02 00 07\n',
    'good.log',
  );
  const said = 'sent again: 1 of 1 request got the same reply, byte for byte\n';
  const checked = await runHere(['learn', log]);
  expect(checked).toMatchObject({ code: 0, stderr: expect.stringContaining(said) });
  expect((await runHere(['learn', log, '--no-verify'])).stderr).not.toContain('asked again');
  expect(await runHere(['learn', log, '--verify', '--no-verify'])).toMatchObject({ code: 2 });
  const other = newFile('recv: 01 83 02 c0 f1\n', 'replies.log');
  const half = await runHere(['learn', log, other]);
  expect(half).toMatchObject({ code: 1, stdout: expect.stringContaining('value: 7') });
  expect(half.stderr).toContain('nothing was learned from file 2, with 1 frame\n');
  expect(await runHere(['learn', other])).toMatchObject({ code: 1, stdout: '' });
});

it('modbus-sim learn --as-recorded asks each request again at its time of the log', async () => {
  const log = newFile(
    [100, 101, 99]
      .flatMap((value, i) => [
        `12:00:${10 * i}.000 send: 00 0${i} 00 00 00 06 01 04 00 0a 00 01`,
        `12:00:${10 * i}.130 recv: 00 0${i} 00 00 00 05 01 04 02 00 ${value.toString(16)}`,
      ])
      .join('\n')
      .replaceAll(':0.', ':00.'),
    'night.log',
  );
  const { code, stdout, stderr } = await runHere(['learn', log, '--as-recorded']);
  expect(code).toBe(0);
  expect(stdout).toContain('signal: {recorded: {values: "0 100, 10 101, 20 99, 20.13"}}');
  expect(stderr).toContain('sent again: 3 of 3 requests got the same reply, byte for byte\n');
});
