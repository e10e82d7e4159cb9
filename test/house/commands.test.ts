import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type SimulatorClient, simulatorClient } from '../../src/cli/library/simulator-client.js';
import { COMMANDS } from '../../src/remote/rpc/declared.js';

/** The program by file; the console is bundled apart. */
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('remote/web/'))
  .map((path) => [path, readFileSync(join('src', path), 'utf8')] as const);

/** The files that have a key with the name of a command, as a table of commands has. */
function tablesWith(name: string): string[] {
  return sources.filter(([, text]) => text.includes(`\n  '${name}': `)).map(([path]) => path);
}

const DECLARED = /^(?:simulator\/commands\/schemas\/[\w-]+|testing\/declared)\.ts$/;
const CARRIED_OUT = /^(?:simulator\/commands\/[\w-]+|testing\/commands)\.ts$/;

describe('a command', () => {
  it.each(Object.keys(COMMANDS))('is in two files, its declaration and what runs: %s', (name) => {
    const files = tablesWith(name);
    expect(files).toHaveLength(2);
    expect(files).toContainEqual(expect.stringMatching(DECLARED));
    expect(files).toContainEqual(expect.stringMatching(CARRIED_OUT));
  });

  it('has a route that no other has', () => {
    const routes = Object.values(COMMANDS).flatMap((each) => ('rest' in each ? [each.rest] : []));
    expect(routes.length).toBeGreaterThan(40);
    expect(new Set(routes).size).toBe(routes.length);
  });

  it('is named in six files at most, those that ask for it among them', () => {
    const counts = Object.keys(COMMANDS).map((name) => {
      const files = sources.filter(([, text]) => text.includes(`'${name}'`)).map(([path]) => path);
      return [name, files.length <= 6 ? [] : files] as const;
    });
    expect(counts.filter(([, files]) => files.length > 0)).toEqual([]);
  });
});

/** The commands that have a route of REST, with its method and path. */
const ROUTES = Object.entries(COMMANDS).flatMap(([name, declared]) =>
  'rest' in declared ? [[name, declared.rest] as const] : [],
);

/** A pattern for the requests of a route. */
const pattern = (rest: string) => rest.replace(/:\w+/g, '[\\w-]+');

describe('the tables of docs/rest.md and docs/faults.md', () => {
  const cells = ['docs/rest.md', 'docs/faults.md']
    .flatMap((path) => readFileSync(path, 'utf8').match(/^\|[^|]*\|/gm) ?? [])
    .join('\n');

  it.each(ROUTES)('have the route of %s: %s', (_, rest) => {
    const [method = '', path = ''] = rest.split(' ');
    expect(cells).toMatch(new RegExp(`\`${method} /api/v1${pattern(path)}[\`?]`));
  });
});

/** How the library asks for commands. */
const ASKED: Readonly<Record<string, (client: SimulatorClient) => unknown>> = {
  'line.get': ({ line }) => line('lan').get(),
  'line.change': ({ line }) => line('lan').change({}),
  'line.start': ({ line }) => line('lan').start(),
  'line.restart': ({ line }) => line('lan').restart(),
  'line.stop': ({ line }) => line('lan').stop(),
  'device.get': ({ device }) => device('meter').get(),
  'device.power': ({ device }) => device('meter').power({ state: 'on' }),
  'device.clock': ({ device }) => device('meter').clock({ pause: true }),
  'device.manners': ({ device }) => device('meter').manners({}),
  'device.reset': ({ device }) => device('meter').reset(),
  'value.list': ({ device }) => device('meter').registers({ table: 'holding' }),
  'value.words': ({ device }) => device('meter').words({ table: 'holding', to: 9, at: '30s' }),
  'value.change': ({ device }) => device('meter').change({ name: 'voltage', value: 231 }),
  'value.get': ({ device }) => device('meter').read('voltage'),
  'value.set': ({ device }) => device('meter').write('voltage', 231),
  'signal.set': ({ device }) => device('meter').setSignal('voltage', {}),
  'signal.remove': ({ device }) => device('meter').removeSignal('voltage'),
  'misbehaviour.arm': (client) => client.misbehave('late-reply', { device: 'meter' }),
  'misbehaviour.disarm': (client) => client.behave('late-reply'),
  'rule.list': ({ faults }) => faults.list(),
  'rule.past': ({ faults }) => faults.past('30s'),
  'rule.get': ({ faults }) => faults.get('slow'),
  'rule.replace': ({ faults }) => faults.set({ name: 'slow', do: { delay: 250 } }),
  'rule.remove': ({ faults }) => faults.remove('slow'),
  'rule.reset': ({ faults }) => faults.reset(),
  'configuration.apply': (client) => client.apply({}),
  'configuration.undo': (client) => client.undo(),
};

/** Why the library has no method for a command that has a route. */
const NOT_IN_LIBRARY: Readonly<Record<string, string>> = {
  'line.list': 'the lines are read once, when a client is made',
  'line.add': 'a test has its lines in its configuration',
  'line.remove': 'a test has its lines in its configuration',
  'device.list': 'a test names its devices',
  'device.add': 'a test has its devices in its configuration',
  'device.remove': 'a test has its devices in its configuration',
  'value.define': 'a test has its registers in its configuration',
  'rule.add': '`set` adds a rule',
  'rule.switch': 'a test removes a rule, or sets it again',
  'rule.preview': 'a test sees in the traffic what a rule did',
  'program.configuration': 'a test has made the configuration',
  'program.ports': 'the ports of the machine are the business of whoever writes a configuration',
  'traffic.clear': 'a test reads what came after a sequence number',
};

/** The runs that judge others: `modbus-sim test`, `test-client`, `test-server` and `fuzz` start them, and wait for their reports. */
const RUN = /^run\./;

describe('the client of the library', () => {
  const routes = ROUTES.filter(([name]) => !RUN.test(name));

  it('asks for every command that has a route, but those that a test has no use for', () => {
    const known = [...Object.keys(ASKED), ...Object.keys(NOT_IN_LIBRARY)].sort();
    expect(known).toEqual(routes.map(([name]) => name).sort());
  });

  it.each(routes.filter(([name]) => name in ASKED))('asks for %s by its route: %s', async (name, rest) => {
    const sent: string[] = [];
    const client = await simulatorClient((method, path) => {
      sent.push(`${method} ${path.replace(/\?.*/, '')}`);
      return Promise.resolve({ lines: [{ name: 'lan', place: '127.0.0.1:502' }], faults: [], registers: [] });
    });
    await ASKED[name]?.(client);
    expect(sent.at(-1)).toMatch(new RegExp(`^${pattern(rest)}$`));
  });
});
