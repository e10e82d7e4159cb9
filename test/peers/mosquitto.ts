import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { freePort } from '../remote/api/masters.js';
import { isInstalled } from './peer.js';

/** Why there is no mosquitto; undefined where there is one. */
export const noMosquitto =
  isInstalled('mosquitto', '-h') && isInstalled('mosquitto_rr', '--help')
    ? undefined
    : 'mosquitto is not installed (apt-get install mosquitto mosquitto-clients)';

export interface Mosquitto {
  readonly port: number;
  /** What clients need to be told to get there. */
  readonly options: readonly string[];
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** @param lines of its configuration besides; `options` are for its clients */
export async function mosquitto(
  directory: string,
  lines: readonly string[] = ['allow_anonymous true'],
  options: readonly string[] = [],
): Promise<Mosquitto> {
  const broker = await startMosquitto(directory, '127.0.0.1', lines, options);
  onTestFinished(() => broker.stop());
  return broker;
}

/** Starts one that whoever asks for it stops. @param address where it listens; empty for all addresses */
export async function startMosquitto(
  directory: string,
  address: string,
  lines: readonly string[] = ['allow_anonymous true'],
  options: readonly string[] = [],
): Promise<Mosquitto> {
  const port = await freePort();
  const file = join(directory, 'mosquitto.conf');
  writeFileSync(file, [`listener ${port} ${address}`, 'user root', ...lines, ''].join('\n'));
  let process_: ChildProcess | undefined;
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (!process_ || process_.exitCode !== null || process_.signalCode !== null) return;
    const gone = once(process_, 'exit');
    process_.kill(signal);
    await gone;
  };
  const start = async () => {
    const started = spawn('mosquitto', ['-c', file, '-v'], { stdio: ['ignore', 'ignore', 'pipe'] });
    process_ = started;
    const log = createInterface({ input: started.stderr });
    await new Promise<void>((resolve, reject) => {
      log.on('line', (line) => line.includes('running') && resolve());
      started.once('exit', (code) => reject(new Error(`mosquitto has ended with ${code}`)));
    });
  };
  await start();
  return { port, options: ['-h', '127.0.0.1', '-p', String(port), ...options], start, stop };
}
