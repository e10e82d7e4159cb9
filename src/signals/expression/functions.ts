/** A value at a time, in ms since the device's clock began. */
export type Evaluate = (time: number) => number;

/** A function for expressions: its number of arguments, and how to make a closure of them. */
interface ExpressionFunction {
  readonly least: number;
  readonly most: number;
  readonly of: (...args: Evaluate[]) => Evaluate;
}

/** Every function that an expression may call. */
export const FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map([
  ['sin', unary(Math.sin)],
  ['abs', unary(Math.abs)],
  ['round', unary(Math.round)],
  ['floor', unary(Math.floor)],
  ['min', several(Math.min)],
  ['max', several(Math.max)],
  [
    'clamp',
    { least: 3, most: 3, of: (x, min, max) => clamp(x as Evaluate, min as Evaluate, max as Evaluate) },
  ],
  [
    'if',
    { least: 3, most: 3, of: (test, yes, no) => choose(test as Evaluate, yes as Evaluate, no as Evaluate) },
  ],
]);

/** Every operator with one operand. */
export const UNARY: ReadonlyMap<string, (a: number) => number> = new Map([
  ['-', (a: number) => -a],
  ['+', (a: number) => a],
  ['!', (a: number) => Number(!a)],
]);

/** Every operator with two operands. True is 1, false is 0. */
export const BINARY: ReadonlyMap<string, (a: number, b: number) => number> = new Map<
  string,
  (a: number, b: number) => number
>([
  ['+', (a, b) => a + b],
  ['-', (a, b) => a - b],
  ['*', (a, b) => a * b],
  ['/', (a, b) => a / b],
  ['%', (a, b) => a % b],
  ['**', (a, b) => a ** b],
  ['<', (a, b) => Number(a < b)],
  ['<=', (a, b) => Number(a <= b)],
  ['>', (a, b) => Number(a > b)],
  ['>=', (a, b) => Number(a >= b)],
  ['==', (a, b) => Number(a === b)],
  ['!=', (a, b) => Number(a !== b)],
  ['&&', (a, b) => Number(Boolean(a) && Boolean(b))],
  ['||', (a, b) => Number(Boolean(a) || Boolean(b))],
]);

/** The value of `yes` while `test` is not 0, and of `no` while it is 0. */
export function choose(test: Evaluate, yes: Evaluate, no: Evaluate): Evaluate {
  return (time) => (test(time) ? yes(time) : no(time));
}

function clamp(x: Evaluate, min: Evaluate, max: Evaluate): Evaluate {
  return (time) => Math.min(Math.max(x(time), min(time)), max(time));
}

function unary(apply: (a: number) => number): ExpressionFunction {
  return { least: 1, most: 1, of: (a) => (time) => apply((a as Evaluate)(time)) };
}

function several(apply: (...values: number[]) => number): ExpressionFunction {
  return {
    least: 1,
    most: 100,
    of:
      (...args) =>
      (time) =>
        apply(...args.map((arg) => arg(time))),
  };
}
