/** The decimal separator of a file; undefined if its numbers do not show it. */
export type DecimalSign = ',' | '.';

/** Finds the decimal separator of a file: numbers such as `0,5` and `12.75` show it, `5.000` does not. */
export function decimalSignOf(cells: readonly string[]): DecimalSign | undefined {
  const shows = (sign: string) =>
    cells.some(
      (cell) => new RegExp(`^[+-]?(?:0|[1-9]\\d*)\\${sign}\\d+$`).test(cell) && !isGrouped(cell, sign),
    );
  const [comma, point] = [shows(','), shows('.')];
  return comma === point ? undefined : comma ? ',' : '.';
}

/** True for a number whose separator could also separate thousands, such as `5.000`. */
export function isGrouped(text: string, sign: string): boolean {
  return new RegExp(`^[+-]?[1-9]\\d{0,2}(?:\\${sign}\\d{3})+$`).test(text);
}

/**
 * Parses a number with a decimal point or comma; undefined for other text.
 * @param sign the decimal separator of the file, if known; the other one separates thousands
 */
export function decimalOf(text: string, sign?: DecimalSign): number | undefined {
  const [whole = '', decimals] = sign ? text.trim().slice(0, 60).split(sign) : [text.trim()];
  const other = sign === ',' ? '.' : ',';
  const plain =
    sign && isGrouped(whole, other)
      ? [whole.replaceAll(other, ''), ...(decimals === undefined ? [] : [decimals])].join('.')
      : text.trim();
  const match = /^[+-]?(?:\d{1,15}(?:[.,]\d{0,15})?|[.,]\d{1,15})(?:e[+-]?\d{1,3})?$/i.exec(plain);
  return match ? Number(match[0].replace(',', '.')) : undefined;
}

/** Parses a factor: `0.1`, `0,1`, `x10`, `*0.01`, `/10`, `1/100`, `10^-2`, `scale(0.1)`. */
export function scaleOf(text: string): number | undefined {
  const short = text
    .slice(0, 40)
    .replace(/\s+/g, '')
    .replace(/^scale\((.*)\)$/i, '$1');
  const power = /^10(?:\^|\*\*)([+-]?\d{1,2})$/.exec(short);
  if (power) return Number(`1e${power[1]}`);
  const fraction = /^([\d.,]*)[/÷:]([\d.,]+)$/.exec(short);
  if (fraction) {
    const [above, below] = [
      fraction[1] === '' ? 1 : decimalOf(fraction[1] ?? ''),
      decimalOf(fraction[2] ?? ''),
    ];
    return above !== undefined && below ? above / below : undefined;
  }
  return decimalOf(short.replace(/^[x*×·]/i, ''));
}

/** Parses a unit that may have a factor in front of it, as in inverter tables: `0.1V`, `0,01 A`, `10mV`. */
export function unitOf(text: string): { readonly unit: string; readonly scale?: number } {
  const [, number = '', unit = ''] =
    /^\s*((?:0[.,]0*|)1(?:0*))\s*([^\s\d.,/*^].*)$/.exec(text.slice(0, 60)) ?? [];
  const scale = number === '' ? undefined : decimalOf(number);
  return scale === undefined || scale === 1 ? { unit: text.replace(/^[-–/]+$/, '') } : { unit, scale };
}
