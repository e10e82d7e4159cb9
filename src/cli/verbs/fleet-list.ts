import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet, FleetBench } from '../../remote/mqtt/fleet.js';
import type { FleetCommand } from '../command-line/commands/fleet.js';
import { writeJson } from './fleet-answers.js';
import { OK, say } from './say.js';
import { standardOutput } from './standard.js';
import { stopSignal } from './stop-signal.js';

/** Interval in ms in which the list looks for news of benches. */
const LOOK_EVERY_MS = 500;
/** Moves the cursor to the top and clears the screen (ECMA-48). */
const CLEAR = '\u001b[H\u001b[2J';

/** Prints the benches that are there. @returns the exit code */
export function list(benches: readonly FleetBench[], json: string | undefined): number {
  say(tableOf(benches));
  return writeJson(json, benches);
}

/** Prints the benches again whenever something changes, until somebody stops it. */
export async function watch(fleet: Fleet, command: FleetCommand): Promise<number> {
  let isStopped = false;
  const stop = stopSignal(OK, { reader: standardOutput() }).then(() => {
    isStopped = true;
  });
  let shown = '';
  for (let seen = -1; !isStopped; ) {
    if (seen !== fleet.changes) {
      seen = fleet.changes;
      const table = tableOf(fleet.select(command));
      if (table !== shown) {
        if (process.stdout.isTTY) standardOutput().print(CLEAR);
        else if (shown !== '') say('');
        say(table);
      }
      shown = table;
    }
    await Promise.race([stop, sleep(LOOK_EVERY_MS)]);
  }
  return writeJson(command.json, fleet.select(command));
}

/** Writes the addresses of REST for Prometheus' file-based discovery. @returns the exit code */
export function writeTargets(file: string, benches: readonly FleetBench[]): number {
  const targets = benches.flatMap(({ topic, state, labels, rest }) =>
    state === 'online'
      ? [{ targets: rest.map((url) => new URL(url).host), labels: { ...labels, bench: topic } }]
      : [],
  );
  const code = writeJson(file, targets);
  return code === OK ? say(`wrote ${file}: ${targets.length} of ${benches.length}`) : code;
}

function tableOf(benches: readonly FleetBench[]): string {
  const rows = benches.map(({ topic, state, version, since, lines, rules, tests }) => [
    topic,
    state,
    version ?? '',
    since ?? '',
    lines.map((line) => `${line.name} ${line.state}`).join(', '),
    state === 'online' ? String(rules.length) : '',
    tests.join(', '),
  ]);
  const all = [['bench', 'state', 'version', 'since', 'lines', 'rules', 'tests'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
