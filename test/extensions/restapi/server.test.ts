import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COUNTERS } from '../../../src/simulator/traffic/counters.js';
import { freePort, serialMaster, takenPort, tcpMaster } from '../../remote/api/masters.js';
import type { Rest } from '../../remote/api/rest.js';
import { nativeSetup, pymodbusSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

interface ServerBody {
  readonly result: 'ok' | 'error';
  readonly error: string;
  readonly footer: string;
  readonly server_rows: readonly Readonly<Record<string, unknown>>[];
}

const device = (first: number) => ({
  registers: { holding: [{ address: 0, value: [first, 2, 3], write: true }] },
});

let directory: string;
let link: string;
let rest: Rest;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'modbus-sim-server-'));
  link = join(directory, 'bench');
  const served = await startSimulator(
    nativeSetup({
      devices: { meter: device(1), valve: device(71) },
      lines: {
        bench: { serial: { path: 'virtual', link, baudRate: 9600, parity: 'none' }, units: { 1: 'meter' } },
        lan: { tcp: { port: 0 }, units: { 1: 'meter', '*': 'valve' } },
      },
    }),
  );
  rest = served.rest;
});
afterEach(() => rmSync(directory, { recursive: true }));
stopAfterEach();

async function server(request: object): Promise<ServerBody> {
  const { status, body } = await rest.send<ServerBody>('POST', '/restapi/server', request);
  expect(status).toBe(200);
  return body;
}

/** The row of one line after a request that was right. */
async function row(request: object): Promise<Readonly<Record<string, unknown>>> {
  const { result, error, server_rows } = await server(request);
  expect(error).toBeUndefined();
  expect(result).toBe('ok');
  expect(server_rows).toHaveLength(1);
  return server_rows[0] as Readonly<Record<string, unknown>>;
}

/** All rows without what passes by itself. */
async function rows(): Promise<object[]> {
  const { server_rows } = await server({ submit: 'Status' });
  return server_rows.map(({ uptime, ...rest }) => rest);
}

const tcpPort = async () =>
  Number(String((await row({ submit: 'Status', line: 'lan' })).place).split(':')[1]);

const NO_COUNTS = {
  count_requests: 0,
  count_broadcasts: 0,
  count_dropped: 0,
  count_replies: 0,
  count_duplicates: 0,
  count_echoes: 0,
  count_collisions: 0,
  count_foreign_frames: 0,
  count_damaged_frames: 0,
  count_noise_bytes: 0,
  count_damaged_characters: 0,
  count_rejected: 0,
  count_unsolicited: 0,
};

describe('Status', () => {
  it('shows every counter of a line', async () => {
    const bench = await row({ submit: 'Status', line: 'bench' });
    const counted = Object.keys(bench).filter((key) => key.startsWith('count_'));
    const inSnakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(counted.sort()).toEqual(
      Object.keys(COUNTERS)
        .map((name) => `count_${inSnakeCase(name)}`)
        .sort(),
    );
  });

  it('shows every line', async () => {
    expect(await server({ submit: 'Status' })).toEqual({
      result: 'ok',
      footer: '2 lines: 2 open',
      server_states: { open: 0, waiting: 1, stopped: 2, failed: 3 },
      server_framers: { socket: 0, rtu: 1, ascii: 2 },
      server_parities: { N: 0, E: 1, O: 2 },
      server_rows: [
        {
          line: 'bench',
          comm: 'serial',
          framer: 'rtu',
          state: 'open',
          error: '',
          place: expect.stringMatching(/^\/dev\/pts\/\d+$/),
          host: null,
          port: 'virtual',
          baudrate: 9600,
          bytesize: 8,
          parity: 'N',
          stopbits: 1,
          turnaround: 't3.5',
          t1_5: expect.closeTo(1.719, 3),
          t3_5: expect.closeTo(4.01, 2),
          gap: expect.any(Number),
          clients: null,
          uptime: expect.any(Number),
          units: { 1: 'meter' },
          ...NO_COUNTS,
        },
        {
          line: 'lan',
          comm: 'tcp',
          framer: 'socket',
          state: 'open',
          error: '',
          place: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
          host: '127.0.0.1',
          port: 0,
          baudrate: null,
          bytesize: null,
          parity: null,
          stopbits: null,
          turnaround: null,
          t1_5: null,
          t3_5: null,
          gap: null,
          clients: 0,
          uptime: expect.any(Number),
          units: { 1: 'meter', '*': 'valve' },
          ...NO_COUNTS,
        },
      ],
    });
  });

  it('of one line shows that, its clients and what has passed over it', async () => {
    const master = await tcpMaster(await tcpPort());
    await master.readHoldingRegisters(0, 1);
    expect(await row({ submit: 'Status', line: 'lan' })).toMatchObject({
      line: 'lan',
      clients: 1,
      count_requests: 1,
      count_replies: 1,
    });
  });
});

describe('Set', () => {
  it.each([
    [{ baudrate: 115200 }, { baudrate: 115200, t3_5: 1.75 }],
    [{ baudrate: ' 19200 ' }, { baudrate: 19200 }],
    [{ parity: 'E' }, { parity: 'E' }],
    [{ parity: 'odd' }, { parity: 'O' }],
    [
      { parity: 'none', stopbits: '2' },
      { parity: 'N', stopbits: 2 },
    ],
    [
      { framer: 'ascii', bytesize: 7 },
      { framer: 'ascii', bytesize: 7, gap: 1000 },
    ],
    [{ turnaround: 20 }, { turnaround: 20 }],
    [{ turnaround: '2.5' }, { turnaround: 2.5 }],
    [{ turnaround: 'eager' }, { turnaround: 'eager' }],
    [
      { turnaround: null, t3_5: '6', gap: 80.5 },
      { turnaround: 't3.5', t3_5: 6, gap: 80.5 },
    ],
    [
      { units: { '1': 'valve', '2-4': 'meter' } },
      { units: { 1: 'valve', 2: 'meter', 3: 'meter', 4: 'meter' } },
    ],
    [
      { baudrate: 4800, parity: '', stopbits: '', host: '' },
      { baudrate: 4800, parity: 'N' },
    ],
  ])('%j changes the open serial line', async (settings, shown) => {
    const before = await row({ submit: 'Status', line: 'bench' });
    const after = await row({ submit: 'Set', line: 'bench', ...settings });
    expect(after).toMatchObject({ ...shown, state: 'open', place: before.place });
    expect((await rows())[0]).toMatchObject(shown);
  });

  it('takes effect for a client that stays connected, and registers stay', async () => {
    const master = await serialMaster(link);
    await master.writeRegister(0, 4711);
    const { footer } = await server({
      submit: 'Set',
      line: 'bench',
      baudrate: 57600,
      parity: 'O',
      turnaround: 5,
      units: { 1: 'meter', 9: 'valve' },
    });
    expect(footer).toMatch(
      /^line bench: open, RTU on \/dev\/pts\/\d+ .*57600 8O1, units 1, 9; t1\.5 0\.750 ms, .*, replies 5 ms after t3\.5$/,
    );
    expect((await master.readHoldingRegisters(0, 2)).data).toEqual([4711, 2]);
    master.setID(9);
    expect((await master.readHoldingRegisters(0, 1)).data).toEqual([71]);
  });

  it('moves a TCP line to another port', async () => {
    const [old, port] = [await tcpPort(), await freePort()];
    expect(await row({ submit: 'Set', line: 'lan', port: String(port) })).toMatchObject({
      port,
      place: `127.0.0.1:${port}`,
    });
    await expect(tcpMaster(old)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect((await (await tcpMaster(port)).readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it.each([
    [{}, 'body: nothing to set'],
    [{ baudrate: '' }, 'body: nothing to set'],
    [{ speed: 9600 }, 'speed: unknown key "speed"'],
    [{ baudRate: 9600 }, 'baudRate: unknown key "baudRate", did you mean "baudrate"?'],
    [{ baudrate: 'fast' }, 'baudrate: expected a whole number, 0 or more, got "fast"'],
    [{ baudrate: 9600.5 }, 'baudrate: expected a whole number, 0 or more, got 9600.5'],
    [{ baudrate: 10 }, 'baudrate: expected a whole number from 50 to 4000000, got 10'],
    [{ baudrate: null }, 'baudrate: expected a whole number, 0 or more, got nothing'],
    [{ baudrate: [9600] }, 'baudrate: expected a whole number, 0 or more, got a list'],
    [{ bytesize: 7 }, 'bytesize: expected 8 (7 is for framing ascii), got 7'],
    [{ bytesize: 9 }, 'bytesize: expected 7 or 8, got 9'],
    [{ parity: 'M' }, 'parity: expected N, E, O, none, even or odd, got "M"'],
    [{ stopbits: 3 }, 'stopbits: expected 1 or 2, got 3'],
    [{ framer: 'tls' }, 'framer: expected rtu or ascii, got "tls"'],
    [{ framer: 'socket' }, 'framer: expected rtu or ascii, got "socket"'],
    [{ framer: 'x' }, 'framer: expected socket, rtu, ascii or tls, got "x"'],
    [{ turnaround: 'soon' }, 'turnaround: expected t3.5, eager or a number of milliseconds, got "soon"'],
    [{ turnaround: -1 }, 'turnaround: expected t3.5, eager or a number of milliseconds'],
    [{ t3_5: 'x' }, 't3_5: expected a number of milliseconds, got "x"'],
    [{ gap: 1 }, 'gap: expected at least t3.5, 4.01 ms, got 1'],
    [{ gap: 1e300 }, 'gap: expected a number of milliseconds'],
    [{ port: 5020 }, 'port: expected the path of a serial port, or virtual, got 5020'],
    [{ port: {} }, 'port: expected the path of a serial port, or a port number, got a mapping'],
    [{ host: '127.0.0.1' }, 'host: only a line with a socket has this setting'],
    [{ units: { 1: 'x' } }, 'units.1: unknown device "x"'],
    [
      { units: { 0: 'meter' } },
      'units.0: 0 is the broadcast address, which no device answers: expected a unit identifier from 1 to 247',
    ],
    [{ units: 'meter' }, 'units: expected unit identifiers'],
    [{ units: null }, 'units: missing, expected unit identifiers'],
    [
      { line: 'benhc', baudrate: 9600 },
      'line: unknown line "benhc", did you mean "bench"? (known: bench, lan)',
    ],
    [{ line: 7, baudrate: 9600 }, 'line: expected the name of a line, got 7'],
    [{ line: null, baudrate: 9600 }, 'line: missing, expected one of bench, lan'],
    [{ line: 'lan', baudrate: 9600 }, 'baudrate: only a line on a serial port has this setting'],
    [{ line: 'lan', gap: 9 }, 'gap: only a line on a serial port has this setting'],
    [{ line: 'lan', framer: 'tls' }, 'framer: expected socket, rtu or ascii, got "tls"'],
    [{ line: 'lan', port: 'virtual' }, 'port: expected a whole number from 0 to 65535, got "virtual"'],
    [{ line: 'lan', port: 70000 }, 'port: expected a whole number from 0 to 65535, got 70000'],
    [{ line: 'lan', host: 7 }, 'host: expected a host name or an address, got 7'],
    [{ baudrate: 1, stopbits: 5 }, 'baudrate: expected a whole number from 50 to 4000000, got 1; stopbits:'],
  ])('%j is refused with the place, and nothing changes', async (settings, error) => {
    const before = await rows();
    const answer = await server({ submit: 'Set', line: 'bench', ...settings });
    expect(answer).toEqual({ result: 'error', error: expect.stringContaining(error) });
    expect(await rows()).toEqual(before);
  });

  it('of a port that can not be had is refused with the reason, and the line goes on', async () => {
    const path = '/dev/serial/by-id/usb-none-of-this-machine';
    const [serial, tcp] = [await serialMaster(link), await tcpMaster(await tcpPort())];
    const port = await takenPort();
    const before = await rows();
    expect(await server({ submit: 'Set', line: 'lan', port, units: { 1: 'valve' } })).toEqual({
      result: 'error',
      error: expect.stringMatching(new RegExp(`^line lan: .*127\\.0\\.0\\.1:${port}`)),
    });
    expect(await server({ submit: 'Set', line: 'bench', port: path })).toEqual({
      result: 'error',
      error: expect.stringContaining(`line bench: ${path}`),
    });
    expect(await rows()).toEqual(before);
    expect((await serial.readHoldingRegisters(0, 1)).data).toEqual([1]);
    expect((await tcp.readHoldingRegisters(0, 1)).data).toEqual([1]);
  });
});

describe('Start, Stop and Restart', () => {
  it('are for the line that is named', async () => {
    const port = await freePort();
    await row({ submit: 'Set', line: 'lan', port });
    expect(await row({ submit: 'Stop', line: 'lan' })).toMatchObject({
      state: 'stopped',
      error: '',
      uptime: null,
      clients: 0,
    });
    expect(await server({ submit: 'Status' })).toMatchObject({ footer: '2 lines: 1 open, 1 stopped' });
    await expect(tcpMaster(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await server({ submit: 'Start', line: 'lan' })).toMatchObject({
      footer: `line lan: open, Modbus TCP on 127.0.0.1:${port}, units 1, *`,
    });
    expect((await (await tcpMaster(port)).readHoldingRegisters(0, 1)).data).toEqual([1]);
    expect(await row({ submit: 'Restart', line: 'lan' })).toMatchObject({ state: 'open', clients: 0 });
    expect((await (await tcpMaster(port)).readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('a refused Start is an error, and Status tells why', async () => {
    const port = await takenPort();
    await row({ submit: 'Stop', line: 'lan' });
    await row({ submit: 'Set', line: 'lan', port });
    const { error } = await server({ submit: 'Start', line: 'lan' });
    expect(error).toContain(`127.0.0.1:${port}`);
    const failed = await row({ submit: 'Status', line: 'lan' });
    expect(failed.state).toBe('failed');
    expect(`line lan: ${failed.error}`).toBe(error);
  });

  it('Restart without a line is for all of them', async () => {
    await tcpMaster(await tcpPort());
    const { result, footer, server_rows } = await server({ submit: 'Restart' });
    expect({ result, footer }).toEqual({ result: 'ok', footer: '2 lines: 2 open' });
    expect(server_rows.map(({ line, clients }) => [line, clients])).toEqual([
      ['bench', null],
      ['lan', 0],
    ]);
    expect((await (await tcpMaster(await tcpPort())).readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('Restart of all tells which could not be opened again, and opens the others', async () => {
    await row({ submit: 'Stop', line: 'lan' });
    await row({ submit: 'Stop', line: 'bench' });
    await row({ submit: 'Set', line: 'lan', port: await takenPort() });
    const { error } = await server({ submit: 'Restart' });
    expect(error).toMatch(/^line lan: [^;]+$/);
    expect(await row({ submit: 'Status', line: 'bench' })).toMatchObject({ state: 'open' });
  });

  it.each(['Start', 'Stop', 'Set'])('%s names the lines when it is not told which', async (submit) => {
    const settings = submit === 'Set' ? { turnaround: 1 } : {};
    expect(await server({ submit, ...settings })).toEqual({
      result: 'error',
      error: 'line: missing, expected one of bench, lan',
    });
  });

  it.each([
    [{ submit: 'Start', line: 'x' }, 'line: unknown line "x" (known: bench, lan)'],
    [{ submit: 'Status', line: 'x' }, 'line: unknown line "x" (known: bench, lan)'],
    [{ submit: 'Stop', line: 'bench', baudrate: 1 }, 'baudrate: unknown key "baudrate"'],
    [{ submit: 'Kill' }, 'submit: expected Status, Start, Stop, Restart or Set, got "Kill"'],
    [{}, 'submit: missing, expected Status, Start, Stop, Restart or Set'],
  ])('%j is refused', async (request, error) => {
    expect(await server(request)).toEqual({ result: 'error', error: expect.stringContaining(error) });
  });
});

describe('with a pymodbus file', () => {
  it('the one line needs no name, and a change of its units disconnects nobody', async () => {
    const file = fileURLToPath(new URL('./meter.json', import.meta.url));
    rest = (await startSimulator(pymodbusSetup(file, 'tcp', 'meter'))).rest;
    const { place } = await row({ submit: 'Status' });
    const master = await tcpMaster(Number(String(place).split(':')[1]));
    expect((await master.readHoldingRegisters(10, 1)).data).toEqual([7]);
    expect(await row({ submit: 'Set', units: { 1: 'meter' } })).toMatchObject({ place, clients: 1 });
    expect((await master.readHoldingRegisters(10, 1)).data).toEqual([7]);
    expect(await row({ submit: 'Stop' })).toMatchObject({ line: 'tcp', state: 'stopped' });
    expect(await row({ submit: 'Start' })).toMatchObject({ state: 'open' });
  });
});
