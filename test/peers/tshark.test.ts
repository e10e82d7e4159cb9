import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RawClient, until } from '../modbus/transport/socket/raw-client.js';
import { askAll, NINETEEN, startCapturePlant } from '../support/capture-plant.js';
import type { RunningSimulator } from '../support/simulator.js';
import { describeWithPeer, isInstalled } from './peer.js';

const run = promisify(execFile);
const missing = isInstalled('tshark', '--version') ? undefined : 'tshark is missing: apt-get install tshark';

const CODES = NINETEEN.map(([code = 0]) => code);
/** Their requests are the function code alone. */
const SHORT = [7, 11, 12, 17];

const byNumber = (a: number, b: number) => a - b;

/** The function code in an information column such as `Query: Unit:   1, Func:   8/  1: …`. */
function functionIn(info: string | undefined, direction: 'Query' | 'Response'): number | undefined {
  const code = new RegExp(`${direction}: Unit: +1, Func: +(\\d+)`).exec(info ?? '')?.[1];
  return code === undefined ? undefined : Number(code);
}

/** A free port that the kernel gives to nobody by itself, so that it can be used again and again. */
async function portOutsideTheEphemeral(): Promise<number> {
  for (let port = 20_000 + (process.pid % 5000); ; port++) {
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await new Promise((resolve) => {
      server.once('listening', () => resolve(true)).once('error', () => resolve(false));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

describeWithPeer('tshark', missing, () => {
  const directory = mkdtempSync(join(tmpdir(), 'tshark-'));
  let running: RunningSimulator;

  beforeAll(async () => {
    running = await startCapturePlant();
    for (const line of ['bench', 'text', 'lan', 'gateway']) await askAll(running, line, NINETEEN);
    running.addRule({ name: 'bad-crc', when: { line: 'bench' }, do: [{ delay: 20 }, { crc: 'invert' }] });
    running.addRule({ name: 'pieces', when: { line: 'lan' }, do: [{ split: { at: 'middle', gap: 5 } }] });
    for (const line of ['bench', 'lan']) await askAll(running, line, NINETEEN.slice(2, 3));
  });
  afterAll(async () => {
    await running.stop();
    rmSync(directory, { recursive: true });
  });

  it.each(['wire', 'decoded'])('dissects everything in the %s form', async (form) => {
    const rows = await dissect(form, '_ws.malformed', '_ws.col.Info');
    expect(rows.length).toBeGreaterThan(2 * 4 * NINETEEN.length);
    expect(rows.filter(([malformed]) => malformed !== '')).toEqual([]);
  });

  it('classifies both directions of every function in the decoded form', async () => {
    const rows = await dissect('decoded', 'ip.dst', '_ws.col.Info');
    expect(rows.filter(([, info]) => /unable to classify/i.test(info ?? ''))).toEqual([]);
    for (const address of ['198.18.0.1', '198.18.0.2', '198.18.0.3', '198.18.0.4']) {
      const queries = rows.filter(([to]) => to === address).map(([, info]) => functionIn(info, 'Query'));
      expect(new Set(queries)).toEqual(
        new Set([undefined, ...CODES.filter((code) => !SHORT.includes(code))]),
      );
    }
    const responses = rows.map(([, info]) => functionIn(info, 'Response'));
    expect(new Set(responses)).toEqual(new Set([undefined, ...CODES]));
  });

  it('pairs each response with its request', async () => {
    const times = await dissect('decoded', 'modbus.func_code', 'modbus.response_time');
    const paired = times.filter(([, time]) => time !== '').map(([code]) => Number(code));
    const expected = CODES.filter((code) => !SHORT.includes(code)).flatMap((code) => [
      code,
      code,
      code,
      code,
    ]);
    expect(paired.sort(byNumber)).toEqual([...expected, 3, 3].sort(byNumber));
  });

  it('tells the functions without data in a comment, which it can not dissect', async () => {
    const rows = await dissect('decoded', 'udp.length', 'frame.comment');
    const short = rows.filter(([length]) => Number(length) === 8 + 4).map(([, comment]) => comment);
    expect(new Set(short)).toEqual(new Set(SHORT.map((code) => `unit 1, function ${code}, without data`)));
  });

  it('shows the CRC fault as bad, and nothing else', async () => {
    const rows = await dissect('decoded', 'mbrtu.crc16.status', 'frame.comment');
    const bad = rows.filter(([status]) => status === '0').map(([, comment]) => comment);
    expect(bad).toEqual([expect.stringMatching(/^rule bad-crc: delay\\nrule bad-crc: crc\\nplanned \d+ µs/)]);
    expect(rows.filter(([status]) => status === '1').length).toBeGreaterThan(100);
  });

  it('finds no fault in the TCP of the wire form', async () => {
    const rows = await dissect(
      'wire',
      'tcp.stream',
      'tcp.analysis.flags',
      'tcp.checksum.status',
      'mbtcp.trans_id',
    );
    const segments = rows.filter(([stream]) => stream !== '');
    expect(segments.filter(([, flags]) => flags !== '')).toEqual([]);
    expect(segments.filter(([, , checksum]) => checksum !== '1')).toEqual([]);
    expect(segments.filter(([, , , transaction]) => transaction !== '')).not.toEqual([]);
  });

  it('has each step of a reply at its own time in the wire form', async () => {
    const rows = await dissect('wire', 'frame.time_epoch', 'frame.comment');
    const times = rows
      .filter(([, comment]) => /step \d of 2/.test(comment ?? ''))
      .map(([time]) => Number(time));
    expect(times).toHaveLength(2);
    expect((times[1] as number) - (times[0] as number)).toBeGreaterThan(0.0049);
  });

  it('dissects a second connection from the same port', async () => {
    // tshark dissects no reply whose header is in two segments.
    running.simulator.faults.rules.remove('pieces');
    const port = running.port('lan');
    const request = Buffer.from('000100000006010300000001', 'hex');
    const localPort = await portOutsideTheEphemeral();
    for (let i = 0; i < 3; i++) {
      const client = new RawClient(connect({ port, host: '127.0.0.1', localPort }));
      await until(() => client.connected, 'connected');
      client.send(request);
      await until(() => client.received.length === 11, 'answered');
      // Without TIME_WAIT, which would keep the port.
      client.socket.resetAndDestroy();
      const gone = (n: number) => running.simulator.lines.get('lan')?.clients === n;
      await until(() => gone(0), 'gone');
    }
    const rows = await dissect(
      'wire',
      'tcp.srcport',
      'tcp.dstport',
      'tcp.stream',
      'tcp.analysis.flags',
      'mbtcp.trans_id',
    );
    const ours = rows.filter((row) => row.slice(0, 2).includes(String(localPort)));
    expect(ours.filter(([, , , , transaction]) => transaction !== '')).toHaveLength(6);
    expect(new Set(ours.map(([, , stream]) => stream)).size).toBe(3);
  });

  it('shows the frames of an ASCII line as text in the wire form, and what they mean in the decoded one', async () => {
    const file = join(directory, 'text.pcapng');
    writeFileSync(file, await capture('?form=wire&line=text'));
    const shown = await run('tshark', [
      '-r',
      file,
      '-T',
      'fields',
      '-e',
      'data.text',
      '-o',
      'data.show_as_text:TRUE',
    ]);
    const frames = shown.stdout.split('\n').filter((row) => row !== '');
    expect(frames).toHaveLength(2 * NINETEEN.length);
    for (const frame of frames) expect(frame).toMatch(/^:(?:[0-9A-F]{2})+\\r\\n$/);
    const decoded = await dissect('decoded', 'frame.interface_name', 'mbrtu.crc16.status');
    const ofText = decoded.filter(([line]) => line === 'text').map(([, status]) => status);
    expect(ofText.filter((status) => status === '1')).toHaveLength(2 * NINETEEN.length - SHORT.length);
    expect(ofText).not.toContain('0');
  });

  /** Fields of all packets, as tshark prints them. */
  async function dissect(form: string, ...fields: readonly string[]): Promise<string[][]> {
    const file = join(directory, `${form}.pcapng`);
    writeFileSync(file, await capture(`?form=${form}`));
    const { stdout } = await run('tshark', [
      ...['-r', file, '-T', 'fields', ...fields.flatMap((field) => ['-e', field])],
      ...['-o', 'mbrtu.udp.port:5020', '-o', 'mbrtu.crc_verification:TRUE', '-o', 'tcp.check_checksum:TRUE'],
      ...['-d', 'rtacser.data,mbrtu'],
      ...['-d', `tcp.port==${running.port('lan')},mbtcp`],
      ...['-d', `tcp.port==${running.port('gateway')},mbrtu`],
    ]);
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((row) => row.split('\t'));
  }

  async function capture(query: string): Promise<Buffer> {
    const { rawPayload, statusCode } = await running.rest.app.inject({
      url: `/api/v1/capture.pcapng${query}`,
      headers: { host: 'localhost' },
    });
    expect(statusCode).toBe(200);
    return rawPayload;
  }
});
