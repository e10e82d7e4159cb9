import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PEER_CONFIG } from '../support/peer-config.js';
import { type RunningProgram, startProgram } from '../support/program.mjs';
import { describeWithPeer } from './peer.js';

/** Debian's, whatever else is called python3. */
const PYTHON = '/usr/bin/python3';

const PARITIES = ['N', 'E', 'O'] as const;

const run = promisify(execFile);

function missing(module: string, debianPackage: string): string | undefined {
  const found = spawnSync(PYTHON, ['-c', `import ${module}`], { stdio: 'ignore' }).status === 0;
  return found ? undefined : `${module} is not installed (apt-get install ${debianPackage})`;
}

/** Prints what each of ten openings read, one after the other, without a pause in between. */
const PYSERIAL = `
import serial, sys
path, parity, bits = sys.argv[1:]
for opening in range(10):
    line = serial.Serial(path, 19200, parity=parity, bytesize=int(bits), timeout=60)
    line.write(bytes.fromhex('010300000002c40b'))
    first = line.read(9)
    line.timeout = 59
    line.write(bytes.fromhex('010300000002c40b'))
    print((first + line.read(9)).hex())
    line.close()
`;

/**
 * A strict client sets the line twice within 0.1 ms to open it, and the second time is refused on any pseudo-terminal
 * unless it is set to 8N1: docs/configuration.md says so.
 */
const PYMODBUS = `
import sys
from pymodbus.client import ModbusSerialClient
path, parity, bits = sys.argv[1:]
for opening in range(10):
    client = ModbusSerialClient(path, baudrate=19200, parity=parity, bytesize=int(bits), timeout=60,
        strict=parity == 'N' and bits == '8')
    assert client.connect()
    print(client.read_holding_registers(0, 4, slave=1).registers)
    client.close()
`;

let program: RunningProgram;

/** Runs a script with the path of a line. @returns the lines that it printed */
async function python(script: string, parity: string, bits: number): Promise<string[]> {
  const { stdout } = await run(PYTHON, ['-c', script, program.serialPath('fast'), parity, `${bits}`]);
  return stdout.trim().split('\n');
}

const ways = PARITIES.flatMap((parity) => ([7, 8] as const).map((bits) => [parity, bits] as const));

function withProgram(): void {
  beforeAll(async () => {
    program = await startProgram({ config: PEER_CONFIG });
  });
  afterAll(async () => {
    expect(await program.stop()).toBe(0);
  });
}

describeWithPeer('pyserial', missing('serial', 'python3-serial'), () => {
  withProgram();
  it.each(ways)('opens a virtual line ten times with parity %s and %i bits', async (parity, bits) => {
    const reply = '010304000100022a32';
    expect(await python(PYSERIAL, parity, bits)).toEqual(Array(10).fill(reply + reply));
  });
});

describeWithPeer('pymodbus', missing('pymodbus', 'python3-pymodbus'), () => {
  withProgram();
  it.each(ways)('opens a virtual line ten times with parity %s and %i bits', async (parity, bits) => {
    expect(await python(PYMODBUS, parity, bits)).toEqual(Array(10).fill('[1, 2, 3, 65535]'));
  });
});
