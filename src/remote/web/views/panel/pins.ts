import { signal } from '@preact/signals';
import type { RegisterView } from '../../../../simulator/commands/schemas/value.js';
import { hrefOf } from '../../route.js';

/** The list that the panel showed last, as its address had it. */
export const pinned = signal('');

/** The address of the panel with another card. */
export function hrefWith(key: string): string {
  const keys = pinned.value === '' ? [] : pinned.value.split(',');
  return hrefOf('panel', [], { watch: [...new Set([...keys, key])].join(',') });
}

/** The text that stands for a register in that list. */
export function pinOf(
  device: string,
  about: RegisterView | undefined,
  table: string,
  address: number,
): string {
  return about?.name ? `${device}.${about.name}` : `${device}/${table}/${about?.address ?? address}`;
}
