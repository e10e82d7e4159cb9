import { signal } from '@preact/signals';
import type { RegisterView } from '../../../../simulator/commands/schemas/value.js';
import { hrefOf } from '../../route.js';

/** The list that the panel showed last, in the form of its address. */
export const pinned = signal('');

/** The address of the panel with an additional card. */
export function hrefWith(key: string): string {
  const keys = pinned.value === '' ? [] : pinned.value.split(',');
  return hrefOf('panel', [], { watch: [...new Set([...keys, key])].join(',') });
}

/** The text for a register in that list. */
export function pinOf(
  device: string,
  about: RegisterView | undefined,
  table: string,
  address: number,
): string {
  return about?.name ? `${device}.${about.name}` : `${device}/${table}/${about?.address ?? address}`;
}
