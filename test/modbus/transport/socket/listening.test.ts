import { afterEach, describe, expect, test } from 'vitest';
import { SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { SocketLine } from '../../../../src/modbus/transport/socket/socket-line.js';
import type { Transport } from '../../../../src/modbus/transport/transport.js';
import { HoldingRegisters } from './holding-registers.js';
import { socketSettings } from './socket-settings.js';

const lineOn = (kind: 'tcp' | 'udp') => (host: string, port: number) =>
  new SocketLine(socketSettings(kind, { host, port }), SOCKET, new HoldingRegisters());

const LINES: [string, (host: string, port: number) => Transport][] = [
  ['TCP', lineOn('tcp')],
  ['UDP', lineOn('udp')],
];

describe.each(LINES)('a line on %s', (_, newLine) => {
  const lines: Transport[] = [];
  afterEach(() => Promise.all(lines.splice(0).map((line) => line.stop())));

  const lineAt = (host: string, port: number) => {
    const line = newLine(host, port);
    lines.push(line);
    return line;
  };

  /** A line that is open, and its port. */
  async function opened() {
    const line = lineAt('127.0.0.1', 0);
    const started = await line.start();
    if (!started.ok) throw new Error(started.error);
    return { line, port: Number(started.endpoint.split(':')[1]) };
  }

  async function errorOf(host: string, port: number): Promise<string> {
    const started = await lineAt(host, port).start();
    return started.ok ? 'no error' : started.error;
  }

  test('names a port in use', async () => {
    const { port } = await opened();
    const line = lineAt('127.0.0.1', port);
    const error = `Cannot listen on 127.0.0.1:${port}: another program, or another line, has this port (EADDRINUSE).`;
    expect(await line.start()).toEqual({ ok: false, error, inUse: true });
    expect(line.state).toEqual({ kind: 'failed', reason: error });
  });

  test('names the address of another machine', async () => {
    expect(await errorOf('192.0.2.1', 5020)).toBe(
      'Cannot listen on 192.0.2.1:5020: this machine has no such address (EADDRNOTAVAIL).',
    );
  });

  test('names an unknown host name', async () => {
    expect(await errorOf('no-such-host.invalid', 5020)).toMatch(
      /^Cannot listen on no-such-host\.invalid:5020: the host name .* \((ENOTFOUND|EAI_AGAIN|ETIMEOUT)\)\.$/,
    );
  });

  test.each([-1, 65536, 1.5, Number.NaN])('says which ports there are instead of %d', async (port) => {
    expect(await errorOf('::1', port)).toBe(
      `Cannot listen on [::1]:${port}: expected a port from 0 to 65535.`,
    );
  });

  test('that failed to open can be started again, one that is open cannot', async () => {
    const other = await opened();
    const line = lineAt('127.0.0.1', other.port);
    expect(await line.start()).toMatchObject({ ok: false });
    await other.line.stop();
    expect(await line.start()).toEqual({ ok: true, endpoint: `127.0.0.1:${other.port}`, port: other.port });
    expect(await line.start()).toEqual({
      ok: false,
      error: `Cannot listen on 127.0.0.1:${other.port}: this line already listens there.`,
    });
    expect(line.state.kind).toBe('open');
  });

  test('on any free port opens on the same one again, because its clients know that', async () => {
    const { line, port } = await opened();
    await line.stop();
    expect(await line.start()).toMatchObject({ ok: true, port });
  });

  test('on any free port opens on another one when its own is taken meanwhile', async () => {
    const { line, port } = await opened();
    await line.stop();
    const other = lineAt('127.0.0.1', port);
    expect(await other.start()).toMatchObject({ ok: true, port });
    const again = await line.start();
    expect(again).toMatchObject({ ok: true });
    expect(again).not.toMatchObject({ port });
  });

  test('that is stopped while it opens stays closed', async () => {
    const line = lineAt('localhost', 0);
    const starting = line.start();
    await line.stop();
    expect(await starting).toEqual({
      ok: false,
      error: 'Cannot listen on localhost:0: stopped while opening.',
    });
    expect(line.state).toEqual({ kind: 'stopped' });
    expect(await line.start()).toMatchObject({ ok: true });
  });
});
