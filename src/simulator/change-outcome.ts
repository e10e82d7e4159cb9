import type { Mistakes } from '../common/schema/findings.js';

/** The requested state has mistakes. */
interface Invalid {
  readonly ok: false;
  readonly error: Mistakes;
}

/** The requested state is valid, but is not possible now. */
export interface ChangeRefusal {
  readonly ok: false;
  readonly error: string;
  /** The reason code; absent if a port or the operating system refused. */
  readonly code?: RefusalCode;
  /** True if another program uses the port or the address. */
  readonly inUse?: boolean;
}

export type RefusalCode =
  | 'line.name_taken'
  | 'line.too_many'
  | 'line.in_use'
  | 'device.name_taken'
  | 'device.too_many'
  | 'device.in_use'
  | 'device.changed'
  | 'request.too_dear'
  | 'configuration.busy'
  | 'memory.spent';

/** The result of changing one or more lines. */
export type LineChange = { readonly ok: true } | Invalid | ChangeRefusal;

/** The result of a removal. The error names what still needs the thing. */
export type Removal = { readonly ok: true } | ChangeRefusal;

/** The result of an addition. */
export type Addition<Added> = { readonly ok: true; readonly added: Added } | Invalid | ChangeRefusal;

export const BUSY = {
  ok: false,
  code: 'configuration.busy',
  error: 'a whole configuration is being applied; try again',
} as const;

export const CHANGED = {
  ok: false,
  code: 'device.changed',
  error: 'a device was added or removed while the request was read; try again',
} as const;

/** A change that can't be made. */
export function refused<Code extends RefusalCode>(code: Code, error: string) {
  return { ok: false, error, code } as const;
}
