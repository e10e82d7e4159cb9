import { failure, type Result, success } from '../../../common/result.js';
import type { Simulator } from '../../../simulator/simulator.js';
import { commandObserver } from './command-observer.js';
import type { Observer } from './observer.js';
import { registerObserver } from './register-observer.js';
import { readJsonPath, urlObserver } from './url-observer.js';

/**
 * Makes the observer that is wanted, or says what is wrong with the name of a register. The published options and
 * keys call it `witness`.
 */
export type MakeObserver = (bench: Simulator) => Result<Observer>;

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

/**
 * Reads which observer is meant; undefined when nothing was written. The path leads into the
 * JSON that a URL answers: `a.b[0]`.
 * @param nameOf how the user writes a part, for messages on mistakes: `--witness-register`
 */
export function readObserver(
  { register, url, path, command }: WrittenObserver,
  nameOf: (part: keyof WrittenObserver) => string,
): Result<MakeObserver | undefined> {
  const given = (['register', 'url', 'command'] as const).filter(
    (_, i) => [register, url, command][i] !== undefined,
  );
  if (given.length > 1) {
    return failure(`expected one observer, got ${given.map(nameOf).join(' and ')}`);
  }
  if (path !== undefined && url === undefined) return failure(`${nameOf('path')} needs ${nameOf('url')}`);
  if (register !== undefined) return success((bench) => registerObserver(register, bench));
  if (command !== undefined) {
    if (command.trim() === '') return failure(`${nameOf('command')}: expected a command`);
    return success(() => success(commandObserver(command)));
  }
  if (url === undefined) return success(undefined);
  if (!isHttp(url))
    return failure(`${nameOf('url')}: expected a URL with http or https, got ${JSON.stringify(url)}`);
  const steps = path === undefined ? undefined : readJsonPath(path);
  if (path !== undefined && (steps === undefined || steps.length === 0)) {
    return failure(
      `${nameOf('path')}: expected a path such as values[0].voltage, got ${JSON.stringify(path)}`,
    );
  }
  return success(() => success(urlObserver(url, steps)));
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
