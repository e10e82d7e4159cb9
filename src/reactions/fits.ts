import type { ReactingEntry } from './reaction.js';

/** Why a reaction does not fit an entry that clients can't write. */
export function unlessWritable({ table, writable }: ReactingEntry): string | undefined {
  if (table !== 'coils' && table !== 'holding') {
    return 'expected a coil or a holding register: clients write no others';
  }
  return writable ? undefined : 'expected write: true beside it: clients do not write this entry';
}

/** Why a reaction does not fit an entry that is not a coil. */
export function unlessCoil({ table }: ReactingEntry): string | undefined {
  return table === 'coils' ? undefined : `expected a coil, got an entry of ${table}`;
}

/** Why a reaction that compares numbers does not fit an entry. */
export function unlessNumber({ type }: ReactingEntry): string | undefined {
  return type === 'string' ? 'expected a number, got an entry of text' : undefined;
}
