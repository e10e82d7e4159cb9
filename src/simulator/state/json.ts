/** Numbers that JSON has not, as text that readers of values take for them. */
function replacer(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'number') return value;
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  return Object.is(value, -0) ? '-0' : value;
}

/** What was written in a file, as JSON that means the same when it is read. */
export function jsonOf(written: unknown, indent?: number): string {
  return JSON.stringify(written, replacer, indent);
}
