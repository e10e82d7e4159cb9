import type { Given } from './scan.js';

/** List what real devices do wrong, or explain one of them. */
export interface CatalogueCommand {
  readonly kind: 'catalogue';
  readonly id?: string;
}

/** @returns what is wrong, as a sentence */
export function parseCatalogue({ words: [id, ...more] }: Given<never>): CatalogueCommand | string {
  if (more.length > 0) return 'catalogue takes one identifier';
  return { kind: 'catalogue', ...(id !== undefined && { id }) };
}
