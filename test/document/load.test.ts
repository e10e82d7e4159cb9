import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatProblems, formatWarnings } from '../../src/common/schema/problem.js';
import { checkFile, loadConfiguration, loadNativeFile, loadPymodbus } from '../../src/document/load.js';
import { fixture, loaded, problemsOf, scratchFiles } from './helpers.js';

const write = scratchFiles();
const problemsIn = (name: string, content: string | Uint8Array) =>
  problemsOf(checkFile(write(name, content)));

describe('checking a file', () => {
  it.each(['bench.yaml', 'plant.json'])('finds nothing wrong with %s', (name) => {
    expect(checkFile(fixture(name))).toEqual({ ok: true, warnings: [] });
  });

  it('tells all mistakes at once, in the order of the file, with line and column', () => {
    const file = write(
      'many.yaml',
      `api: {port: 1.5}
lines:
  a: {serial: {path: /dev/x, parity: mark, baudrate: 1}, units: {1: nobody, 300: m}}
devices:
  m:
    registers:
      holding:
        - {address: 0, value: [1, -1]}
        - {address: 1, type: uint23}
        - {address: 1}
`,
    );
    const text = formatProblems('many.yaml', problemsOf(checkFile(file)));
    expect(text.split('\n').map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'many.yaml:1:7: api.port:',
      'many.yaml:3:30: lines.a.serial.parity:',
      'many.yaml:3:44: lines.a.serial.baudrate:',
      'many.yaml:3:66: lines.a.units.1:',
      'many.yaml:3:77: lines.a.units.300:',
      'many.yaml:8:35: devices.m.registers.holding[0].value[1]:',
      'many.yaml:9:24: devices.m.registers.holding[1].type:',
      'many.yaml:10:11: devices.m.registers.holding[2]:',
    ]);
  });

  it('gives lines and columns in JSON too, indented with tabs', () => {
    const problems = problemsIn(
      'tabs.json',
      '{\n\t"devices": {\n\t\t"m": {"registers": 5}},\n\t"lines": 7\n}',
    );
    expect(problems).toEqual([
      { path: 'devices.m.registers', message: 'expected a mapping, got 5', line: 3, column: 9 },
      { path: 'lines', message: 'expected lines by name, got 7', line: 4, column: 2 },
    ]);
  });

  it('checks every server and device of a pymodbus file', () => {
    const problems = problemsIn(
      'both.json',
      '{"server_list": {"a": {"comm": "udp", "host": "h", "port": "x"}, "b": {"comm": "x"}}, "device_list": {"c": {}, "d": 1}}',
    );
    expect(problems.map(({ path }) => path)).toEqual([
      'server_list.a.port',
      'server_list.b.comm',
      'device_list.c.setup',
      'device_list.d',
    ]);
  });

  it('points at the line of a syntax error', () => {
    expect(problemsIn('syntax.yaml', 'devices:\n  m: {registers: [}\n')[0]).toMatchObject({
      line: 2,
      path: '',
    });
    expect(problemsIn('syntax.json', '{"devices": \n}}')[0]).toMatchObject({ line: 2 });
  });

  it.each([
    ['a: 1\nb: 2\na: 3\n', 'a', 3],
    ['{"a": 1,\n"a": 2}', 'a', 2],
    ['x: {1: m, "1": n}', 'x.1', 1],
  ])('takes no key twice: %j', (text, path, line) => {
    expect(problemsIn('twice.yaml', text)).toMatchObject([{ path, line, message: 'this key appears twice' }]);
  });

  it.each([
    ['an alias without an anchor', 'a: *b', /alias.*b|anchor "b"/],
    [
      'an alias that contains itself',
      'a: &a [*a]',
      /nested more than 64 levels deep, or an alias that contains itself/,
    ],
    ['deep nesting', '['.repeat(100_000), /^nested more than 64 levels deep$/],
    ['deep nesting without brackets', '- '.repeat(2_000), /^nested more than 64 levels deep/],
    ['more than one document', 'a: 1\n---\nb: 2\n', /^more than one document in the file$/],
    ['an unknown tag', 'a: !secret 1\n', /tag/],
    ['a mapping as a key', '{a: 1}: 2\n', /^expected a name as a key, got a mapping$/],
    [
      'a file that would take the memory',
      `[${'1,'.repeat(600_000)}1]`,
      /^more than 1000000 words, signs and spaces/,
    ],
    ['nothing at all', '', /^expected a mapping with devices and lines, got nothing$/],
    ['text that is no UTF-8', new Uint8Array([0x61, 0x3a, 0xff, 0xfe]), /^is not UTF-8 text$/],
    ['a NUL', 'a\0b', /./],
  ])('has one line for %s', (_, content, message) => {
    const problems = problemsIn('strange.yaml', content);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(message);
    expect(problems[0]?.message).not.toContain('\n');
  });

  it('stops at an alias bomb', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)} *l${i}]`,
    );
    const problems = problemsIn('bomb.yaml', ['l0: &l0 [1]', ...levels].join('\n'));
    expect(problems).toEqual([{ path: '', message: 'more than 2000000 values with aliases expanded' }]);
  });

  it('takes an alias for what it stands for, and names both places in the path', () => {
    const text = 'devices: {a: &a {registers: {}}, b: *a}\nlines: {l: {tcp: {}, units: {1: a, 2: b}}}';
    expect(checkFile(write('alias.yaml', text))).toEqual({ ok: true, warnings: [] });
    const wrong = text.replace('registers: {}', 'registers: 5');
    expect(problemsIn('alias.yaml', wrong).map(({ path }) => path)).toEqual([
      'devices.a.registers',
      'devices.b.registers',
    ]);
  });

  it('is plain about a file that can not be read', () => {
    const directory = dirname(write('x', ''));
    mkdirSync(join(directory, 'folder'), { recursive: true });
    const message = (path: string) => problemsOf(checkFile(path)).map((problem) => problem.message);
    expect(message(join(directory, 'none.yaml'))).toEqual(['no such file']);
    expect(message(join(directory, 'folder'))).toEqual(['is a directory, expected a file']);
    expect(message('/dev/null')).toEqual(['is not a regular file']);
    expect(message(`a\0b`)[0]).toMatch(/^can't be read/);
    expect(message(write('large.yaml', Buffer.alloc(8 * 1024 * 1024 + 1, 32)))).toEqual([
      'is too large: more than 8388608 bytes',
    ]);
  });
});

describe('a device that a native file takes from a pymodbus file', () => {
  const native = (reference: string) =>
    write(`ref.yaml`, `devices: {old: ${reference}}\nlines: {l: {tcp: {}, units: {1: old}}}`);

  it('is told with the mistakes of that file', () => {
    write('bad.json', '{"device_list": {"m": {"setup": 1}}}');
    expect(problemsOf(loadNativeFile(native('{pymodbus: bad.json}')))).toEqual([
      {
        path: 'devices.old.pymodbus',
        message: 'bad.json:1:24: device_list.m.setup: expected a mapping, got 1',
        line: 1,
        column: 17,
      },
    ]);
  });

  it('must be there', () => {
    const messages = (reference: string) =>
      problemsOf(loadNativeFile(native(reference))).map(({ message }) => message);
    expect(messages('{pymodbus: none.json}')).toEqual(['none.json: no such file']);
    expect(messages(`{pymodbus: ${fixture('plant.json')}, device: pipe}`)).toEqual([
      expect.stringMatching(/device_list: unknown device "pipe".* \(known: pump, tank\)$/),
    ]);
    expect(messages(`{pymodbus: ${fixture('plant.json')}}`)).toEqual([
      expect.stringMatching(/there is no device named device; choose one with device: pump, tank$/),
    ]);
  });
});

describe('the REST interface', () => {
  it('is where the command line says, rather than the file', () => {
    const api = { httpHost: 'localhost', httpPort: 1234, token: 'other' };
    const expected = { host: 'localhost', port: 1234, token: 'other' };
    expect(loaded(loadNativeFile(fixture('bench.yaml'), api)).api).toEqual(expected);
    expect(loaded(loadPymodbus({ file: fixture('plant.json'), device: 'pump', ...api })).api).toEqual(
      expected,
    );
    expect(loaded(loadConfiguration({ kind: 'demo' }, api)).api).toEqual(expected);
  });

  it('is not opened beyond this machine without a token', () => {
    const problems = problemsOf(loadConfiguration({ kind: 'demo' }, { httpHost: '192.168.1.5' }));
    expect(problems).toEqual([
      {
        path: '--http_host',
        message:
          '192.168.1.5 can be reached from other machines, so a token is required: set api.token or MODBUS_SIM_TOKEN',
      },
    ]);
  });
});

describe('the token of REST', () => {
  const message = 'expected ASCII characters without spaces: clients send it in an HTTP header';

  it.each(['a b', 'ä', 'a\n', ''])('can not be %j', (token) => {
    const problems = problemsOf(loadConfiguration({ kind: 'demo' }, { token }));
    expect(problems).toEqual([{ path: 'MODBUS_SIM_TOKEN', message }]);
  });

  it('in a file is refused at its place', () => {
    const problems = problemsIn('token.yaml', 'devices: {}\nlines: {}\napi: {token: a b}\n');
    expect(problems).toContainEqual(expect.objectContaining({ path: 'api.token', message }));
  });
});

describe('mistakes on a terminal', () => {
  it('are one a line, the place first', () => {
    const problems = [
      { path: '', message: 'no such file' },
      { path: 'lines.a', message: 'is wrong', line: 3, column: 4 },
    ];
    expect(formatProblems('f.yaml', problems)).toBe('f.yaml: no such file\nf.yaml:3:4: lines.a: is wrong');
  });

  it('are all there, however many', () => {
    const lines = formatProblems('f', Array(250).fill({ path: 'a', message: 'b' })).split('\n');
    expect(lines).toEqual(Array(250).fill('f: a: b'));
  });

  it('are told from warnings', () => {
    expect(formatWarnings('f', [{ path: 'a', message: 'b', line: 2, column: 1 }])).toBe(
      'f:2:1: warning: a: b',
    );
  });

  it('have nothing in them that a terminal would obey', () => {
    const text = `devices: {"\\e[2J\\x9b": 1}\nlines: "\\e[31m\\u202e${'x'.repeat(500)}"\n`;
    const shown = formatProblems('f', problemsIn('escape.yaml', text));
    expect(shown).toContain('devices["\\u001b[2J\\u009b"]');
    expect(shown).toContain('\\u202e');
    expect(shown).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
    expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThan(200);
  });
});
