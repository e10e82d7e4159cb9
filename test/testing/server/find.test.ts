import { expect, it } from 'vitest';
import { seededRandom } from '../../../src/common/random.js';
import type { ClientTarget, Wire, WireListener } from '../../../src/modbus/client/wire.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { findServer } from '../../../src/testing/server/find.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { untilOver } from '../client/virtual-bench.js';

const TARGET = {
  ...{ kind: 'serial', framing: 'rtu', path: '/dev/ttyUSB0' },
  ...{ baudRate: 19200, dataBits: 8, parity: 'even', stopBits: 1 },
} as const satisfies ClientTarget;

/** A meter that answers at one speed, parity and unit alone. */
const meter =
  (clock: VirtualClock, baudRate: number, parity: string, unitId: number) =>
  (target: ClientTarget, listener: WireListener): Wire => ({
    times: { character: 1, t35: 4, gap: 20 },
    open: async () => undefined,
    write: (bytes) => {
      const isReached = target.kind === 'serial' && target.baudRate === baudRate && target.parity === parity;
      if (isReached && bytes[0] === unitId)
        clock.callAfter(30, () => listener.heard(encodeRtu(unitId, Uint8Array.of(0x83, 2))));
      return undefined;
    },
    close: async () => {},
  });

it('a meter is found by its speed, parity and unit, and by a refusal too', async () => {
  const clock = new VirtualClock();
  const carrier = { target: TARGET, clock, wireTo: meter(clock, 9600, 'none', 5) };
  const found = await untilOver(
    clock,
    findServer(carrier, 1, seededRandom(1, 0), () => {}, new AbortController().signal),
  );
  expect(found).toEqual({
    ok: true,
    value: { target: { ...TARGET, baudRate: 9600, parity: 'none' }, unitId: 5 },
  });
});

it('a search that finds nothing says so', async () => {
  const clock = new VirtualClock();
  const carrier = {
    target: { kind: 'tcp', host: 'meter', port: 502, framing: 'socket' } as const,
    clock,
    wireTo: meter(clock, 1, '', 1),
  };
  const found = await untilOver(
    clock,
    findServer(carrier, 1, seededRandom(1, 0), () => {}, new AbortController().signal),
  );
  expect(found).toEqual({ ok: false, error: 'no answer with any combination of speed, parity and unit' });
});
