import type { Simulator } from '../../../simulator/simulator.js';
import { commandObserver } from './command-observer.js';
import type { Observer } from './observer.js';
import { registerObserver } from './register-observer.js';
import { readJsonPath, urlObserver } from './url-observer.js';

/**
 * Makes the observer that is wanted. The published options and keys call it `witness`.
 * @returns the observer, or what is wrong with the name of a register, as a sentence
 */
export type MakeObserver = (bench: Simulator) => Observer | string;

/**
 * An observer as it was written: a register such as `meter.setpoint` or `meter.holding.100`, a URL, or a
 * command.
 */
export interface WrittenObserver {
  readonly register?: string;
  readonly url?: string;
  readonly path?: string;
  readonly command?: string;
}

type ReadObserver =
  | { readonly ok: true; readonly observer: MakeObserver | undefined }
  | { readonly ok: false; readonly error: string };

/**
 * Reads which observer is meant; `observer` is undefined when nothing was written. The path leads into the
 * JSON that a URL answers: `a.b[0]`.
 * @param nameOf how the user writes a part, for messages on mistakes: `--witness-register`
 */
export function readObserver(
  { register, url, path, command }: WrittenObserver,
  nameOf: (part: keyof WrittenObserver) => string,
): ReadObserver {
  const refused = (error: string) => ({ ok: false, error }) as const;
  const given = (['register', 'url', 'command'] as const).filter(
    (_, i) => [register, url, command][i] !== undefined,
  );
  if (given.length > 1) {
    return refused(`expected one observer, got ${given.map(nameOf).join(' and ')}`);
  }
  if (path !== undefined && url === undefined) return refused(`${nameOf('path')} needs ${nameOf('url')}`);
  if (register !== undefined) return { ok: true, observer: (bench) => registerObserver(register, bench) };
  if (command !== undefined) {
    if (command.trim() === '') return refused(`${nameOf('command')}: expected a command`);
    return { ok: true, observer: () => commandObserver(command) };
  }
  if (url === undefined) return { ok: true, observer: undefined };
  if (!isHttp(url))
    return refused(`${nameOf('url')}: expected a URL with http or https, got ${JSON.stringify(url)}`);
  const steps = path === undefined ? undefined : readJsonPath(path);
  if (path !== undefined && (steps === undefined || steps.length === 0)) {
    return refused(
      `${nameOf('path')}: expected a path such as values[0].voltage, got ${JSON.stringify(path)}`,
    );
  }
  return { ok: true, observer: () => urlObserver(url, steps) };
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
