/** The kinds of runs, and the noun for each. All kinds share one series of numbers. */
export const RUN_KINDS = {
  scenario: 'scenario',
  client: 'client test',
  server: 'server test',
  fuzz: 'fuzz run',
} as const;

export type RunKind = keyof typeof RUN_KINDS;

export const KIND_NAMES = Object.keys(RUN_KINDS) as readonly RunKind[];

export function isRunKind(kind: unknown): kind is RunKind {
  return typeof kind === 'string' && Object.hasOwn(RUN_KINDS, kind);
}
