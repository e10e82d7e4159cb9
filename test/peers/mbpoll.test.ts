import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AT, MANY, METER, PEER_CONFIG } from '../support/peer-config.js';
import { type RunningProgram, startProgram } from '../support/program.mjs';
import { describeWithPeer, isInstalled } from './peer.js';

/** How mbpoll gets to a line: options, then device or host. */
interface Way {
  readonly name: string;
  readonly to: (program: RunningProgram) => readonly [options: readonly string[], place: string];
}

const WAYS: readonly Way[] = [
  {
    name: 'RTU 9600 8N1',
    to: (program) => [['-m', 'rtu', '-b', '9600', '-P', 'none'], program.serialPath('slow')],
  },
  {
    name: 'RTU 115200 8E1',
    to: (program) => [['-m', 'rtu', '-b', '115200', '-P', 'even'], program.serialPath('fast')],
  },
  { name: 'TCP', to: (program) => [['-m', 'tcp', '-p', `${program.tcpPort('lan')}`], '127.0.0.1'] },
];

/** The longest time-out that mbpoll accepts, for a reply that comes on a busy machine too. */
const PATIENCE = ['-o', '10'];

const missing = isInstalled('mbpoll', '-h') ? undefined : 'mbpoll is not installed (apt-get install mbpoll)';

describeWithPeer('mbpoll', missing, () => {
  let program: RunningProgram;
  beforeAll(async () => {
    program = await startProgram({ config: PEER_CONFIG });
  });
  afterAll(async () => {
    expect(await program.stop()).toBe(0);
  });

  describe.each(WAYS)('over $name', ({ to }) => {
    /** Runs mbpoll once; with `values` it writes, else it reads. Addresses count from 0. */
    const mbpoll = (options: string, values: readonly string[] = []): Promise<string> => {
      const [lineOptions, place] = to(program);
      const args = [...lineOptions, '-0', '-1', ...PATIENCE, ...options.split(' ')];
      return run([...args, place, ...(values.length > 0 ? ['--', ...values] : [])]);
    };
    const values = async (options: string) => readings(await mbpoll(options));

    it('reads coils and discrete inputs', async () => {
      expect(await values('-t 0 -r 0 -c 10')).toEqual(METER.coils.map(String));
      expect(await values('-t 1 -r 0 -c 11')).toEqual(METER.discrete.map(String));
    });

    it('reads input and holding registers', async () => {
      expect(await values('-t 3 -r 0 -c 3')).toEqual(['5', '500', '65535 (-1)']);
      expect(await values('-t 4:hex -r 0 -c 4')).toEqual(['0x0001', '0x0002', '0x0003', '0xFFFF']);
    });

    it('reads the 125 registers that one request can have', async () => {
      expect(await values(`-t 4 -r ${AT.many} -c 125`)).toEqual(MANY.map(String));
    });

    it('reads 32-bit values in either word order', async () => {
      expect(await values(`-t 4:float -B -r ${AT.bigFloat}`)).toEqual(['230.1']);
      expect(await values(`-t 4:float -r ${AT.littleFloat}`)).toEqual(['-1.5']);
      expect(await values(`-t 3:int -r ${AT.littleInt}`)).toEqual(['-123456']);
    });

    it('writes one coil and several', async () => {
      expect(await mbpoll(`-t 0 -r ${AT.scratch}`, ['1'])).toContain('Written 1 references.');
      expect(await mbpoll(`-t 0 -r ${AT.scratch + 2}`, ['1', '0', '1'])).toContain('Written 3 references.');
      expect(await values(`-t 0 -r ${AT.scratch} -c 6`)).toEqual(['1', '0', '1', '0', '1', '0']);
      await mbpoll(`-t 0 -r ${AT.scratch}`, ['0', '0', '0', '0', '0']);
      expect(await values(`-t 0 -r ${AT.scratch} -c 5`)).toEqual(['0', '0', '0', '0', '0']);
    });

    it('writes one register and several', async () => {
      expect(await mbpoll(`-t 4 -r ${AT.scratch}`, ['4711'])).toContain('Written 1 references.');
      expect(await mbpoll(`-t 4 -r ${AT.scratch + 1}`, ['8', '15', '65000'])).toContain(
        'Written 3 references.',
      );
      expect(await values(`-t 4 -r ${AT.scratch} -c 4`)).toEqual(['4711', '8', '15', '65000 (-536)']);
      await mbpoll(`-t 4 -r ${AT.scratch}`, ['0', '0', '0', '0']);
      expect(await values(`-t 4 -r ${AT.scratch} -c 4`)).toEqual(['0', '0', '0', '0']);
    });

    it('writes a float and an integer of 32 bits', async () => {
      expect(await mbpoll(`-t 4:float -r ${AT.littleFloat}`, ['3.25'])).toContain('Written 1 references.');
      expect(await values(`-t 4:float -r ${AT.littleFloat}`)).toEqual(['3.25']);
      await mbpoll(`-t 4:float -r ${AT.littleFloat}`, ['-1.5']);
      expect(await mbpoll(`-t 4:int -r ${AT.scratch + 8}`, ['-70000'])).toContain('Written 1 references.');
      expect(await values(`-t 4:int -r ${AT.scratch + 8}`)).toEqual(['-70000']);
    });

    it('is told of an address that is not defined', async () => {
      expect(await mbpoll(`-t 4 -r ${AT.undefined}`)).toContain('Illegal data address');
      expect(await mbpoll(`-t 0 -r ${AT.undefined}`)).toContain('Illegal data address');
      // Partly there is not there.
      expect(await mbpoll(`-t 3 -r ${METER.input.length - 1} -c 2`)).toContain('Illegal data address');
    });

    it('is told of a read-only register, and nothing of its write is done', async () => {
      expect(await mbpoll(`-t 4 -r ${AT.readOnlyRegister}`, ['1'])).toContain('Illegal data address');
      expect(await mbpoll(`-t 0 -r ${AT.readOnlyCoil}`, ['0'])).toContain('Illegal data address');
      expect(await mbpoll(`-t 4 -r ${AT.scratch + 15}`, ['9', '9'])).toContain('Illegal data address');
      expect(await values(`-t 4 -r ${AT.readOnlyRegister}`)).toEqual(['7']);
      expect(await values(`-t 0 -r ${AT.readOnlyCoil}`)).toEqual(['1']);
      expect(await values(`-t 4 -r ${AT.scratch + 15}`)).toEqual(['0']);
    });

    it('reads from two units', async () => {
      expect(await values('-a 17 -t 4 -r 0 -c 2')).toEqual(['71', '72']);
      expect(await values('-a 1 -t 4 -r 0 -c 2')).toEqual(['1', '2']);
    });

    it('does not hear from a unit that is not there', async () => {
      const isSilent = to(program)[1].startsWith('/');
      const expected = isSilent ? 'Connection timed out' : 'Target device failed to respond';
      expect(await mbpoll(`-a 9 -t 4 -r 0${isSilent ? ' -o 0.3' : ''}`)).toContain(expected);
    });
  });

  it('is told what the server is, and that it runs, on a serial line', async () => {
    const rtu = ['-m', 'rtu', '-b', '115200', '-P', 'even', '-a', '1', '-u', ...PATIENCE];
    const output = await run([...rtu, program.serialPath('fast')]);
    expect(output).toMatch(/Id\s*:\s*0x00/);
    expect(output).toMatch(/Status\s*:\s*On/);
    expect(output).toMatch(/Data\s*:\s*Example Co EX-1/);
  });

  it('sees on TCP what it wrote over the serial line', async () => {
    const at = ['-r', `${AT.scratch + 12}`, ...PATIENCE];
    const rtu = ['-m', 'rtu', '-b', '9600', '-P', 'none', '-0', '-1', '-t', '4', ...at];
    await run([...rtu, program.serialPath('slow'), '--', '321']);
    const tcp = ['-p', `${program.tcpPort('lan')}`, '-0', '-1', '-t', '4', ...at];
    expect(readings(await run([...tcp, '127.0.0.1']))).toEqual(['321']);
  });
});

/** What mbpoll prints, errors included: exceptions are its failures. */
function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('mbpoll', args, { timeout: 60_000 }, (error, stdout, stderr) => {
      if (error?.killed) reject(new Error(`mbpoll ${args.join(' ')} did not end:\n${stdout}${stderr}`));
      else resolve(`${stdout}${stderr}`);
    });
  });
}

/** The right side of lines such as `[32]: 	4711`. */
function readings(output: string): string[] {
  const found = [...output.matchAll(/^\[\d+\]:\s*(.*\S)\s*$/gm)].map((match) => match[1] ?? '');
  if (found.length === 0) throw new Error(`mbpoll read nothing:\n${output}`);
  return found;
}
