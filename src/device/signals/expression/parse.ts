import jsep from 'jsep';
import { unknownName } from '../../../common/schema/nearest.js';
import { quote } from '../../../common/schema/problem.js';

/** Another value by its name, at a time in ms since the device's clock began. */
interface Named {
  valueAt(time: number): number;
}

/** Turns an expression into a function of time, given the value of each name in it. */
type Bind = (named: (name: string) => Named) => Evaluate;

export interface Expression {
  readonly text: string;
  /** The names of other values, each once: `voltage`, `other.voltage`. */
  readonly names: readonly string[];
  readonly bind: Bind;
}

/** The parser recurses up to once per character. This depth is far below the stack limit. */
const MAX_LENGTH = 2000;

/** The deepest nesting. Each level is a nested call during evaluation. */
const MAX_DEPTH = 250;

/** The name that stands for the time in seconds since the device's clock began. */
export const TIME_NAME = 't';

/** Parses an expression. The error says what is wrong with the text. */
export function parseExpression(text: string): Expression | { readonly error: string } {
  if (text.length > MAX_LENGTH) {
    return { error: `expected an expression of at most ${MAX_LENGTH} characters, got ${text.length}` };
  }
  let tree: jsep.Expression;
  try {
    tree = jsep(text);
  } catch (error) {
    return { error: `not an expression: ${(error as Error).message}` };
  }
  const compiler = new Compiler();
  compiler.compile(tree, 0);
  const [error] = compiler.errors;
  // An expression is compiled when it is bound. Until then only its text takes memory.
  const bind: Bind = (named) => new Compiler().compile(jsep(text), 0)(named);
  return error === undefined ? { text, names: [...compiler.names], bind } : { error };
}

/**
 * Turns a syntax tree into closures. Nodes, operators and functions that are not listed are refused. So an
 * expression can reach only numbers: no name in the text is ever looked up as a property of an object.
 */
class Compiler {
  readonly names = new Set<string>();
  readonly errors: string[] = [];

  compile(node: jsep.Expression, depth: number): Bind {
    if (depth > MAX_DEPTH) return this.#refuse(`nested more than ${MAX_DEPTH} deep`);
    const inner = (child: jsep.Expression) => this.compile(child, depth + 1);
    switch (node.type) {
      case 'Literal':
        return this.#literal(node as jsep.Literal);
      case 'Identifier':
        return this.#name((node as jsep.Identifier).name);
      case 'MemberExpression':
        return this.#member(node as jsep.MemberExpression);
      case 'UnaryExpression':
        return this.#unary(node as jsep.UnaryExpression, inner);
      case 'BinaryExpression':
        return this.#binary(node as jsep.BinaryExpression, inner);
      case 'ConditionalExpression': {
        const { test, consequent, alternate } = node as jsep.ConditionalExpression;
        return combine([test, consequent, alternate].map(inner), choose as (...all: Evaluate[]) => Evaluate);
      }
      case 'CallExpression':
        return this.#call(node as jsep.CallExpression, inner);
      case 'Compound':
        return this.#refuse(
          (node as jsep.Compound).body.length === 0 ? 'it is empty' : 'an operator is missing',
        );
      default:
        return this.#refuse(`${node.type} is not allowed`);
    }
  }

  #literal({ value, raw }: jsep.Literal): Bind {
    if (typeof value !== 'number') return this.#refuse(`expected a number, got ${quote(raw)}`);
    return () => () => value;
  }

  #name(name: string): Bind {
    if (name === TIME_NAME) return () => (time) => time / 1000;
    this.names.add(name);
    return (named) => {
      const value = named(name);
      return (time) => value.valueAt(time);
    };
  }

  /** Compiles `other.voltage`, which is a name of two parts, not a property of an object. */
  #member({ computed, optional, object, property }: jsep.MemberExpression): Bind {
    if (computed || optional || object.type !== 'Identifier' || property.type !== 'Identifier') {
      return this.#refuse('a name with a dot or brackets must be other.name, a value of another device');
    }
    return this.#name(`${(object as jsep.Identifier).name}.${(property as jsep.Identifier).name}`);
  }

  #unary({ operator, argument }: jsep.UnaryExpression, inner: (node: jsep.Expression) => Bind): Bind {
    const apply = UNARY.get(operator);
    if (!apply) return this.#refuse(unknownName('operator', operator, [...UNARY.keys()]));
    return combine([inner(argument)], (a) => (time) => apply((a as Evaluate)(time)));
  }

  #binary({ operator, left, right }: jsep.BinaryExpression, inner: (node: jsep.Expression) => Bind): Bind {
    const apply = BINARY.get(operator);
    if (!apply) return this.#refuse(unknownName('operator', operator, [...BINARY.keys()]));
    return combine(
      [left, right].map(inner),
      (a, b) => (time) => apply((a as Evaluate)(time), (b as Evaluate)(time)),
    );
  }

  #call({ callee, arguments: args }: jsep.CallExpression, inner: (node: jsep.Expression) => Bind): Bind {
    if (callee.type !== 'Identifier') return this.#refuse('expected the name of a function before (');
    const { name } = callee as jsep.Identifier;
    const found = FUNCTIONS.get(name);
    if (!found) return this.#refuse(unknownName('function', name, [...FUNCTIONS.keys()]));
    const { least, most, of } = found;
    if (args.length < least || args.length > most) {
      const expected = least === most ? String(least) : `${least} to ${most}`;
      return this.#refuse(`${name} takes ${expected} arguments, got ${args.length}`);
    }
    return combine(args.map(inner), of);
  }

  #refuse(message: string): Bind {
    this.errors.push(message);
    return () => () => Number.NaN;
  }
}

function combine(parts: readonly Bind[], of: (...evaluated: Evaluate[]) => Evaluate): Bind {
  return (named) => of(...parts.map((bind) => bind(named)));
}

/** Returns a value at a time, in ms since the device's clock began. */
type Evaluate = (time: number) => number;

/** A function for expressions: its number of arguments, and how to create a closure from them. */
interface ExpressionFunction {
  readonly least: number;
  readonly most: number;
  readonly of: (...args: Evaluate[]) => Evaluate;
}

/** Every function that an expression may call. */
const FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map([
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
const UNARY: ReadonlyMap<string, (a: number) => number> = new Map([
  ['-', (a: number) => -a],
  ['+', (a: number) => a],
  ['!', (a: number) => Number(!a)],
]);

/** Every operator with two operands. True is 1, false is 0. */
const BINARY: ReadonlyMap<string, (a: number, b: number) => number> = new Map<
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
function choose(test: Evaluate, yes: Evaluate, no: Evaluate): Evaluate {
  return (time) => (test(time) ? yes(time) : no(time));
}
