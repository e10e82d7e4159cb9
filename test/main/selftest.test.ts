import { describe, expect, it } from 'vitest';
import { METER, VIRTUAL_LINE } from './plant.js';
import { run, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

const CONFIG = {
  devices: METER,
  lines: {
    virtual: VIRTUAL_LINE,
    ascii: { ...VIRTUAL_LINE, framing: 'ascii' },
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    datagrams: { udp: { port: 0 }, units: { '*': 'meter' } },
    gone: { serial: { path: '/dev/not-there' }, units: { 1: 'meter' } },
  },
  // A rule of the configuration must not spoil what is measured.
  faults: [{ name: 'slow', do: [{ delay: 5000 }] }],
};

const selftest = (line: string) => run(['selftest', line, '--config', newFile(CONFIG)], newDirectory());

describe.concurrent('modbus-sim selftest', () => {
  it('asks a virtual line by itself, and tells what was found', async () => {
    const { code, stdout, stderr } = await selftest('virtual');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^line virtual: measuring\nRTU on \/dev\/pts\/\d+ /);
    expect(stdout).toMatch(/\n {2}adapter {5}pseudo-terminal\n/);
    expect(stdout).toMatch(/\n {2}requests {4}\d+ of a client of this program itself, 0 not answered\n/);
    expect(stdout).toMatch(/\n {2}turnaround {2}due after 4\.010 ms; median [\d.]+ ms/);
    // A machine that is busy with other tests may be late: then the verdict says so, and so does the exit code.
    expect(code).toBe(/verdict {5}as configured; there was no wire/.test(stdout) ? 0 : 1);
  });

  it.each(['ascii', 'lan', 'datagrams'])('asks the line %s by itself, too', async (line) => {
    const { stdout } = await selftest(line);
    expect(stdout).toMatch(/requests {4}\d+ of a client of this program itself, 0 not answered/);
  });

  it('names a port that can not be opened', async () => {
    expect(await selftest('gone')).toMatchObject({
      code: 1,
      stderr: 'line gone: /dev/not-there: does not exist; modbus-sim ports lists the serial ports\n',
    });
  });

  it('names the lines when it is asked for another one', async () => {
    expect(await selftest('virtuel')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('unknown line "virtuel", did you mean "virtual"?'),
    });
  });

  it.each([
    [['selftest'], 'selftest takes the name of one line'],
    [['selftest', 'a', 'b'], 'selftest takes the name of one line'],
    [['selftest', 'a', '--http_port', '1'], 'selftest takes no option --http_port'],
    [['selftest', 'a', '--seconds', '0'], '--seconds: expected a number from 1 to 3600, got "0"'],
    [['--seconds', '5'], '--seconds is for selftest'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await run(args, newDirectory());
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
