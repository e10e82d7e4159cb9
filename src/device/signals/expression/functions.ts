/** Returns a value at a time, in ms since the device's clock began. */
export type Evaluate = (time: number) => number;

/** A function for expressions: how many arguments it has, and how to make a closure from them. */
interface ExpressionFunction {
  readonly least: number;
  readonly most: number;
  readonly of: (...args: Evaluate[]) => Evaluate;
}

/** Every function that an expression may call. */
export const FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map([
  ['sin', pure(1, 1, Math.sin)],
  ['abs', pure(1, 1, Math.abs)],
  ['round', pure(1, 1, Math.round)],
  ['floor', pure(1, 1, Math.floor)],
  ['min', pure(1, 100, Math.min)],
  ['max', pure(1, 100, Math.max)],
  ['clamp', pure(3, 3, (x, min, max) => Math.min(Math.max(x, min), max))],
  [
    'if',
    { least: 3, most: 3, of: (test, yes, no) => choose(test as Evaluate, yes as Evaluate, no as Evaluate) },
  ],
]);

function pure(least: number, most: number, apply: (...values: number[]) => number) {
  const of =
    (...args: Evaluate[]) =>
    (time: number) =>
      apply(...args.map((arg) => arg(time)));
  return { least, most, of };
}

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

/** Returns the value of `yes` while `test` is not 0, and of `no` while it is 0. */
export function choose(test: Evaluate, yes: Evaluate, no: Evaluate): Evaluate {
  return (time) => (test(time) ? yes(time) : no(time));
}
