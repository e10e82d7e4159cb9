import { readFileSync } from 'node:fs';
import { type Command, parseCommandLine } from '../config/command-line.js';
import { checkFile } from '../config/load.js';
import { formatProblems } from '../schema/problem.js';
import { withCredentials } from '../service/credential.js';
import { listPorts } from '../transport/port/list-ports.js';
import { extcap } from './extcap.js';
import { complain, OK, say, WRONG_USAGE, warn } from './say.js';
import { selftest } from './selftest.js';
import { serve } from './serve.js';

/** Runs the command on the command line; resolves with the exit code. */
export async function main(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const withToken = withCredentials(environment);
  return typeof withToken === 'string' ? complain(withToken) : run(parseCommandLine([...args], withToken));
}

async function run(command: Command): Promise<number> {
  switch (command.kind) {
    case 'help':
      return say(command.text);
    case 'version':
      return say(version());
    case 'error':
      return complain(command.message, WRONG_USAGE);
    case 'check':
      return check(command);
    case 'ports':
      return ports();
    case 'selftest':
      return selftest(command);
    case 'extcap':
      return extcap(command.request, version());
    case 'serve':
      return serve(command);
  }
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}

function check({ file, api }: Extract<Command, { kind: 'check' }>): number {
  const result = checkFile(file, api);
  warn(file, result.warnings);
  return result.ok ? say(`${file}: no mistakes found`) : complain(formatProblems(file, result.problems));
}

async function ports(): Promise<number> {
  const found = await listPorts();
  if (found.length === 0) return say('no serial ports found');
  for (const { path, stableNames, adapter, usb, hints } of found) {
    const parts = usb && [
      `${usb.vendorId}:${usb.productId}`,
      usb.manufacturer,
      usb.product,
      usb.serialNumber,
    ];
    say([path, adapter.name, parts?.filter(Boolean).join(' ')].filter(Boolean).join('  '));
    for (const line of [...stableNames, ...hints]) say(`  ${line}`);
  }
  return OK;
}
