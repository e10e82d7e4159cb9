import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RTU } from '../../../../src/modbus/protocol/framing.js';
import { type PlayReport, plainReply } from '../../../../src/modbus/protocol/reply-plan.js';
import { encodeRtu } from '../../../../src/modbus/protocol/rtu.js';
import { characterTime } from '../../../../src/modbus/protocol/timing.js';
import { type Adapter, ptyAdapter } from '../../../../src/modbus/transport/port/adapter.js';
import type { BytePort, OpenResult, PortListener } from '../../../../src/modbus/transport/port/port.js';
import { SerialLine } from '../../../../src/modbus/transport/serial/serial-line.js';
import type { SerialSettings } from '../../../../src/modbus/transport/settings.js';
import type { LineEvent, LineReply, LineRequest } from '../../../../src/modbus/transport/transport.js';
import { VirtualClock } from '../../../support/virtual-clock.js';
import { rs485 } from '../port/rs485-settings.js';
import { playedPort } from './played-line.js';

const WRITE = encodeRtu(1, Uint8Array.of(6, 0, 10, 0, 7));
const T35 = 2;
const GAP = 20;

const SETTINGS: SerialSettings = {
  kind: 'serial',
  name: 'bench',
  framing: 'rtu',
  mode: 'server',
  // The test plays the port, and no frame is under way when it opens.
  path: 'virtual',
  baudRate: 19200,
  dataBits: 8,
  parity: 'even',
  stopBits: 1,
  timing: { t35: T35, turnaround: 't3.5', gap: GAP },
  whenBusy: 'replace',
  echo: 'auto',
};

const CHARACTER = characterTime(SETTINGS);

const ADAPTER: Adapter = { ...ptyAdapter, kind: '16550', name: 'a UART' };

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
  clock.replaceGlobalTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** A line on a port that the test plays. */
function lineOn(
  open: (listener: PortListener) => Promise<OpenResult>,
  lead = 0,
  more: Partial<SerialSettings> = {},
) {
  let executed = 0;
  const reports: PlayReport[] = [];
  const events: LineEvent[] = [];
  const rs485Settings = lead === 0 ? {} : { rs485: rs485('rts', { delayBeforeSend: lead }) };
  const settings = { ...SETTINGS, ...rs485Settings, ...more };
  const handler = {
    newClientId: () => 1,
    owns: () => true,
    request: ({ unitId, pdu }: LineRequest, begin: (reply: LineReply) => void) => {
      executed++;
      const played = (report: PlayReport) => void reports.push(report);
      begin({ plan: plainReply(encodeRtu(unitId, pdu)), played });
    },
    event: (event: LineEvent) => void events.push(event),
  };
  const line = new SerialLine(settings, RTU, handler, { open: (_, listener) => open(listener), clock });
  return { line, settings, reports, events, executed: () => executed };
}

/** A port whose adapter hears what it sends, `latency` ms after the last character. */
function echoingPort(listener: PortListener, latency: number): BytePort {
  return playedPort((bytes) => {
    const copy = Uint8Array.from(bytes);
    clock.callAfter(latency + bytes.length * CHARACTER, () => listener.onData(copy));
    return undefined;
  }, ADAPTER);
}

/** How long an echo that goes on would need for many rounds. */
const ROUNDS_MS = 1200;

async function echoing(latency: number, lead = 0) {
  let listener: PortListener | undefined;
  const opened = lineOn(async (heard) => {
    listener = heard;
    return { ok: true, port: echoingPort(heard, latency), notes: [] };
  }, lead);
  await opened.line.start();
  clock.advance(50);
  return { ...opened, hears: (bytes: Uint8Array) => listener?.onData(bytes) };
}

describe('a serial line with an echo', () => {
  it('executes a write once when its driver is switched on some time before it sends', async () => {
    const { executed, hears } = await echoing(300, 300);
    hears(WRITE);
    clock.advance(ROUNDS_MS);
    expect(executed()).toBe(1);
  });

  it('executes nothing of its own when its settings change while an echo is under way', async () => {
    const { line, settings, executed, hears } = await echoing(2);
    for (let i = 1; i <= 5; i++) {
      hears(WRITE);
      expect(executed()).toBe(i);
      // The reply is on the wire now, its echo is not.
      clock.advance(T35 + 2);
      line.change(settings, RTU);
      clock.advance(100);
      expect(executed()).toBe(i);
    }
  });
});

it('a serial line with whenBusy: drop executes no request while a reply is pending, and reports it', async () => {
  let heard: PortListener | undefined;
  const open = async (listener: PortListener) => {
    heard = listener;
    return { ok: true, port: playedPort(() => undefined, ADAPTER), notes: [] } as const;
  };
  const timing = { ...SETTINGS.timing, turnaround: 300 };
  const { line, reports, events, executed } = lineOn(open, 0, { whenBusy: 'drop', timing });
  await line.start();
  heard?.onData(WRITE);
  clock.advance(100);
  heard?.onData(WRITE);
  clock.advance(1000);
  expect([executed(), reports.map(({ ended }) => ended)]).toEqual([1, ['complete']]);
  expect(events).toMatchObject([{ kind: 'open' }, { kind: 'dropped', frame: { bytes: WRITE } }]);
  heard?.onData(WRITE);
  expect(executed()).toBe(2);
});

describe('a serial line whose port goes away while a reply is written', () => {
  it('reports that reply once, as not sent', async () => {
    let heard: PortListener | undefined;
    const { line, reports, executed } = lineOn(async (listener) => {
      heard = listener;
      const port: BytePort = {
        ...echoingPort(listener, 0),
        write: () => {
          listener.onClose('unplugged');
          return 'unplugged';
        },
      };
      return { ok: true, port, notes: [] };
    });
    await line.start();
    heard?.onData(WRITE);
    clock.advance(100);
    expect(executed()).toBe(1);
    expect(reports).toEqual([
      {
        steps: [expect.objectContaining({ outcome: 'not achieved', reason: 'unplugged' })],
        ended: 'disconnected',
      },
    ]);
  });

  it('reports a reply that was still to be sent, with all its steps', async () => {
    let heard: PortListener | undefined;
    const { line, reports } = lineOn(async (listener) => {
      heard = listener;
      return { ok: true, port: echoingPort(listener, 0), notes: [] };
    });
    await line.start();
    heard?.onData(WRITE);
    heard?.onClose('unplugged');
    expect(reports).toEqual([
      {
        steps: [expect.objectContaining({ outcome: 'not achieved', reason: 'the port is gone' })],
        ended: 'disconnected',
      },
    ]);
  });
});

describe('a serial line whose port has vanished', () => {
  it('looks for it after 250 ms, then every 500 and every 1000, and serves it again', async () => {
    let heard: PortListener | undefined;
    let isThere = true;
    const attempts: number[] = [];
    const { line, events, executed } = lineOn(async (listener) => {
      attempts.push(clock.now());
      heard = listener;
      return isThere
        ? { ok: true, port: echoingPort(listener, 0), notes: [] }
        : { ok: false, error: 'is not there' };
    });
    await line.start();
    isThere = false;
    heard?.onClose('unplugged');
    await clock.advanceAsync(3000);
    isThere = true;
    await clock.advanceAsync(2000);
    expect(attempts).toEqual([0, 250, 750, 1750, 2750, 3750]);
    expect(events.map(({ kind }) => kind)).toEqual(['open', 'lost', 'retry', 'open']);
    heard?.onData(WRITE);
    expect(executed()).toBe(1);
  });

  it('reports once why it waits, and again when the reason is another one, however long it is away', async () => {
    let heard: PortListener | undefined;
    let error: string | undefined;
    const { line, events } = lineOn(async (listener) => {
      heard = listener;
      return error === undefined
        ? { ok: true, port: echoingPort(listener, 0), notes: [] }
        : { ok: false, error };
    });
    await line.start();
    error = 'is not there';
    heard?.onClose('unplugged');
    await clock.advanceAsync(3_600_000);
    error = 'may not be opened';
    await clock.advanceAsync(3_600_000);
    expect(line.state).toEqual({ kind: 'waiting', reason: error });
    error = undefined;
    await clock.advanceAsync(1000);
    expect(events).toEqual([
      expect.objectContaining({ kind: 'open' }),
      { kind: 'lost', reason: 'unplugged' },
      { kind: 'retry', error: 'is not there' },
      { kind: 'retry', error: 'may not be opened' },
      expect.objectContaining({ kind: 'open' }),
    ]);
  });

  it('reports nothing more where the start has reported the same', async () => {
    const { line, events } = lineOn(async () => ({ ok: false, error: 'is not there' }));
    expect(await line.start({ waits: true })).toMatchObject({ ok: false, error: 'is not there' });
    await clock.advanceAsync(10_000);
    expect(events).toEqual([]);
  });
});

describe('a serial line that is stopped while it opens its port again', () => {
  it('has closed it when the stop is over', async () => {
    let heard: PortListener | undefined;
    let open = 0;
    let attempts = 0;
    const later = (ms: number) => new Promise<void>((resolve) => clock.callAfter(ms, resolve));
    const port: BytePort = {
      ...echoingPort({ onData: () => {}, onDamaged: () => {}, onClose: () => {} }, 0),
      close: async () => {
        await later(20);
        open--;
      },
    };
    const { line } = lineOn(async (listener) => {
      attempts++;
      heard = listener;
      if (open > 0) return { ok: false, error: 'is in use' };
      open++;
      await later(40);
      return { ok: true, port, notes: [] };
    });
    const started = line.start();
    await clock.advanceAsync(40);
    expect(await started).toMatchObject({ ok: true });
    open--;
    heard?.onClose('unplugged');
    await clock.advanceAsync(260);
    expect(attempts).toBe(2);
    const stopped = line.stop();
    await clock.advanceAsync(100);
    await stopped;
    expect(open).toBe(0);
    const again = line.start();
    await clock.advanceAsync(40);
    expect(await again).toMatchObject({ ok: true });
  });
});

describe('a serial line that only listens', () => {
  /** Uses of the port that would put something on the wire. */
  let uses: string[];

  async function listening() {
    uses = [];
    let listener: PortListener | undefined;
    const events: LineEvent[] = [];
    const handler = {
      newClientId: () => 1,
      // Even if a device answered for every unit, nothing must be asked of it.
      owns: () => true,
      request: () => {
        throw new Error('a monitor executes nothing');
      },
      event: (event: LineEvent) => void events.push(event),
    };
    const open = async (_: SerialSettings, heard: PortListener): Promise<OpenResult> => {
      listener = heard;
      const port: BytePort = {
        ...echoingPort(heard, 0),
        write: () => {
          uses.push('write');
          return undefined;
        },
        sendBreak: async () => {
          uses.push('sendBreak');
          return undefined;
        },
      };
      return { ok: true, port, notes: [] };
    };
    const settings: SerialSettings = { ...SETTINGS, mode: 'monitor', rs485: rs485('rts') };
    const line = new SerialLine(settings, RTU, handler, { open, clock });
    await line.start();
    return {
      line,
      settings,
      events,
      hears: (bytes: Uint8Array) => listener?.onData(bytes),
      hearsDamage: () => listener?.onDamaged(Uint8Array.of(0)),
    };
  }

  it('neither writes to its port nor sends a break, and asks nobody, whatever it hears', async () => {
    const { line, settings, events, hears, hearsDamage } = await listening();
    for (let unitId = 0; unitId < 256; unitId++) {
      for (const pdu of [[3, 0, 0, 0, 1], [6, 0, 0, 0, 1], [8, 0, 4, 0, 0], [8, 0, 1, 0, 0], [99]]) {
        hears(encodeRtu(unitId, Uint8Array.from(pdu)));
        clock.advance(2 * GAP);
      }
    }
    hearsDamage();
    hears(WRITE.subarray(0, 5));
    clock.advance(2 * GAP);
    line.change(settings, RTU);
    hears(WRITE);
    clock.advance(ROUNDS_MS);
    await line.stop();
    expect(uses).toEqual([]);
    const kinds = new Set(events.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['damaged', 'foreign', 'noise', 'open']);
  });
});
