import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { commandWitness } from '../../../src/testing/examine/witness/command-witness.js';
import { atJsonPath, readJsonPath } from '../../../src/testing/examine/witness/json-path.js';
import { newWitness } from '../../../src/testing/examine/witness/new-witness.js';
import { readWitness, type WrittenWitness } from '../../../src/testing/examine/witness/read-witness.js';
import { registerWitness } from '../../../src/testing/examine/witness/register-witness.js';
import { urlWitness } from '../../../src/testing/examine/witness/url-witness.js';
import { examineModel, inVirtualTime, virtualBench } from './virtual-bench.js';

describe('a path into JSON', () => {
  it.each([
    ['a', ['a']],
    ['a.b[0]', ['a', 'b', 0]],
    ['[2].x', [2, 'x']],
    ['values[0][1]', ['values', 0, 1]],
    ['', []],
  ])('%j is read', (text, path) => {
    expect(readJsonPath(text)).toEqual(path);
  });

  it.each(['.a', 'a[', 'a[-1]', 'a[x]', 'a..b', 'a]'])('%j is refused', (text) => {
    expect(readJsonPath(text)).toBeUndefined();
  });

  it('finds own members only', () => {
    expect(atJsonPath({ a: [{ b: 7 }] }, ['a', 0, 'b'])).toBe(7);
    expect(atJsonPath({ a: 1 }, ['toString'])).toBeUndefined();
    expect(atJsonPath('text', ['length'])).toBeUndefined();
    expect(atJsonPath({ a: [1] }, ['a', 'length'])).toBe(1);
  });
});

describe('the options of a witness', () => {
  const read = (written: WrittenWitness) => readWitness(written, (part) => `--witness-${part}`);

  it('are read', () => {
    expect(read({})).toEqual({ ok: true, witness: undefined });
    expect(read({ register: 'meter.setpoint' })).toMatchObject({ witness: { register: 'meter.setpoint' } });
    expect(read({ url: 'http://localhost:1/x', path: 'a[1]' })).toMatchObject({
      witness: { path: ['a', 1] },
    });
    expect(read({ command: 'cat value' })).toMatchObject({ witness: { kind: 'command' } });
  });

  it.each([
    [{ register: 'a.b', command: 'c' }, 'expected one witness, got --witness-register and --witness-command'],
    [{ path: 'a' }, '--witness-path needs --witness-url'],
    [{ command: ' ' }, '--witness-command: expected a command'],
    [{ url: 'localhost:80' }, '--witness-url: expected a URL with http or https, got "localhost:80"'],
    [
      { url: 'file:///etc/passwd' },
      '--witness-url: expected a URL with http or https, got "file:///etc/passwd"',
    ],
    [
      { url: 'http://x/', path: 'a..b' },
      '--witness-path: expected a path such as values[0].voltage, got "a..b"',
    ],
  ])('%j are refused', (written, error) => {
    expect(read(written)).toEqual({ ok: false, error });
  });
});

describe('a register as a witness', () => {
  inVirtualTime();

  it('is found by its name or its place', async () => {
    const { simulator } = await virtualBench();
    const shows = async (name: string) => {
      const witness = registerWitness(name, simulator.devices);
      return typeof witness === 'string' ? witness : await witness.read();
    };
    expect(await shows('relay.seen')).toEqual({ ok: true, text: '0' });
    expect(await shows('meter.holding.3')).toEqual({ ok: true, text: '1003' });
    expect(await shows('meter.coils.3')).toEqual({ ok: true, text: '1' });
    expect(await shows('meter.holding.99')).toBe('device meter has nothing at holding 99');
    expect(await shows('seen')).toBe('expected a device, a dot and the name of a value, as in meter.seen');
    expect(await shows('metre.seen')).toContain('did you mean "meter"?');
    expect(await shows('meter.sen')).toContain('did you mean "seen"?');
  });

  it('is made as it was asked for, like the others', async () => {
    const { devices } = (await virtualBench()).simulator;
    const name = (witness: ReturnType<typeof newWitness>) =>
      typeof witness === 'string' ? witness : witness.name;
    expect(name(newWitness({ kind: 'register', register: 'relay.seen' }, devices))).toBe(
      'register relay.seen',
    );
    expect(name(newWitness({ kind: 'command', command: 'cat x' }, devices))).toBe('command cat x');
    const url = 'http://localhost/x';
    expect(name(newWitness({ kind: 'url', url, path: undefined }, devices))).toBe(url);
  });

  it('that the client does not write to decides nothing', async () => {
    const { finding, bench } = await examineModel({
      habits: { mistakes: ['no CRC check'] },
      checks: ['wrong-crc'],
      witness: (_, { simulator }) => {
        const witness = registerWitness('relay.seen', simulator.devices);
        if (typeof witness === 'string') throw new Error(witness);
        return witness;
      },
    });
    expect(finding('wrong-crc')).toMatchObject({ verdict: 'inconclusive' });
    expect(finding('wrong-crc').summary).toContain(
      'the witness does not follow the values of the replies (register relay.seen shows "0")',
    );
    expect(bench.simulator.faults.rules.list()).toEqual([]);
  });
});

describe('a URL as a witness', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });
  const answering = async (status: number, body: string) => {
    const made = createServer((_, response) => {
      response.writeHead(status).end(body);
    });
    server = made;
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(made.address() as AddressInfo).port}/`;
  };

  it('shows what is at its path', async () => {
    const url = await answering(200, '{"values": [{"voltage": 230.1}]}');
    expect(await urlWitness(url, ['values', 0, 'voltage']).read()).toEqual({ ok: true, text: '230.1' });
    expect(await urlWitness(url, ['values']).read()).toMatchObject({
      error: 'has no single value at the path',
    });
    expect(await urlWitness(url, ['v']).read()).toMatchObject({ error: 'has no value at the path' });
  });

  it('shows the whole text without a path', async () => {
    const url = await answering(200, ' 17\n');
    expect(await urlWitness(url, undefined).read()).toEqual({ ok: true, text: '17' });
    expect(await urlWitness(url, ['a']).read()).toMatchObject({ error: 'has no value at the path' });
  });

  it('tells what is wrong with the page', async () => {
    const bad = await answering(503, '1');
    expect(await urlWitness(bad, undefined).read()).toMatchObject({ error: 'answered 503' });
    server?.close();
    const long = await answering(200, '1'.repeat(300_000));
    expect(await urlWitness(long, undefined).read()).toMatchObject({
      error: 'answered more than 262144 bytes',
    });
    server?.close();
    const text = await answering(200, 'hello');
    expect(await urlWitness(text, ['a']).read()).toMatchObject({ error: 'did not answer JSON' });
    const nobody = await urlWitness('http://127.0.0.1:1/', undefined).read();
    expect(nobody).toMatchObject({ ok: false, error: expect.stringContaining('did not answer: ') });
  });
});

describe('a command as a witness', () => {
  it('shows the last line that it prints', async () => {
    expect(await commandWitness('echo reading; echo 230.1').read()).toEqual({ ok: true, text: '230.1' });
  });

  it('tells why it shows nothing', async () => {
    expect(await commandWitness('exit 3').read()).toEqual({ ok: false, error: 'ended with exit code 3' });
    expect(await commandWitness('true').read()).toEqual({ ok: false, error: 'showed nothing' });
    const endless = await commandWitness('yes').read();
    expect(endless).toEqual({ ok: false, error: 'printed more than 262144 characters' });
  });

  it('is ended when it takes too long, with what it has started', async () => {
    const shown = await commandWitness('sleep 600 & sleep 600').read();
    expect(shown).toEqual({ ok: false, error: 'did not end within 2000 ms' });
  });
});
