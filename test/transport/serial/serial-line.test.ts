import { describe, expect, it, vi } from 'vitest';
import { RTU } from '../../../src/protocol/framing.js';
import type { PlayReport } from '../../../src/protocol/play-report.js';
import { plainReply } from '../../../src/protocol/reply-plan.js';
import { encodeRtu, mayBeRequest } from '../../../src/protocol/rtu.js';
import { RtuFramer } from '../../../src/transport/framer/rtu-framer.js';
import { type Adapter, ptyAdapter } from '../../../src/transport/port/adapter.js';
import type { BytePort, OpenResult, PortListener } from '../../../src/transport/port/port.js';
import { SerialLine, type SerialLineOptions } from '../../../src/transport/serial/serial-line.js';
import type { SerialBehaviour } from '../../../src/transport/serial/serial-session.js';

const WRITE = encodeRtu(1, Uint8Array.of(6, 0, 10, 0, 7));
const T35 = 2;
const CHARACTER = 0.57;
/** Longer than this process may be kept waiting: an echo that comes later than that is a request. */
const GAP = 200;

const ADAPTER: Adapter = { ...ptyAdapter, kind: '16550', name: 'a UART' };

/** A line on a port that the test plays. */
function lineOn(
  open: (listener: PortListener) => Promise<OpenResult>,
  { lead = 0, ...other }: Partial<SerialBehaviour> & { lead?: number } = {},
) {
  let executed = 0;
  const reports: PlayReport[] = [];
  const behaviour: SerialLineOptions['behaviour'] = () => ({
    framing: RTU,
    framer: new RtuFramer(() => true, T35, CHARACTER),
    mayBeRequest,
    timing: { t35: T35, turnaround: T35, wireTime: CHARACTER, outputHold: 0, lead },
    gap: GAP,
    inputHold: GAP,
    whenBusy: 'replace',
    isPseudoTerminal: false,
    joinsTraffic: false,
    ...other,
  });
  const options = { open, behaviour };
  const line = new SerialLine(options, {
    owns: () => true,
    request: ({ unitId, pdu }) => {
      executed++;
      return plainReply(encodeRtu(unitId, pdu));
    },
    played: (_, report) => reports.push(report),
    event: () => {},
  });
  return { line, options, reports, executed: () => executed };
}

/** A port whose adapter hears what it sends, `latency` ms after the last character. */
function echoingPort(listener: PortListener, latency: number): BytePort {
  return {
    path: '/dev/echo',
    write: (bytes) => {
      const copy = Uint8Array.from(bytes);
      setTimeout(() => listener.onData(copy), latency + bytes.length * CHARACTER);
      return undefined;
    },
    facts: () => ({
      adapter: ADAPTER,
      settings: undefined,
      lowLatency: undefined,
      parityMarks: false,
      direction: '',
    }),
    close: async () => {},
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** As long as an echo that goes on would need for many rounds. */
const ROUNDS_MS = 1200;

async function echoing(latency: number, lead = 0) {
  let listener: PortListener | undefined;
  const opened = lineOn(
    async (heard) => {
      listener = heard;
      return { ok: true, port: echoingPort(heard, latency), notes: [] };
    },
    { lead },
  );
  await opened.line.start();
  await pause(50);
  return { ...opened, hears: (bytes: Uint8Array) => listener?.onData(bytes) };
}

describe('a serial line with an echo', () => {
  it('executes a write once when its driver is switched on some time before it sends', async () => {
    const { line, executed, hears } = await echoing(300, 300);
    hears(WRITE);
    await pause(ROUNDS_MS);
    expect(executed()).toBe(1);
    await line.stop();
  });

  it('executes nothing of its own when its settings change while an echo is under way', async () => {
    const { line, options, executed, hears } = await echoing(5);
    for (let i = 1; i <= 5; i++) {
      hears(WRITE);
      await vi.waitFor(() => expect(executed()).toBe(i));
      // The reply is on the wire now, its echo is not.
      await pause(T35 + 2);
      line.change(options);
      await pause(100);
      expect(executed()).toBe(i);
    }
    await line.stop();
  });
});

describe('a pseudo-terminal without a wire', () => {
  /** What is written to it in the end, and the reports on it. */
  async function afterTwoWrites(next: Uint8Array | undefined) {
    let heard: PortListener | undefined;
    const written: number[] = [];
    const { line, reports } = lineOn(
      async (listener) => {
        heard = listener;
        const port: BytePort = {
          ...echoingPort(listener, 0),
          write: (bytes) => {
            written.push(...bytes);
            return undefined;
          },
        };
        return { ok: true, port, notes: [] };
      },
      {
        framer: new RtuFramer(() => true, T35),
        timing: { t35: T35, turnaround: undefined, wireTime: 0, outputHold: 0, lead: 0 },
        isPseudoTerminal: true,
      },
    );
    await line.start();
    heard?.onData(WRITE);
    // The same again: the reply to it leaves in two halves, to see whether the first of them comes back.
    heard?.onData(WRITE);
    if (next) {
      // Without t3.5 between them all would be answered.
      await pause(10 * T35);
      heard?.onData(next);
    }
    await vi.waitFor(() => expect(reports).toHaveLength(next ? 3 : 2), { timeout: 5000 });
    await line.stop();
    return { written, reports };
  }

  it('reports a reply that was cut to find an echo as one step', async () => {
    const { written, reports } = await afterTwoWrites(undefined);
    expect(written).toEqual([...WRITE, ...WRITE]);
    expect(reports[1]).toMatchObject({ steps: [{ outcome: 'achieved' }], ended: 'complete' });
  });

  it('reports it as not achieved when only a half was sent', async () => {
    const read = encodeRtu(1, Uint8Array.of(3, 0, 0, 0, 1));
    const { written, reports } = await afterTwoWrites(read);
    expect(written).toEqual([...WRITE, ...WRITE.subarray(0, 4), ...read]);
    expect(reports[1]).toMatchObject({
      steps: [{ outcome: 'not achieved', reason: expect.stringMatching(/^given up after the first half/) }],
      ended: 'superseded',
    });
  });
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
    await vi.waitFor(() => expect(reports).toHaveLength(1));
    await pause(20);
    expect(executed()).toBe(1);
    expect(reports).toEqual([
      {
        steps: [expect.objectContaining({ outcome: 'not achieved', reason: 'unplugged' })],
        ended: 'disconnected',
      },
    ]);
    await line.stop();
  });
});

describe('a serial line that is stopped while it opens its port again', () => {
  it('has closed it when the stop is over', async () => {
    let heard: PortListener | undefined;
    let open = 0;
    let attempts = 0;
    const port: BytePort = {
      ...echoingPort({ onData: () => {}, onDamaged: () => {}, onClose: () => {} }, 0),
      close: async () => {
        await pause(20);
        open--;
      },
    };
    const { line } = lineOn(async (listener) => {
      attempts++;
      heard = listener;
      if (open > 0) return { ok: false, error: 'is in use' };
      open++;
      await pause(40);
      return { ok: true, port, notes: [] };
    });
    expect(await line.start()).toMatchObject({ ok: true });
    open--;
    heard?.onClose('unplugged');
    await vi.waitFor(() => expect(attempts).toBe(2), { interval: 2 });
    await line.stop();
    expect(open).toBe(0);
    expect(await line.start()).toMatchObject({ ok: true });
    await line.stop();
  });
});
