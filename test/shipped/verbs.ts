import { resolve } from 'node:path';
import { noMosquitto } from '../peers/mosquitto.js';
import type { Bench } from './bench.js';
import { beforePort } from './hosts.js';

/** A verb on real input, and what it prints when it has done its work. */
export interface Trial {
  readonly verb: string;
  readonly title?: string;
  args(bench: Bench): readonly string[];
  readonly says: RegExp;
  /** Exit codes of success; 0 if this is left out. */
  readonly codes?: readonly number[];
  /** It ends when it is interrupted: as soon as it has printed `says`. */
  readonly endless?: true;
  /** It reaches the bench by its host, so that it is tried with each kind of host. */
  readonly byHost?: true;
  /** It is not tried beside others: a test takes all lines of a running simulator. */
  readonly alone?: true;
  /** It gets a terminal in place of pipes. */
  readonly onTerminal?: true;
  readonly needs?: 'machine' | 'broker';
}

const POLLER = `"${process.execPath}" "${resolve('test/shipped/poller.mjs')}"`;

const LOG = 'send: 00 01 00 00 00 06 01 03 00 00 00 01\nrecv: 00 01 00 00 00 05 01 03 02 00 07\n';

const EVENT = {
  ...{ seq: 1, line: 'bench', kind: 'echo', direction: 'none' },
  ...{ time: '2026-01-02T03:04:05.000000Z', monotonicUs: 7, text: 'echo' },
};

const SCENARIO = {
  name: 'a test',
  devices: { 'tested-meter': { registers: { holding: [{ address: 0 }] } } },
  lines: { tested: { tcp: { port: 0 }, units: { 1: 'tested-meter', 2: 'tested-meter' } } },
  steps: [{ name: 'it reads', expect: { unit: 1, function: 3 } }],
};

const poll = (line: string) => ['--dut', `${POLLER} {lines.${line}.host} {lines.${line}.port}`];
const at = ({ host, port }: Bench, line: string) => `${beforePort(host)}:${port(line)}`;
const reports = ({ newDirectory }: Bench) =>
  ['junit', 'html', 'json'].flatMap((kind) => [`--${kind}`, `${newDirectory()}/report`]);

const TRIALS: readonly Trial[] = [
  { verb: 'help', args: () => ['help', 'all'], says: /^modbus-sim: a Modbus server/ },
  { verb: 'check', args: ({ config }) => ['check', config], says: /no mistakes found/ },
  { verb: 'schema', args: () => ['schema', 'scenario'], says: /"\$schema"/ },
  { verb: 'catalogue', args: () => ['catalogue', 'sleeps'], says: /https?:/ },
  { verb: 'completion', args: () => ['completion', 'bash'], says: /complete -F _modbus_sim modbus-sim/ },
  { verb: 'ports', args: () => ['ports'], says: /./, needs: 'machine' },
  {
    verb: 'import',
    args: ({ newFile }) => ['import', newFile('map.csv', 'address,name,type\n0,Voltage,uint16\n')],
    says: /name: Voltage/,
  },
  { verb: 'learn', args: ({ newFile }) => ['learn', newFile('client.log', LOG)], says: /value: 7/ },
  {
    verb: 'learn',
    title: 'on a terminal',
    args: ({ newFile }) => ['learn', newFile('client.log', LOG)],
    says: /value: 7/,
    onTerminal: true,
  },
  {
    verb: 'learn',
    title: 'of a running simulator',
    args: ({ url }) => ['learn', '--line', 'lan', '--url', url],
    says: /value: \[1, 2, 3\]/,
    byHost: true,
  },
  {
    verb: 'clone',
    args: (bench) => ['clone', '--tcp', at(bench, 'lan'), '--ranges', '0-3'],
    says: /value: \[1, 2, 3\]/,
    byHost: true,
  },
  {
    verb: 'clone',
    title: 'on a serial port',
    args: ({ serialPath }) => ['clone', '--serial', serialPath(), '--ranges', '0-3'],
    says: /value: \[1, 2, 3\]/,
    needs: 'machine',
  },
  {
    verb: 'test-server',
    args: (bench) => ['test-server', '--tcp', at(bench, 'lan'), '--checks', 'answers', ...reports(bench)],
    says: /^1 conforms · /m,
    byHost: true,
  },
  {
    verb: 'test-server',
    title: 'of a real device',
    args: ({ config }) => ['test-server', '--device', 'mirror', '--config', config, '--checks', 'answers'],
    says: /^1 conforms · /m,
    byHost: true,
  },
  {
    verb: 'measure',
    args: ({ config }) => ['measure', 'lan', '--config', config, '--seconds', '1'],
    says: /requests +(\d+) from the built-in client, \1 answered/,
    // 1: a busy machine is late.
    codes: [0, 1],
  },
  {
    verb: 'test',
    args: (bench) => ['test', bench.newFile('test.json', SCENARIO), ...poll('tested'), ...reports(bench)],
    says: /a test: pass\. 1 of 1 steps passed/,
  },
  {
    verb: 'test',
    title: 'on a running simulator',
    args: (bench) => [
      ...['test', bench.newFile('test.json', SCENARIO), '--url', bench.url],
      ...poll('tested'),
    ],
    says: /a test: pass\. 1 of 1 steps passed/,
    alone: true,
    byHost: true,
  },
  {
    verb: 'test-client',
    args: ({ url }) => [
      ...['test-client', 'client-tested', '--url', url, '--checks', 'legal-requests', '--limit', '1m'],
      ...poll('client-tested'),
    ],
    says: /pass +1 Sends only valid requests/,
    byHost: true,
  },
  {
    verb: 'fuzz',
    args: ({ url }) => ['fuzz', 'fuzzed', '--url', url, '--moves', '1', '--limit', '1m', ...poll('fuzzed')],
    says: /returned to its usual polls after each of/,
    byHost: true,
  },
  {
    verb: 'monitor',
    args: ({ url }) => ['monitor', '--url', url, '--line', 'lan', '--unit', '1', '--last', '1'],
    says: /unit 1/,
    endless: true,
    byHost: true,
  },
  {
    verb: 'report',
    args: ({ url, config }) => ['report', config, '--url', url],
    says: /^lan: open, /m,
    byHost: true,
  },
  {
    verb: 'reload',
    args: ({ runtime }) => ['reload', runtime],
    says: /nothing has changed/,
    needs: 'machine',
  },
  {
    verb: 'fleet',
    args: ({ broker = '' }) => ['fleet', 'list', '--broker', broker],
    says: /bench-\d+ +online/,
    byHost: true,
    needs: 'broker',
  },
  {
    verb: 'view',
    args: ({ newDirectory, newFile }) => [
      ...['view', newFile('traffic.ndjson', EVENT), '-o', `${newDirectory()}/page.html`],
    ],
    says: /^wrote .*page\.html/,
  },
  {
    verb: 'extcap',
    args: ({ newDirectory }) => ['extcap', '--install', newDirectory()],
    says: /Wireshark/,
  },
  {
    verb: 'extcap',
    title: 'of a line, with a wrong token',
    args: ({ url, newFile }) => [
      ...['extcap', '--capture', '--extcap-interface', 'modbus-sim-lan', '--fifo', newFile('fifo', '')],
      ...['--url', url, '--token', 'wrong'],
    ],
    says: /expected Bearer and a configured token/,
    codes: [1],
    byHost: true,
  },
];

/** What a package and this machine allow. */
function possible(isForThisMachine: boolean): readonly Trial[] {
  return TRIALS.filter(
    ({ needs }) =>
      (needs !== 'machine' || isForThisMachine) && (needs !== 'broker' || noMosquitto === undefined),
  );
}

export function titleOf({ verb, title }: Trial): string {
  return title === undefined ? verb : `${verb} ${title}`;
}

/** All trials of a package for this machine. */
export const ALL_TRIALS = possible(true);

/** Those that differ with the host. */
export const TRIALS_BY_HOST = ALL_TRIALS.filter(({ byHost }) => byHost);

/** One trial of each verb, by the host if there is one. */
export function oneOfEach(isForThisMachine: boolean): readonly Trial[] {
  const trials = possible(isForThisMachine);
  return [...new Set(trials.map(({ verb }) => verb))].flatMap((verb) => {
    const own = trials.filter((trial) => trial.verb === verb);
    return own.find(({ byHost, codes = [0] }) => byHost && codes.includes(0)) ?? own.slice(0, 1);
  });
}
