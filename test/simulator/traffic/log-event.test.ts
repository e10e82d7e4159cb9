import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { RTU } from '../../../src/modbus/protocol/framing.js';
import { plainReply } from '../../../src/modbus/protocol/reply-plan.js';
import type { NewEvent } from '../../../src/simulator/traffic/event.js';
import { EventLog } from '../../../src/simulator/traffic/log-event.js';

interface Entry {
  readonly level: number;
  readonly msg: string;
  readonly leftOut?: number;
}

const [DEBUG, WARNING] = [20, 40];

function logOf(level: 'warn' | 'debug') {
  const entries: Entry[] = [];
  const stream = { write: (entry: string) => void entries.push(JSON.parse(entry) as Entry) };
  return { log: new EventLog(pino({ level }, stream)), entries };
}

const READ = RTU.encode({ transactionId: 0, unitId: 9, pdu: Uint8Array.of(3, 0, 0, 0, 1) });

const received = (at: number, bytes: Uint8Array) => ({
  at,
  bytes,
  framing: RTU,
  startedAt: at,
  pause: undefined,
  characterTime: 0,
  client: undefined,
  clientId: 0,
});

const damaged = (at: number, isRest = false): NewEvent => ({
  kind: 'damaged',
  ...received(at, READ.with(2, 0x55)),
  isRest,
});

const collision = (at: number): NewEvent => ({ kind: 'collision', at, count: 1, isRest: false });

describe('the warnings of a line', () => {
  it('name a frame with a CRC error, with what was expected', () => {
    const { log, entries } = logOf('warn');
    log.event(damaged(0));
    expect(entries).toEqual([
      expect.objectContaining({
        level: WARNING,
        msg: expect.stringMatching(/^CRC error: \w{4}, expected \w{4}$/),
      }),
    ]);
  });

  it('are told at once, then at most every ten seconds, with the number of those left out', () => {
    const { log, entries } = logOf('warn');
    for (let at = 0; at <= 20_000; at++) log.event(damaged(at));
    expect(entries.map(({ leftOut }) => leftOut)).toEqual([undefined, 9999, 9999]);
    expect(entries[1]?.msg).toContain('(9999 more since the last warning)');
  });

  it('of one kind do not hold back those of another', () => {
    const { log, entries } = logOf('warn');
    log.event(damaged(0));
    log.event(collision(1));
    log.event(collision(2));
    expect(entries.map(({ msg }) => msg.split(':')[0])).toEqual(['CRC error', 'collision']);
  });

  it('that are left out are logged at level debug', () => {
    const { log, entries } = logOf('debug');
    log.event(collision(1));
    log.event(collision(2));
    expect(entries.map(({ level }) => level)).toEqual([WARNING, DEBUG]);
  });

  it('do not repeat what is left of a damaged message', () => {
    const { log, entries } = logOf('warn');
    log.event(damaged(0, true));
    expect(entries).toEqual([]);
  });
});

describe('the log at level debug', () => {
  it('says for whom a frame was that is not ours', () => {
    const { log, entries } = logOf('debug');
    log.event({
      kind: 'foreign request',
      ...received(0, READ),
      unitId: 9,
      functionCode: 3,
      answers: undefined,
    });
    expect(entries[0]?.msg).toBe('foreign request: unit 9 (not ours) read holding registers 0');
  });

  it('names the faults that acted on a reply, and why one was not achieved', () => {
    const { log, entries } = logOf('debug');
    const step = {
      plannedAt: 1,
      achievedAt: 1,
      endedAt: 1,
      uncertainty: undefined,
      outcome: 'achieved',
    } as const;
    log.event({
      kind: 'reply',
      at: 1,
      client: undefined,
      clientId: 0,
      framing: RTU,
      request: 1,
      requestAdu: READ,
      requestedAt: 0,
      unitId: 9,
      functionCode: 3,
      plan: plainReply(RTU.encode({ transactionId: 0, unitId: 9, pdu: Uint8Array.of(0x83, 2) })),
      report: { steps: [step], ended: 'complete' },
      acted: [
        { rule: 'refused', kind: 'exception' },
        { rule: 'torn', kind: 'break', notAchieved: 'no break here' },
      ],
      omittedFaults: 0,
    });
    expect(entries[0]?.msg).toBe(
      'reply: unit 9 read holding registers 0: exception 02 illegal data address; faults: refused (exception), torn (break, not achieved: no break here)',
    );
  });
});
