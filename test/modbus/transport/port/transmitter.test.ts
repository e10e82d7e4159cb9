import { closeSync, openSync, writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Libc, loadLibc, TIOCOUTQ, TIOCSERGETLSR } from '../../../../src/modbus/transport/port/libc.js';
import { openPty } from '../../../../src/modbus/transport/port/pty.js';
import { transmitterState } from '../../../../src/modbus/transport/port/uart.js';

async function libc(): Promise<Libc> {
  const loaded = await loadLibc();
  if (!loaded.ok) throw new Error(loaded.error);
  return loaded.libc;
}

/** A driver that answers the two questions so; undefined for a refusal. */
async function driver(queued: number | undefined, lineStatus: number | undefined): Promise<Libc> {
  const answers = new Map([
    [TIOCOUTQ, queued],
    [TIOCSERGETLSR, lineStatus],
  ]);
  return {
    ...(await libc()),
    ioctl: (_, request, argument) => {
      const answer = answers.get(request);
      if (answer === undefined || argument === null) return -25;
      new DataView(argument.buffer).setInt32(0, answer, true);
      return 0;
    },
  };
}

describe('a transmitter', () => {
  it.each([
    ['is sending while the driver has bytes', 3, 1, 'sending'],
    ['is sending while its shift register is not empty', 0, 0, 'sending'],
    ['is empty when both say so', 0, 1, 'empty'],
    ['has been handed everything when the driver knows no more', 0, undefined, 'handed over'],
    ['sends nothing any more when the port is gone', undefined, undefined, 'empty'],
  ] as const)('%s', async (_, queued, lineStatus, expected) => {
    expect(transmitterState(await driver(queued, lineStatus), 3)).toBe(expected);
  });

  it('of a pseudo-terminal has no shift register', async () => {
    const opened = await openPty();
    if (!opened.ok) throw new Error(opened.error);
    const client = openSync(opened.pty.path, 'r+');
    writeSync(client, 'a');
    expect(transmitterState(await libc(), client)).not.toBe('empty');
    closeSync(client);
    opened.pty.close();
    closeSync(opened.pty.masterFd);
  });
});
