import type { ActionKind } from '../action-kind.js';
import type { ValueType } from '../cell-type.js';

/** Registers that a timestamp fills. */
const FIELDS = 7;

const SIXTEEN_BITS: readonly ValueType[] = ['bits', 'uint16', 'int16'];

/**
 * Seven cells of local time: year, month (0 to 11), day, weekday (1 is Monday), hour, minute, second.
 * Consecutive cells with this action form groups of seven, one field per cell. The first cell of a group also fills
 * the plain cells after it, so defining the action on the first cell is enough.
 */
export const timestamp: ActionKind = {
  hasBounds: false,
  fields: FIELDS,
  whyUnfit: (type) =>
    SIXTEEN_BITS.includes(type)
      ? undefined
      : `timestamp fills seven registers, expected type ${SIXTEEN_BITS.join(', ')}, got ${type}`,
  run(image, address, _, source) {
    let start = address;
    while (start > 0 && image.actionAt(start - 1)?.name === 'timestamp') start--;
    const first = address - ((address - start) % FIELDS);
    fieldsOf(source.now()).forEach((field, i) => {
      const type = image.typeAt(first + i);
      const action = image.actionAt(first + i);
      const holdsField = type === 'uint16' || type === 'int16' || type === 'bits';
      if (holdsField && (!action || action.name === 'timestamp')) image.setWord(first + i, field);
    });
  },
};

function fieldsOf(time: Date): number[] {
  const weekday = time.getDay() === 0 ? 7 : time.getDay();
  return [
    time.getFullYear(),
    time.getMonth(),
    time.getDate(),
    weekday,
    time.getHours(),
    time.getMinutes(),
    time.getSeconds(),
  ];
}
