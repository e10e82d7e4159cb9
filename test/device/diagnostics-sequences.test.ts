import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RTU } from '../../src/modbus/protocol/framing.js';
import { Station } from '../../src/simulator/bus/station.js';
import { arbitraryOtherRequest, arbitraryRegisterRequest } from '../modbus/protocol/arbitrary-request.js';
import { encodeRequest } from '../modbus/protocol/encode-request.js';
import { bytesOf, hexOf } from '../modbus/protocol/hex.js';
import { tries } from '../support/tries.js';
import { deviceOf } from './build.js';
import { run } from './registers/build.js';

/** What happens on a line: requests to the station, broadcasts, and what it only hears. */
const happening = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('request' as const, 'broadcast' as const),
      pdu: fc.oneof(
        arbitraryOtherRequest().map(encodeRequest),
        arbitraryRegisterRequest(fc.nat(8)).map(encodeRequest),
        fc.constantFrom('08 0004 0000', '08 0001 FF00', '08 0001 0001', '63').map(bytesOf),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('foreign' as const, 'noise' as const) }) },
);

/** Functions that a broadcast may carry. */
const WRITING = ['05', '06', '08', '0f', '10', '15', '16', '17'];

/** The counters as the clauses word them, kept by hand. */
class Expected {
  listening = false;
  counts = { messages: 0, errors: 0, exceptions: 0, own: 0, silent: 0, events: 0 };

  reset(): void {
    this.counts = { messages: 0, errors: 0, exceptions: 0, own: 0, silent: 0, events: 0 };
  }

  /** `failed` is known from a station that has done nothing yet. */
  request(pdu: string, broadcast: boolean, failed: boolean): void {
    this.counts.messages++;
    const isRestart = pdu === '0800010000' || pdu === '080001ff00';
    if (this.listening && !isRestart) return;
    this.counts.own++;
    if (broadcast && !WRITING.includes(pdu.slice(0, 2))) {
      this.counts.silent++;
      return;
    }
    if (failed) this.counts.exceptions++;
    else if (pdu !== '0b' && pdu !== '0c') this.counts.events++;
    if (broadcast || pdu === '0800040000') this.counts.silent++;
    if (pdu === '0800040000') this.listening = true;
    if (isRestart) this.listening = false;
    if (isRestart || pdu === '08000a0000') this.reset();
  }
}

describe('any sequence of requests', () => {
  it('leaves the counters that the specification words, and the mode', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(fc.array(happening, { minLength: 1, maxLength: 60 }), (happenings) => {
        const activity = { messages: 0, errors: 0, overruns: 0 };
        const newDevice = () => deviceOf({ holding: run(0, 20), coils: run(0, 20) }, { size: 32 });
        const station = new Station(newDevice(), activity);
        const expected = new Expected();
        for (const each of happenings) {
          if (each.kind === 'noise') {
            activity.errors++;
            expected.counts.errors++;
            continue;
          }
          activity.messages++;
          if (!('pdu' in each)) {
            expected.counts.messages++;
            continue;
          }
          const isBroadcast = each.kind === 'broadcast';
          const wasListening = expected.listening;
          const fresh = new Station(newDevice(), { messages: 0, errors: 0, overruns: 0 });
          const answer = fresh.process(each.pdu, RTU);
          const request = hexOf(each.pdu);
          expected.request(request, isBroadcast, ((answer?.[0] ?? 0) & 0x80) !== 0);
          const response = isBroadcast
            ? station.broadcast(each.pdu, RTU, new Map())
            : station.process(each.pdu, RTU);
          const isSilent = wasListening || isBroadcast || request === '0800040000';
          if ((response === undefined) !== isSilent) throw new Error(`${request}: ${response}`);
        }

        // out of listen-only mode, if it is in it: that clears everything
        if (expected.listening) {
          activity.messages++;
          expect(station.process(bytesOf('08 0001 0000'), RTU)).toBeUndefined();
          expected.reset();
        }
        const { messages, errors, exceptions, own, silent, events } = expected.counts;
        const ask = (pdu: string) => {
          activity.messages++;
          return hexOf(station.process(bytesOf(pdu), RTU) ?? new Uint8Array());
        };
        const word = (value: number) => value.toString(16).padStart(4, '0');
        expect(ask('0B')).toBe(`0b0000${word(events)}`);
        expect(ask('08 000B 0000')).toBe(`08000b${word(messages + 2)}`);
        expect(ask('08 000C 0000')).toBe(`08000c${word(errors)}`);
        expect(ask('08 000D 0000')).toBe(`08000d${word(exceptions)}`);
        expect(ask('08 000E 0000')).toBe(`08000e${word(own + 5)}`);
        expect(ask('08 000F 0000')).toBe(`08000f${word(silent)}`);
      }),
      { numRuns: tries(1000) },
    );
  });
});
