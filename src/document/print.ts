import { printableLine } from '../common/rest-client/printable.js';
import { isMapping } from '../common/schema/parts.js';

/*
 * The only printer of files: configurations, scenarios and claims, whoever creates them. A tree has blocks,
 * with one or more lines for each part; everything else is on one line.
 */

/**
 * A part of a block: a member, an item that is a mapping, or a comment, which is text. Undefined means that
 * the next part is not ready yet, but time has passed.
 */
export type BlockPart =
  | readonly [key: string, value: unknown]
  | Readonly<Record<string, unknown>>
  | string
  | undefined;

/** A mapping or a list whose parts may be created while they are printed. */
export class Block {
  readonly parts: Iterable<BlockPart>;
  /** The text to print if there are no parts; if absent, an empty block is left out. */
  readonly whenEmpty: string | undefined;

  constructor(parts: Iterable<BlockPart>, whenEmpty?: string) {
    this.parts = parts;
    this.whenEmpty = whenEmpty;
  }
}

/** Maximum width of an item, in columns. A wider one has one line for each of its keys. */
const WIDTH = 120;

/** Returns the text of a block, in pieces that each take little time. */
export function* printed({ parts }: Block, indent = ''): Generator<string> {
  for (const part of parts) {
    if (part === undefined) yield '';
    else if (typeof part === 'string') yield part === '' ? '\n' : `${indent}# ${printableLine(part)}\n`;
    else if (!isMember(part)) yield itemText(part, indent);
    else if (part[1] instanceof Block) yield* nested(`${indent}${key(part[0])}:`, part[1], `${indent}  `);
    else yield `${indent}${key(part[0])}: ${flow(part[1])}\n`;
  }
}

function isMember(part: NonNullable<BlockPart>): part is readonly [key: string, value: unknown] {
  return Array.isArray(part);
}

/** Prints a block below its key; the key is not printed before the block has contents. */
function* nested(head: string, block: Block, indent: string): Generator<string> {
  let isEmpty = true;
  for (const text of printed(block, indent)) {
    if (isEmpty && text !== '') yield `${head}\n`;
    isEmpty &&= text === '';
    yield text;
  }
  if (isEmpty && block.whenEmpty !== undefined) yield `${head} ${block.whenEmpty}\n`;
}

function itemText(item: Readonly<Record<string, unknown>>, indent: string): string {
  const text = `${indent}- ${flow(item)}\n`;
  if (text.length <= WIDTH) return text;
  const members = Object.entries(item).filter(([, member]) => member !== undefined);
  return members
    .map(([name, member], i) => `${indent}${i === 0 ? '-' : ' '} ${key(name)}: ${flow(member)}\n`)
    .join('');
}

/**
 * Returns the text of a file, below comments. Blocks contain what people read line by line: sections, their
 * named members, and registers.
 */
export function fileText(content: object, remarks: readonly string[]): string {
  const sections = Object.entries(content).map(([name, value]) => [name, opened(value, 2)] as const);
  return [...printed(new Block([...remarks, '', ...sections]))].join('');
}

/** @param levels how many levels of mappings have one line for each member */
function opened(value: unknown, levels: number): unknown {
  if (levels === 0) return value;
  if (Array.isArray(value)) return value.length > 0 && value.every(isMapping) ? new Block(value) : value;
  if (!isMapping(value)) return value;
  const members = Object.entries(value).map(
    ([name, member]) => [name, opened(member, name === 'registers' ? 2 : levels - 1)] as const,
  );
  return new Block(members, '{}');
}

/** Text that YAML reads as text without quotes: words and paths without special meaning. */
const PLAIN = /^[A-Za-z_/][\w./-]*(?: [\w./-]+)*$/;
const OTHER_MEANING = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
const WHOLE = /^(?:0|[1-9]\d{0,8})$/;

/**
 * Returns a value as YAML on one line: `{address: 0, value: [1, 2]}`. Accepts what a file can contain:
 * mappings, lists, text, numbers, bigints, true, false and null. Undefined members of a mapping are left out.
 */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  switch (typeof value) {
    case 'string':
      return textOf(value);
    case 'number':
      return numberOf(value);
    case 'object':
      return value === null ? 'null' : mappingOf(value);
    default:
      return String(value);
  }
}

/** Returns a key of a mapping. Whole numbers, such as the unit identifiers of a line, need no quotes. */
function key(name: string): string {
  return WHOLE.test(name) ? name : textOf(name);
}

function mappingOf(mapping: object): string {
  const members = Object.entries(mapping).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${key(name)}: ${flow(member)}`).join(', ')}}`;
}

/** Quoted text is written as in JSON, which YAML understands. */
function textOf(text: string): string {
  return PLAIN.test(text) && !OTHER_MEANING.test(text) ? text : JSON.stringify(text);
}

function numberOf(number: number): string {
  if (Number.isNaN(number)) return '.nan';
  if (!Number.isFinite(number)) return number > 0 ? '.inf' : '-.inf';
  // YAML would read -0 as the integer 0, and integers beyond the exact range of a number as something else.
  if (Object.is(number, -0)) return '-0.0';
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? number.toExponential() : String(number);
}
