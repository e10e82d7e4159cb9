import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { valueAt } from '../../../src/common/schema/parts.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import {
  commandObserver,
  type Observer,
  readJsonPath,
  readObserver,
  registerObserver,
  urlObserver,
  type WrittenObserver,
} from '../../../src/testing/client/observer.js';
import { inVirtualTime, testModelClient, virtualBench } from './virtual-bench.js';

const read = (written: WrittenObserver) => readObserver(written, (part) => `--observer-${part}`);

/** The observer that such options make on a bench. */
function made(written: WrittenObserver, bench = {} as Simulator): Observer {
  const wanted = read(written);
  const observer = wanted.ok ? wanted.value?.(bench) : wanted;
  if (!observer?.ok) throw new Error(observer?.error);
  return observer.value;
}

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
    expect(valueAt({ a: [{ b: 7 }] }, ['a', 0, 'b'])).toBe(7);
    expect(valueAt({ a: 1 }, ['toString'])).toBeUndefined();
    expect(valueAt('text', ['length'])).toBeUndefined();
    expect(valueAt({ a: [1] }, ['a', 'length'])).toBe(1);
  });
});

describe('the options of an observer', () => {
  it('ask for none where none is written', () => {
    expect(read({})).toEqual({ ok: true, value: undefined });
  });

  it.each([
    [
      { register: 'a.b', command: 'c' },
      'expected one observer, got --observer-register and --observer-command',
    ],
    [{ path: 'a' }, '--observer-path needs --observer-url'],
    [{ command: ' ' }, '--observer-command: expected a command'],
    [{ url: 'localhost:80' }, '--observer-url: expected a URL with http or https, got "localhost:80"'],
    [
      { url: 'file:///etc/passwd' },
      '--observer-url: expected a URL with http or https, got "file:///etc/passwd"',
    ],
    [
      { url: 'http://x/', path: 'a..b' },
      '--observer-path: expected a path such as values[0].voltage, got "a..b"',
    ],
  ])('%j are refused', (written, error) => {
    expect(read(written)).toEqual({ ok: false, error });
  });
});

describe('a register as an observer', () => {
  inVirtualTime();

  it('is found by its name or its place', async () => {
    const { simulator } = await virtualBench();
    const shows = async (name: string) => {
      const observer = registerObserver(name, simulator);
      return observer.ok ? await observer.value.read() : observer.error;
    };
    expect(await shows('relay.seen')).toEqual({ ok: true, text: '0' });
    expect(await shows('meter.holding.3')).toEqual({ ok: true, text: '1003' });
    expect(await shows('meter.coils.3')).toEqual({ ok: true, text: '1' });
    expect(await shows('meter.holding.99')).toBe('device meter has no entry at holding 99');
    expect(await shows('seen')).toBe(
      'expected the name of a device, a dot and the name of a value, as in meter.seen',
    );
    expect(await shows('metre.seen')).toContain('did you mean "meter"?');
    expect(await shows('meter.sen')).toContain('did you mean "seen"?');
  });

  it('is made of its option', async () => {
    const { simulator } = await virtualBench();
    const observer = made({ register: 'relay.seen' }, simulator);
    expect([observer.name, await observer.read()]).toEqual(['register relay.seen', { ok: true, text: '0' }]);
    expect(() => made({ register: 'relay.sen' }, simulator)).toThrow('did you mean "seen"?');
  });

  it('that the client does not write to decides nothing', async () => {
    const { finding, bench } = await testModelClient({
      habits: { mistakes: ['no CRC check'] },
      checks: ['wrong-crc'],
      observer: (_, { simulator }) => {
        const observer = registerObserver('relay.seen', simulator);
        if (!observer.ok) throw new Error(observer.error);
        return observer.value;
      },
    });
    expect(finding('wrong-crc')).toMatchObject({ verdict: 'inconclusive' });
    expect(finding('wrong-crc').summary).toContain(
      'the observer does not follow the values of the replies (register relay.seen shows "0")',
    );
    expect(bench.simulator.faults.rules.list()).toEqual([]);
  });
});

describe('a URL as an observer', () => {
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
    expect(await urlObserver(url, ['values', 0, 'voltage']).read()).toEqual({ ok: true, text: '230.1' });
    expect(await urlObserver(url, ['values']).read()).toMatchObject({
      error: 'has no single value at the path',
    });
    expect(await urlObserver(url, ['v']).read()).toMatchObject({ error: 'has no value at the path' });
  });

  it('is made of its options', async () => {
    const url = await answering(200, '{"a": [1, 7]}');
    const observer = made({ url, path: 'a[1]' });
    expect([observer.name, await observer.read()]).toEqual([url, { ok: true, text: '7' }]);
    expect(await made({ url }).read()).toEqual({ ok: true, text: '{"a": [1, 7]}' });
  });

  it('shows the whole text without a path', async () => {
    const url = await answering(200, ' 17\n');
    expect(await urlObserver(url, undefined).read()).toEqual({ ok: true, text: '17' });
    expect(await urlObserver(url, ['a']).read()).toMatchObject({ error: 'has no value at the path' });
  });

  it('tells what is wrong with the page', async () => {
    const bad = await answering(503, '1');
    expect(await urlObserver(bad, undefined).read()).toMatchObject({ error: 'answered 503' });
    server?.close();
    const long = await answering(200, '1'.repeat(300_000));
    expect(await urlObserver(long, undefined).read()).toMatchObject({
      error: 'answered with more than 262144 bytes',
    });
    server?.close();
    const text = await answering(200, 'hello');
    expect(await urlObserver(text, ['a']).read()).toMatchObject({ error: 'did not answer with JSON' });
    const nobody = await urlObserver('http://127.0.0.1:1/', undefined).read();
    expect(nobody).toMatchObject({ ok: false, error: expect.stringContaining('did not answer: ') });
  });
});

describe('a command as an observer', () => {
  it('is made of its option', async () => {
    const observer = made({ command: 'echo 17' });
    expect([observer.name, await observer.read()]).toEqual(['command echo 17', { ok: true, text: '17' }]);
  });

  it('shows the last line that it prints', async () => {
    expect(await commandObserver('echo reading; echo 230.1').read()).toEqual({ ok: true, text: '230.1' });
  });

  it('tells why it shows nothing', async () => {
    expect(await commandObserver('exit 3').read()).toEqual({ ok: false, error: 'ended with exit code 3' });
    expect(await commandObserver('true').read()).toEqual({ ok: false, error: 'showed nothing' });
    const endless = await commandObserver('yes').read();
    expect(endless).toEqual({ ok: false, error: 'printed more than 262144 characters' });
  });

  it('is ended when it takes too long, with what it has started', async () => {
    const shown = await commandObserver('sleep 600 & sleep 600').read();
    expect(shown).toEqual({ ok: false, error: 'did not finish within 2000 ms' });
  });
});

it('an observer that hangs while clients are tested is not blamed on the client', async () => {
  let findings = 0;
  let frozen: string | undefined;
  const { report } = await testModelClient({
    on: 'serial',
    seed: 1,
    checks: ['exceptions', 'damaged'],
    onFinding: () => findings++,
    observer: ({ history }, { clock }) => ({
      name: 'a page that hangs after three checks',
      paceMs: 200,
      read: () => {
        const shown = history.findLast(({ at }) => at <= clock.now() - 100);
        const text = frozen ?? (shown ? String(shown.word / 10) : 'x');
        if (findings >= 3) frozen = text;
        return Promise.resolve({ ok: true, text });
      },
    }),
  });
  const blamed = report.findings.filter(({ verdict }) => verdict === 'fail');
  expect(blamed.map(({ id, summary }) => `${id}: ${summary}`)).toEqual([]);
  expect(frozen).toBeDefined();
});
