import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { run, runHere, scratchSpace } from '../../cli/verbs/run.js';

const { newDirectory, newFile } = scratchSpace();

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
  /**
   * Sends the requests, each 100 ms after the reply before, or 2 s after a request without one. The first step waits until the
   * client has started, each other one as long as said.
   */
  const test = async (sent: readonly string[], within: string) => {
    const client = newFile(
      `import { connect } from 'node:net';
       const socket = connect(process.argv[3], process.argv[2]);
       for (const each of ${JSON.stringify(sent)}) {
         socket.write(Buffer.from(each, 'hex'));
         await new Promise((resolve) => socket.once('data', resolve) && setTimeout(resolve, 2000));
         await new Promise((resolve) => setTimeout(resolve, 100));
       }
       setInterval(() => {}, 1000);`,
      'client.mjs',
    );
    const command = `${process.execPath} ${client} {lines.lan.host} {lines.lan.port}`;
    const file = join(directory, 'tests', 'with-client.yaml');
    const learned = parse(text);
    const steps = learned.steps
      .flatMap(({ repeat = 1, ...step }: { repeat?: number }) => Array(repeat).fill(step))
      .map((step: object, i: number) => ({ ...step, within: i === 0 ? '100s' : within }));
    writeFileSync(file, JSON.stringify({ ...learned, steps, dut: { command } }));
    return run(['test', file, '--free-ports'], directory);
  };
  const [first = '', ...others] = requests;
  const passed = await test([first, first, ...others], '30s');
  expect(passed.code, passed.stdout).toBe(0);
  const failed = await test([first, ...others], '3s');
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain('fail         2');
});
