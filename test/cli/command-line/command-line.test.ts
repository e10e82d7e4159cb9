import { describe, expect, it } from 'vitest';
import { type Command, parseCommandLine } from '../../../src/cli/command-line/command-line.js';
import { SERVE_OPTIONS } from '../../../src/cli/command-line/commands/serve.js';
import { describedWith, helpOn } from '../../../src/cli/command-line/help.js';
import { EXTENSIONS } from '../../../src/extensions/all.js';

const parse = (line: string, env: Record<string, string> = {}): Command =>
  parseCommandLine(line === '' ? [] : line.split(' '), env, EXTENSIONS);
const error = (line: string) => {
  const command = parse(line);
  return command.kind === 'error' ? command.message : command;
};

const DESCRIBED = describedWith(EXTENSIONS);
const info = {};

describe('the command line', () => {
  it.each<[string, Command]>([
    ['', { kind: 'serve', source: { kind: 'demo' }, api: {}, log: info, state: {} } as Command],
    [
      '--config a.yaml',
      { kind: 'serve', source: { kind: 'native', file: 'a.yaml' }, api: {}, log: info, state: {} } as Command,
    ],
    [
      '--config=a.yaml',
      { kind: 'serve', source: { kind: 'native', file: 'a.yaml' }, api: {}, log: info, state: {} } as Command,
    ],
    [
      '--config a.yaml --free-ports',
      {
        kind: 'serve',
        source: { kind: 'native', file: 'a.yaml', freePorts: true },
        ...{ api: {}, log: info, state: {} },
      } as Command,
    ],
    ['check a.yaml', { kind: 'check', file: 'a.yaml', api: {} }],
    ['ports', { kind: 'ports' }],
    ['report bench.yaml', { kind: 'report', file: 'bench.yaml', url: 'http://127.0.0.1:8080' }],
    ['--version', { kind: 'version' }],
    ['monitor', { kind: 'monitor', url: 'http://127.0.0.1:8080', filters: {}, hex: false } as Command],
    [
      'monitor unit=1 or late>50ms --json',
      {
        kind: 'monitor',
        url: 'http://127.0.0.1:8080',
        filters: { filter: 'unit=1 or late>50ms' },
        hex: false,
        asJson: true,
      },
    ],
    [
      'monitor --line bus --unit 1-9,17 --function=3 --hex --url https://bench:8443 --token t',
      {
        kind: 'monitor',
        url: 'https://bench:8443',
        token: 't',
        filters: { line: 'bus', unit: '1-9,17', function: '3' },
        hex: true,
      } as Command,
    ],
    [
      '--json_file s.json --modbus_server srv --modbus_device=dev --http_host localhost --http_port 9 --log debug --log_file l',
      {
        kind: 'serve',
        source: { kind: 'pymodbus', file: 's.json', server: 'srv', device: 'dev' },
        api: { httpHost: 'localhost', httpPort: 9 },
        log: { level: 'debug', file: 'l' },
        state: {},
      },
    ],
    [
      '--http_port=0 --log error',
      {
        kind: 'serve',
        source: { kind: 'demo' },
        api: { httpPort: 0 },
        log: { level: 'error' },
        state: {},
      },
    ],
  ])('%s', (line, command) => {
    expect(parse(line)).toEqual(command);
  });

  it('understands what test-client is to do, with options before its name too', () => {
    const request = {
      what: 'test-client',
      line: 'bus',
      source: { kind: 'native', file: 'a.yaml' },
      unitId: 9,
      checks: ['time-out', 'retries'],
      limitMs: 90_000,
      observer: { register: 'relay.seen' },
    };
    const options = '--unit 9 --checks time-out,retries --limit 1.5m --observer-register relay.seen';
    for (const line of [
      `test-client bus --config a.yaml ${options}`,
      `--config a.yaml test-client bus ${options}`,
    ]) {
      expect(parse(line)).toEqual({ kind: 'test-client', request });
    }
  });

  it('collects every setting of test', () => {
    expect(parse('test a.yaml --set x=1 b.yaml --set y=2 --junit r.xml')).toEqual({
      kind: 'test',
      files: ['a.yaml', 'b.yaml'],
      settings: ['x=1', 'y=2'],
      junit: 'r.xml',
    });
  });

  it('has no free ports on a simulator that runs elsewhere', () => {
    for (const command of ['test a.yaml', 'test-client bus']) {
      expect(error(`${command} --free-ports --url http://a`)).toContain(
        '--free-ports has no effect with --url',
      );
    }
    expect(parse('test a.yaml --free-ports')).toMatchObject({ freePorts: true });
    expect(error('measure bus --free-ports')).toContain('measure takes no option --free-ports');
  });

  it.each(['--help', '-h', 'help'])('lists all commands and the options of serving with %s', (line) => {
    const { text } = parse(line) as Extract<Command, { kind: 'help' }>;
    for (const { name, summary } of DESCRIBED)
      expect(text).toMatch(new RegExp(`^ {2}${name}\\b.*${summary.slice(0, 20)}`, 'm'));
    for (const [name, { help }] of Object.entries(SERVE_OPTIONS))
      if (help) expect(text).toContain(`--${name}`);
    expect(text).toContain('MODBUS_SIM_TOKEN');
  });

  it.each(DESCRIBED.map(({ name, options }) => [name, options] as const))(
    'explains %s and each of its options, in three ways to ask',
    (name, options) => {
      const { text } = parse(`help ${name}`) as Extract<Command, { kind: 'help' }>;
      for (const option of Object.keys(options))
        expect(text).toMatch(new RegExp(`^ {2}(-o, )?--${option}\\b`, 'm'));
      expect(parse(`${name} --help`)).toEqual({ kind: 'help', text });
      expect(parse(`${name} -h`)).toEqual({ kind: 'help', text });
      expect((parse('help all') as { text: string }).text).toContain(text);
    },
  );

  it('explains a command whose options are written already', () => {
    expect(parse('test-client bus --limit 5s --help')).toEqual(parse('help test-client'));
  });

  it.each(describedWith(EXTENSIONS))('has examples of $name that the program takes', ({ name, examples }) => {
    expect(examples).not.toEqual([]);
    for (const example of examples) {
      const words = example.replace(/ [<>] .*/, '').match(/"[^"]+"|\S+/g) ?? [];
      const command = parseCommandLine(
        words.map((word) => word.replaceAll('"', '')),
        {},
        EXTENSIONS,
      );
      expect(command.kind, JSON.stringify(command)).not.toBe('error');
      expect(words[0]).toBe(name);
    }
  });

  it('fits a narrow terminal, but for words that are longer', () => {
    const page = helpOn('all', EXTENSIONS, 70);
    const lines = 'text' in page ? page.text.split('\n') : [];
    const isTable = (line: string) => !/^(?: {2}\$ |\S)/.test(line);
    expect(lines.filter((line) => isTable(line) && line.length > 70 && line.trim().includes(' '))).toEqual(
      [],
    );
  });

  it('fits on a screen of 50 lines of 110 characters', () => {
    const page = helpOn(undefined, EXTENSIONS);
    const lines = 'text' in page ? page.text.split('\n') : [];
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.length).toBeLessThanOrEqual(50);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(110);
  });

  it('takes the directory of the state from --state, and the first one of the service manager', () => {
    expect(parse('--state here')).toMatchObject({ state: { directory: 'here' } });
    expect(parse('', { STATE_DIRECTORY: '/var/lib/a:/var/lib/b' })).toMatchObject({
      state: { ofService: '/var/lib/a' },
    });
  });

  it('takes a colon in the name of a directory of the service manager for what it is', () => {
    const env = {
      STATE_DIRECTORY: '/var/lib/modbus-sim/usb-1-1.2:1.0:/var/lib/b',
      RUNTIME_DIRECTORY: '/run/modbus-sim@usb-1-1.2:1.0',
    };
    expect(parse('', env)).toMatchObject({
      state: { ofService: '/var/lib/modbus-sim/usb-1-1.2:1.0' },
      runtimeDirectory: '/run/modbus-sim@usb-1-1.2:1.0',
    });
  });

  it('finds the service to reload: the one that is named, the own one, the usual one', () => {
    const env = { RUNTIME_DIRECTORY: '/run/modbus-sim@bench' };
    expect(parse('reload /run/other', env)).toEqual({ kind: 'reload', preview: false, place: '/run/other' });
    expect(parse('reload', env)).toEqual({ kind: 'reload', preview: false, place: '/run/modbus-sim@bench' });
    expect(parse('reload')).toEqual({ kind: 'reload', preview: false, place: '/run/modbus-sim' });
  });

  it('takes a port for REST from the environment, where neither an option nor the file has one', () => {
    const env = { MODBUS_SIM_HTTP_PORT: '0' };
    expect(parse('--config a', env)).toMatchObject({ api: { defaultPort: 0 } });
    expect(parse('--http_port 1 --config a', env)).toMatchObject({ api: { httpPort: 1, defaultPort: 0 } });
    expect(parse('', { MODBUS_SIM_HTTP_PORT: 'any' })).toEqual({
      kind: 'error',
      message: 'MODBUS_SIM_HTTP_PORT: expected a port from 0 to 65535, got "any"',
    });
  });

  it('takes the token of REST from the environment, an empty one is none', () => {
    expect(parse('', { MODBUS_SIM_TOKEN: 'secret' })).toMatchObject({ api: { token: 'secret' } });
    expect(parse('check f', { MODBUS_SIM_TOKEN: 'secret' })).toMatchObject({ api: { token: 'secret' } });
    expect(parse('', { MODBUS_SIM_TOKEN: '' })).toMatchObject({ api: {} });
    expect(parse('', { MODBUS_SIM_TOKEN: '' })).not.toHaveProperty('api.token');
  });

  it('lets the last of equal options count', () => {
    expect(parse('--config a --config b')).toMatchObject({ source: { file: 'b' } });
  });

  it.each([
    ['--confg a', 'unknown option "--confg", did you mean --config? (see modbus-sim --help)'],
    ['--json-file a', 'unknown option "--json-file", did you mean --json_file? (see modbus-sim --help)'],
    ['-x', 'unknown option "-x" (see modbus-sim --help)'],
    ['--__proto__', 'unknown option "--__proto__", did you mean --port? (see modbus-sim --help)'],
    ['--hel', 'unknown option "--hel", did you mean --help? (see modbus-sim --help)'],
    ['test-client bus --wrong', 'unknown option "--wrong" (see modbus-sim help test-client)'],
    ['test-client bus --seed -1', '--seed needs a value'],
    ['test-client bus --hex', 'test-client takes no option --hex (see modbus-sim help test-client)'],
    [
      'test-client bus --limit 500ms',
      '--limit: expected a time from 1s to 24h, such as 10m, got "500ms" (see modbus-sim help test-client)',
    ],
    ['fleet list', 'fleet needs --broker, such as --broker mqtt://broker:1883 (see modbus-sim help fleet)'],
    [
      'fleet list --broker x',
      '--broker: expected the address of a broker, such as mqtts://broker:8883, got "x" (see modbus-sim help fleet)',
    ],
    [
      'fleet run --broker mqtt://b',
      'fleet needs list, run COMMAND [JSON], fault apply FILE, fault clear, push FILE, test FILE..., test-client LINE or targets --file FILE (see modbus-sim help fleet)',
    ],
    ['clone --watch', '--watch needs a value'],
    ['fleet list --watch=5s --broker mqtt://b', '--watch takes no value'],
    ['fleet list --all --broker mqtt://b', '--all is for fleet fault clear (see modbus-sim help fleet)'],
    [
      'fleet list --label rack --broker mqtt://b',
      '--label: expected NAME=VALUE, got "rack" (see modbus-sim help fleet)',
    ],
    [
      'fleet list --timeout x --broker mqtt://b',
      '--timeout: expected a time such as 5s or 1m, got "x" (see modbus-sim help fleet)',
    ],
    [
      'fleet push a b --broker mqtt://b',
      'fleet needs list, run COMMAND [JSON], fault apply FILE, fault clear, push FILE, test FILE..., test-client LINE or targets --file FILE (see modbus-sim help fleet)',
    ],
    [
      'fleet test --broker mqtt://b',
      'fleet test needs one or more scenario files (see modbus-sim help fleet)',
    ],
    [
      'fleet test-client --broker mqtt://b',
      'fleet needs list, run COMMAND [JSON], fault apply FILE, fault clear, push FILE, test FILE..., test-client LINE or targets --file FILE (see modbus-sim help fleet)',
    ],
    [
      'fleet test-client lan --limit 1ms --broker mqtt://b',
      '--limit: expected a time from 1s to 24h, such as 10m, got "1ms" (see modbus-sim help fleet)',
    ],
    ['fleet push a --watch --broker mqtt://b', '--watch is for fleet list (see modbus-sim help fleet)'],
    [
      'fleet list --junit a.xml --broker mqtt://b',
      '--junit is for fleet test and fleet test-client (see modbus-sim help fleet)',
    ],
    ['fleet targets --broker mqtt://b', 'fleet targets needs --file FILE (see modbus-sim help fleet)'],
    ['--seconds 9', '--seconds is for measure (see modbus-sim --help)'],
    [
      '--url http://a',
      '--url is for learn, report, monitor, test, test-client, fuzz (see modbus-sim --help)',
    ],
    [
      'learn a.log --scenario b.yaml',
      '--scenario needs -o, which names the bench for the scenario (see modbus-sim help learn)',
    ],
    ['examine bus --checks time-out', 'examine is now called test-client (see modbus-sim help test-client)'],
    ['inspect --tcp a:502', 'inspect is now called test-server (see modbus-sim help test-server)'],
    ['--limit 1m shake bus', 'shake is now called fuzz (see modbus-sim help fuzz)'],
    ['selftest bus', 'selftest is now called measure (see modbus-sim help measure)'],
    [
      'test-client bus --witness-url http://a',
      '--witness-url is now called --observer-url (see modbus-sim help test-client)',
    ],
    [
      'fleet examine lan --broker mqtt://b',
      'fleet examine is now called fleet test-client (see modbus-sim help fleet)',
    ],
    ['measure', 'measure takes the name of one line (see modbus-sim help measure)'],
    [
      'measure bus --seconds 0',
      '--seconds: expected a number from 1 to 3600, got "0" (see modbus-sim help measure)',
    ],
    ['measure bus --log info', 'measure takes no option --log (see modbus-sim help measure)'],
    ['test', 'test needs one or more scenario files (see modbus-sim help test)'],
    ...['monitor', 'test a.yaml', 'test-client bus'].map((command): [string, string] => [
      `${command} --url ftp://a`,
      `--url: expected the address of the REST interface, such as http://127.0.0.1:8080, got "ftp://a" (see modbus-sim help ${command.split(' ')[0]})`,
    ]),
    [
      'extcap --extcap-interfaces --url ftp://a',
      '--url: expected the address of the REST interface, such as http://127.0.0.1:8080, got "ftp://a"',
    ],
    ['extcap --frob', "extcap: Unknown option '--frob' (see modbus-sim help extcap)"],
    ['--config', '--config needs a value'],
    ['--config=', '--config needs a value'],
    ['--config --log', '--config needs a value'],
    ['--help=yes', '--help takes no value'],
    ['run', 'unknown command "run" (see modbus-sim --help)'],
    ['help test-clien', 'unknown command "test-clien", did you mean test-client? (see modbus-sim --help)'],
    ['check', 'check takes one file (see modbus-sim help check)'],
    ['check a b', 'check takes one file (see modbus-sim help check)'],
    ['check a --log info', 'check takes no option --log (see modbus-sim help check)'],
    ['ports a', 'ports takes no arguments (see modbus-sim help ports)'],
    ['--config a --json_file b', "--config and --json_file can't be used together"],
    ['--modbus_server a', '--modbus_server selects an entry of a pymodbus file and needs --json_file'],
    [
      '--config a --modbus_device b',
      '--modbus_device selects an entry of a pymodbus file and needs --json_file',
    ],
    [
      '--json_file a --custom_actions_module b',
      '--custom_actions_module: custom actions of Python modules are not supported',
    ],
    ['--http_port 65536', '--http_port: expected a port from 0 to 65535, got "65536"'],
    ['--http_port 0x50', '--http_port: expected a port from 0 to 65535, got "0x50"'],
    ['--log loud', '--log: expected critical, error, warning, info or debug, got "loud"'],
  ])('%s: %s', (line, message) => {
    expect(error(line)).toBe(message);
  });
});
