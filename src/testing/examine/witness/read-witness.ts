import { type JsonPath, readJsonPath } from './json-path.js';

/** Which witness is wanted. */
export type WitnessDefinition =
  | { readonly kind: 'register'; readonly register: string }
  | { readonly kind: 'url'; readonly url: string; readonly path: JsonPath | undefined }
  | { readonly kind: 'command'; readonly command: string };

/** What was written of a witness, on the command line or in a request. */
export interface WrittenWitness {
  /** `meter.setpoint`, or `meter.holding.100`. */
  readonly register?: string | undefined;
  readonly url?: string | undefined;
  /** In the JSON that the URL answers: `a.b[0]`. */
  readonly path?: string | undefined;
  readonly command?: string | undefined;
}

type ReadWitness =
  | { readonly ok: true; readonly witness: WitnessDefinition | undefined }
  | { readonly ok: false; readonly error: string };

/**
 * Reads which witness is meant; undefined when nothing was written.
 * @param nameOf how the user writes a part, for what is said about mistakes: `--witness-register`
 */
export function readWitness(
  { register, url, path, command }: WrittenWitness,
  nameOf: (part: keyof WrittenWitness) => string,
): ReadWitness {
  const refused = (error: string) => ({ ok: false, error }) as const;
  const given = (['register', 'url', 'command'] as const).filter(
    (_, i) => [register, url, command][i] !== undefined,
  );
  if (given.length > 1) {
    return refused(`expected one witness, got ${given.map(nameOf).join(' and ')}`);
  }
  if (path !== undefined && url === undefined) return refused(`${nameOf('path')} needs ${nameOf('url')}`);
  if (register !== undefined) return { ok: true, witness: { kind: 'register', register } };
  if (command !== undefined) {
    if (command.trim() === '') return refused(`${nameOf('command')}: expected a command`);
    return { ok: true, witness: { kind: 'command', command } };
  }
  if (url === undefined) return { ok: true, witness: undefined };
  if (!isHttp(url))
    return refused(`${nameOf('url')}: expected a URL with http or https, got ${JSON.stringify(url)}`);
  const steps = path === undefined ? undefined : readJsonPath(path);
  if (path !== undefined && (steps === undefined || steps.length === 0)) {
    return refused(
      `${nameOf('path')}: expected a path such as values[0].voltage, got ${JSON.stringify(path)}`,
    );
  }
  return { ok: true, witness: { kind: 'url', url, path: steps } };
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
