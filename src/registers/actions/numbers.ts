import type { ActiveCells } from '../action-kind.js';
import type { ValueType } from '../cell-type.js';
import type { Value } from '../value.js';

/** Changes the number that includes the cell at `address`. Text stays as it is. */
export function changeNumber(
  image: ActiveCells,
  address: number,
  change: (value: number | bigint, type: ValueType) => Value,
): void {
  const span = image.valueSpan(address);
  if (!span) return;
  const value = image.valueAt(span);
  if (typeof value !== 'string') image.setValue(span, change(value, span.type));
}

/** Why a value of this type can't have an action that needs a number; undefined when it can. */
export function withoutNumber(action: string, type: ValueType): string | undefined {
  return type === 'string' ? `${action} needs a number, a string can only have the action reset` : undefined;
}

/** The nearest integer in the range. Compares first, because an infinity or NaN can't become a BigInt. */
export function within([smallest, largest]: readonly [bigint, bigint], value: number): bigint {
  if (value >= largest) return largest;
  return value > smallest ? BigInt(Math.trunc(value)) : smallest;
}

const LARGEST_FLOAT32 = 3.4028234663852886e38;

/** The nearest number that the float type can hold. */
export function withinFloat(type: ValueType, value: number): number {
  const largest = type === 'float32' ? LARGEST_FLOAT32 : Number.MAX_VALUE;
  return Math.min(Math.max(value, -largest), largest);
}

/** An integer in the representation of the type: number or bigint. */
export function narrow(integer: bigint, type: ValueType): Value {
  return type === 'uint64' || type === 'int64' ? integer : Number(integer);
}
