import type { Table } from './registers/table.js';

/** The four tables of a device (Application Protocol V1.1b3, 4.3). */
export const TABLE_NAMES = ['coils', 'discrete', 'input', 'holding'] as const;

export type TableName = (typeof TABLE_NAMES)[number];

export type Tables = Readonly<Record<TableName, Table>>;

/** Reports whether the cells of a table are bits rather than registers. */
export function isOfBits(table: TableName): boolean {
  return table === 'coils' || table === 'discrete';
}
