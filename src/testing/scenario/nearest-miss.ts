import type { Condition } from '../../device/faults/condition.js';
import { matchesRequest } from '../../device/faults/matching.js';
import type { NamedValue } from '../../device/faults/rule.js';
import { rangeText } from '../../simulator/traffic/words.js';
import { factsOf, type Matcher } from './matcher.js';
import { GOOD, type Seen } from './seen.js';
import { matchesWrite } from './wanted-write.js';

/** A request that is wanted, as a matcher or as the conditions of a fault rule. */
interface RequestWanted {
  readonly condition: Pick<Condition, 'line' | 'unit' | 'function' | 'address' | 'quantity'>;
  readonly values?: readonly NamedValue[];
  readonly writes?: Matcher['writes'];
  readonly exceptions?: Matcher['exceptions'];
}

/** Finds the request that came nearest to what was wanted, and which conditions it missed. */
export class NearestMiss {
  readonly #wanted: readonly RequestWanted[];
  #nearest: { readonly seen: Seen; readonly missed: readonly string[] } | undefined;

  constructor(wanted: readonly RequestWanted[]) {
    this.#wanted = wanted;
  }

  /** Looks at a request or a reply. Among equally near ones, the first counts. */
  see(seen: Seen): void {
    for (const wanted of this.#wanted) {
      if ((wanted.exceptions === undefined) !== (seen.reply === undefined)) continue;
      const missed = missedBy(wanted, seen);
      if (missed.length < (this.#nearest?.missed.length ?? Number.POSITIVE_INFINITY)) {
        this.#nearest = { seen, missed };
      }
    }
  }

  /**
   * Puts the result into words: `nearest was unit 1 read coils 0–7 (frame 12): function 1, not 3`.
   * @param met the words for a request that missed nothing
   * @returns undefined when nothing came
   */
  text(met: string): string | undefined {
    if (!this.#nearest) return undefined;
    const { seen, missed } = this.#nearest;
    const what = `${seen.text()} (frame ${seen.event.seq})`;
    return missed.length === 0 ? `${what} ${met}` : `nearest was ${what}: ${missed.join('; ')}`;
  }
}

/** Names the conditions that a request misses, each as `unit 5, not 1`. */
function missedBy({ condition, values, writes = [], exceptions }: RequestWanted, seen: Seen): string[] {
  const { line, unit, function: code, address, quantity } = condition;
  const facts = factsOf(seen);
  const ranges = seen.ranges.map((range) => rangeText(range.address, range.quantity)).join(' and ');
  const quantities = seen.ranges.map((range) => range.quantity).join(' and ');
  const { exception } = seen.reply ?? {};
  const isAnswered = exceptions === undefined || (exception !== undefined && exceptions.includes(exception));
  const parts: readonly (readonly [isMet: boolean, missed: () => string])[] = [
    [matchesRequest({ line }, undefined, facts), () => `line ${seen.line}, not ${oneOf(line)}`],
    [matchesRequest({ unit }, undefined, facts), () => `unit ${seen.unitId}, not ${oneOf(unit)}`],
    [
      matchesRequest({ function: code }, undefined, facts),
      () => `function ${seen.functionCode}, not ${oneOf(code)}`,
    ],
    [
      matchesRequest({ address }, undefined, facts),
      () => `${ranges === '' ? 'no address' : `address ${ranges}`}, not ${addressText(address)}`,
    ],
    [
      matchesRequest({}, values, facts),
      () => `${ranges === '' ? 'no address' : `address ${ranges}`}, not that of the value by its name`,
    ],
    [
      matchesRequest({ quantity }, undefined, facts),
      () => `quantity ${quantities === '' ? 'none' : quantities}, not ${oneOf(quantity)}`,
    ],
    [writes.every((write) => matchesWrite(write, seen)), () => 'it does not write what is wanted'],
    [isAnswered, () => `${answerText(exception)}, not ${wantedAnswer(exceptions)}`],
  ];
  return parts.flatMap(([isMet, missed]) => (isMet ? [] : [missed()]));
}

function oneOf(wanted: unknown): string {
  return [wanted].flat().join(' or ');
}

/** Puts wanted addresses into words: `0–9 or 20–29`. */
export function addressText(wanted: Condition['address']): string {
  if (wanted === undefined || typeof wanted === 'number') return String(wanted);
  const pairs = (typeof wanted[0] === 'number' ? [wanted] : wanted) as readonly (readonly number[])[];
  return pairs.map((pair) => pair.join('–')).join(' or ');
}

function wantedAnswer(exceptions: Matcher['exceptions']): string {
  return exceptions?.includes(GOOD) ? 'with a good reply' : `with exception ${exceptions?.join(' or ')}`;
}

function answerText(exception: number | undefined): string {
  if (exception === undefined) return 'not answered';
  return exception === GOOD ? 'answered without an exception' : `answered with exception ${exception}`;
}
