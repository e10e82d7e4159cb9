import { describe, expect, it } from 'vitest';
import { loadLibc } from '../../../../src/modbus/transport/port/libc.js';
import { openPty } from '../../../../src/modbus/transport/port/pty.js';
import { parseErrorCounts, readErrorCounts } from '../../../../src/modbus/transport/port/uart.js';

describe('error counts of a UART', () => {
  it('are the seventh to eleventh of twenty ints', () => {
    const struct = new Uint8Array(Int32Array.from({ length: 20 }, (_, i) => 100 + i).buffer);
    expect(parseErrorCounts(struct)).toEqual({
      framing: 106,
      overrun: 107,
      parity: 108,
      break: 109,
      bufferOverrun: 110,
    });
  });

  it('are not had of a pseudo-terminal', async () => {
    const loaded = await loadLibc();
    const opened = await openPty();
    if (!loaded.ok || !opened.ok) throw new Error('libc did not load');
    expect(readErrorCounts(loaded.libc, opened.pty.masterFd)).toBeUndefined();
    opened.pty.close();
  });
});
