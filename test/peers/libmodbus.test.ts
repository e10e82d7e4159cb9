import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileWithLibmodbus, findLibmodbus } from '../support/libmodbus.mjs';
import { AT, MANY, METER, PEER_CONFIG } from '../support/peer-config.js';
import { makeTempDir, type RunningProgram, startProgram } from '../support/program.mjs';
import { describeWithPeer } from './peer.js';

const WAYS: readonly { name: string; to: (program: RunningProgram) => string[] }[] = [
  { name: 'RTU 9600 8N1', to: (program) => ['rtu', program.serialPath('slow'), '9600', 'N', '1'] },
  { name: 'RTU 115200 8E1', to: (program) => ['rtu', program.serialPath('fast'), '115200', 'E', '1'] },
  { name: 'TCP', to: (program) => ['tcp', '127.0.0.1', `${program.tcpPort('lan')}`] },
];

/** For a reply that comes, on a busy machine too. */
const PATIENCE_MS = 20_000;

const NO_ADDRESS = 'error 2: Illegal data address';

const libmodbus = findLibmodbus();

describeWithPeer('a libmodbus client', libmodbus.ok ? undefined : libmodbus.missing, () => {
  let program: RunningProgram;
  const directory = makeTempDir();
  const binary = join(directory, 'client');
  beforeAll(async () => {
    const source = fileURLToPath(new URL('client.c', import.meta.url));
    compileWithLibmodbus(source, binary, libmodbus.ok ? libmodbus.flags : []);
    program = await startProgram({ config: PEER_CONFIG });
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    expect(await program.stop()).toBe(0);
  });

  describe.each(WAYS)('over $name', ({ to }) => {
    /** Carries out commands on one connection; a line for each. */
    const client = (...commands: string[]) => run(binary, to(program), commands);

    it('reads all four tables', async () => {
      expect(
        await client('read-coils 0 10', 'read-discrete 0 11', 'read-input 0 3', 'read-holding 0 4'),
      ).toEqual([METER.coils, METER.discrete, METER.input, METER.holding].map((values) => values.join(' ')));
    });

    it('reads the 125 registers that one request can have', async () => {
      expect(await client(`read-holding ${AT.many} 125`)).toEqual([MANY.join(' ')]);
    });

    it('writes single and multiple coils and registers', async () => {
      const at = AT.scratch;
      expect(
        await client(
          `write-coil ${at} 1`,
          `write-coils ${at + 1} 0 1 1 0 1 0 0 1 1`,
          `read-coils ${at} 10`,
          `write-coils ${at} 0 0 0 0 0 0 0 0 0 0`,
          `read-coils ${at} 10`,
          `write-holding ${at} 4711`,
          `write-holdings ${at + 1} 8 15 65535`,
          `read-holding ${at} 4`,
        ),
      ).toEqual([
        'ok',
        'ok',
        '1 0 1 1 0 1 0 0 1 1',
        'ok',
        '0 0 0 0 0 0 0 0 0 0',
        'ok',
        'ok',
        '4711 8 15 65535',
      ]);
    });

    it('writes the 123 registers that one request can have', async () => {
      const values = MANY.slice(0, 123).reverse();
      expect(
        await client(
          `write-holdings ${AT.many} ${values.join(' ')}`,
          `read-holding ${AT.many} 123`,
          `write-holdings ${AT.many} ${MANY.slice(0, 123).join(' ')}`,
        ),
      ).toEqual(['ok', values.join(' '), 'ok']);
    });

    it('masks a register', async () => {
      // The example of Application Protocol V1.1b3, 6.16: (0x12 AND 0xF2) OR (0x25 AND NOT 0xF2) = 0x17.
      const at = AT.scratch + 8;
      expect(
        await client(`write-holding ${at} 0x12`, `mask ${at} 0xf2 0x25`, `read-holding ${at} 1`),
      ).toEqual(['ok', 'ok', `${0x17}`]);
    });

    it('writes and reads in one request, the write first', async () => {
      const at = AT.scratch + 4;
      expect(await client(`write-read ${at} ${at - 1} 4 21 22`, `write-read ${at} 0 4 0 0`)).toEqual([
        expect.stringMatching(/^\d+ 21 22 0$/),
        METER.holding.join(' '),
      ]);
    });

    it('gets exception 02 for addresses that are not defined', async () => {
      expect(
        await client(
          `read-coils ${AT.undefined} 1`,
          `read-discrete ${METER.discrete.length} 1`,
          `read-input 3 2`,
          `read-holding 65535 1`,
          `write-coil ${AT.undefined} 1`,
          `write-holdings ${AT.scratch + 15} 1 2`,
          `mask ${AT.undefined} 0 1`,
          `write-read ${AT.scratch} ${AT.undefined} 1 77`,
          `read-holding ${AT.scratch + 15} 1`,
        ),
      ).toEqual([...Array<string>(8).fill(NO_ADDRESS), '0']);
    });

    it('gets exception 02 for what it may only read, and nothing of the write is done', async () => {
      expect(
        await client(
          `write-coil ${AT.readOnlyCoil} 0`,
          `write-holding ${AT.readOnlyRegister} 1`,
          `mask ${AT.readOnlyRegister} 0 1`,
          `write-read ${AT.readOnlyRegister} 0 1 9`,
          `read-coils ${AT.readOnlyCoil} 1`,
          `read-holding ${AT.readOnlyRegister} 1`,
        ),
      ).toEqual([NO_ADDRESS, NO_ADDRESS, NO_ADDRESS, NO_ADDRESS, '1', '7']);
    });

    it('gets exception 01 for a function that is not there and 03 for a wrong quantity', async () => {
      expect(
        await client(
          'raw 65 1 2 3',
          'raw 3 0 0 0 0',
          'raw 3 0 0 0 126',
          'raw 1 0 0 0x07 0xd1',
          'raw 5 0 0 0x12 0x34',
        ),
      ).toEqual([`${0x80 + 65} 1`, `${0x80 + 3} 3`, `${0x80 + 3} 3`, `${0x80 + 1} 3`, `${0x80 + 5} 3`]);
    });

    it('is answered to a raw request as to any other', async () => {
      expect(await client('raw 3 0 0 0 2')).toEqual(['3 4 0 1 0 2']);
    });

    it('reads the exception status and the server identification', async () => {
      const additional = [...Buffer.from('Example Co EX-1')].join(' ');
      expect(await client('raw 7', 'report-id')).toEqual(['7 0', `0 255 ${additional}`]);
    });

    // It takes answers to these for shorter than they are, but for exceptions.
    it('gets exceptions to diagnostics, file and identification requests that ask too much', async () => {
      const noFile = 'raw 20 7 6 0 0 0 0 0 1';
      const noRecord = 'raw 21 9 6 0 1 0x27 0x10 0 1 0 7';
      expect(await client('raw 8 0 9 0 0', 'raw 8 0 0', noFile, noRecord, 'raw 43 13 0')).toEqual([
        `${0x80 + 8} 1`,
        `${0x80 + 8} 3`,
        `${0x80 + 20} 2`,
        `${0x80 + 21} 2`,
        `${0x80 + 43} 1`,
      ]);
      expect(await client('raw 43 14 9 0', 'raw 43 14 4 0x77', 'raw 11 0', 'raw 12 1', 'raw 24 0')).toEqual([
        `${0x80 + 43} 3`,
        `${0x80 + 43} 2`,
        `${0x80 + 11} 3`,
        `${0x80 + 12} 3`,
        `${0x80 + 24} 3`,
      ]);
    });

    it('changes between units', async () => {
      expect(await client('unit 17', 'read-holding 0 2', 'unit 1', 'read-holding 0 2')).toEqual([
        'ok',
        '71 72',
        'ok',
        '1 2',
      ]);
    });

    it('goes on after a unit that is not there', async () => {
      const silent = to(program)[0] === 'rtu';
      expect(
        await client(
          'unit 9',
          silent ? 'timeout 300' : `timeout ${PATIENCE_MS}`,
          'read-holding 0 1',
          'unit 1',
          `timeout ${PATIENCE_MS}`,
          'read-holding 0 1',
        ),
      ).toEqual([
        'ok',
        'ok',
        silent ? 'error 110: Connection timed out' : 'error 11: Target device failed to respond',
        'ok',
        'ok',
        '1',
      ]);
    });
  });

  it('is heard by all units at once, and hears none, when it writes to unit 0 on a serial line', async () => {
    const line = ['rtu', program.serialPath('fast'), '115200', 'E', '1'];
    expect(
      await run(binary, line, [
        'unit 0',
        'timeout 300',
        'write-holdings 0 501 502',
        `timeout ${PATIENCE_MS}`,
        'unit 1',
        'read-holding 0 2',
        'unit 17',
        'read-holding 0 2',
      ]),
    ).toEqual(['ok', 'ok', 'error 110: Connection timed out', 'ok', 'ok', '501 502', 'ok', '501 502']);
  });
});

function run(binary: string, args: readonly string[], commands: readonly string[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = execFile(binary, args, { timeout: 120_000 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`client ${args.join(' ')}: ${error.message}\n${stdout}${stderr}`));
      else resolve(stdout.trimEnd().split('\n'));
    });
    child.stdin?.end(`${commands.join('\n')}\n`);
  });
}
