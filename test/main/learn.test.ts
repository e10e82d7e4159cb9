import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { newClient } from '../../src/client/client.js';
import { startProgram } from '../support/program.mjs';
import { run, runHere, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

it('modbus-sim learn --line learns from what a running simulator has kept', async () => {
  const program = await startProgram({
    config: {
      devices: { meter: { registers: { holding: [{ address: 0, value: [7, 8] }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 5: 'meter' } } },
    },
  });
  try {
    const client = newClient({
      kind: 'tcp',
      host: '127.0.0.1',
      port: program.tcpPort('lan'),
      framing: 'socket',
    });
    await client.ask({ unitId: 5, pdu: Uint8Array.of(3, 0, 0, 0, 2), timeout: 5000 });
    await client.close();
    const url = program.restUrl();
    const { code, stdout } = await run(['learn', '--line', 'lan', '--url', url], newDirectory());
    expect(code).toBe(0);
    expect(stdout).toContain('value: [7, 8]');
    const wrong = await runHere(['learn', '--line', 'wan', '--url', url]);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('wan');
  } finally {
    await program.stop();
  }
});

it('modbus-sim learn writes a file that check takes, and says what it left out', async () => {
  const directory = newDirectory();
  const target = join(directory, 'bench.yaml');
  const log = newFile(
    'send ->: 00 01 00 00 00 06 01 03 0b b7 00 02\nreceived <-: 01 00 00 00 00 07 01 03 04 00 00 00 00\nframe 00 01 02 03\n',
    'report.log',
  );
  const { code, stdout, stderr } = await run(['learn', log, '-o', target], directory);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `wrote ${target}; serve it with modbus-sim --config ${target}\n`,
  });
  expect(stderr).toBe(
    `${log}: 1 requests to unit 1, 0 without an answer\n1 lines with bytes say no direction, so they were left out: line 3\n`,
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

it('modbus-sim learn --scenario writes a test that the same client passes, and another one does not', async () => {
  const directory = newDirectory();
  const requests = ['000100000006010300640002', '0002000000060103000a0001', '000300000006010600050063'];
  const log = newFile(
    [
      `send ${requests[0]}\nsend ${requests[0]}\nrecv 00010000000701030400070008`,
      `send ${requests[1]}\nrecv 000200000003018302`,
      `send ${requests[2]}\nrecv 000300000006010600050063\n`,
    ].join('\n'),
    'report.log',
  );
  const [bench, scenario] = [join(directory, 'bench.yaml'), join(directory, 'tests', 'report.yaml')];
  mkdirSync(join(directory, 'tests'));
  const { code, stdout } = await runHere(['learn', log, '-o', bench, '--scenario', scenario]);
  expect(code).toBe(0);
  expect(stdout).toContain(`wrote ${scenario}; run it with modbus-sim test ${scenario}\n`);
  const text = readFileSync(scenario, 'utf8');
  expect(parse(text)).toMatchObject({
    configuration: '../bench.yaml',
    steps: [
      { repeat: 2, expect: { unit: 1, function: 3, address: [100, 101], quantity: 2 } },
      { expect: { unit: 1, function: 3, address: [10, 10], quantity: 1 } },
      { expect: { unit: 1, function: 6, address: [5, 5], quantity: 1, write: { 'holding 5': 99 } } },
    ],
  });
  /** Sends the requests, 100 ms apart. Each step waits as long as said for its requests. */
  const test = async (sent: readonly string[], within: string) => {
    const client = newFile(
      `import { connect } from 'node:net';
       const socket = connect(process.argv[3], process.argv[2]);
       for (const each of ${JSON.stringify(sent)}) {
         socket.write(Buffer.from(each, 'hex'));
         await new Promise((resolve) => setTimeout(resolve, 100));
       }
       setInterval(() => {}, 1000);`,
      'client.mjs',
    );
    const command = `${process.execPath} ${client} {lines.lan.host} {lines.lan.port}`;
    const file = join(directory, 'tests', 'with-client.yaml');
    const learned = parse(text);
    const steps = learned.steps.map((step: object) => ({ ...step, within }));
    writeFileSync(file, JSON.stringify({ ...learned, steps, dut: { command } }));
    return run(['test', file, '--free-ports'], directory);
  };
  const [first = '', ...others] = requests;
  expect(await test([first, first, ...others], '30s')).toMatchObject({ code: 0 });
  const failed = await test([first, ...others], '3s');
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain('fail         2');
});
