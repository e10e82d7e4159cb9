import type { At } from '../../../common/schema/at.js';
import { isMapping } from '../../../common/schema/parts.js';

/**
 * Keys of a server that pymodbus accepts, or accepted up to 3.3, and that change nothing for clients. Sockets
 * and ports are this program's own business.
 */
export const IGNORED_IN_SERVERS = [
  'allow_reuse_address',
  'allow_reuse_port',
  'auto_reconnect',
  'backlog',
  'defer_start',
] as const;

/** Keys of an entry such as `{"addr": 5}` that occur in files of pymodbus and that it ignores. */
export const IGNORED_IN_ENTRIES = ['args'] as const;

/** Takes these keys away, with a warning for each. */
export function withoutIgnored(at: At, keys: readonly string[]): At {
  const { value } = at;
  if (!isMapping(value)) return at;
  const ignored = keys.filter((key) => Object.hasOwn(value, key));
  if (ignored.length === 0) return at;
  for (const key of ignored) at.key(key).warn(`${key} has no effect`);
  return at.with(Object.fromEntries(Object.entries(value).filter(([key]) => !ignored.includes(key))));
}
