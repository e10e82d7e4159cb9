import { functionOf } from '../../modbus/protocol/function-table.js';
import type { AddressRange } from '../../modbus/protocol/pdu.js';
import { type Circumstances, type Condition, includes, includesNumber } from './condition.js';
import { type FaultLine, lackOf } from './kind.js';
import type { FaultRule, NamedValue } from './rule.js';

/** The facts that a rule checks to decide whether it applies to a request. */
export interface RequestFacts {
  readonly line: FaultLine;
  readonly unitId: number;
  readonly device: string;
  readonly functionCode: number;
  /** True for a broadcast, on which a rule acts only if it names unit identifier 0. */
  readonly isBroadcast?: boolean;
  /** The address ranges in the request; none for functions without addresses. */
  readonly ranges: readonly AddressRange[];
  readonly circumstances?: Circumstances | undefined;
  /** Where the device keeps the registers of the request, if not at the requested addresses (`manners`). */
  readonly stored?: Stored | undefined;
  /** How many times the device has started. Its states end when it starts again. */
  readonly starts?: number;
}

/** Where the device keeps the registers of a request. A different place is a different object. */
interface Stored {
  /** For each table that clients see: the table with its registers, and the address there that clients see as 0. */
  readonly in: Readonly<
    Record<NamedValue['table'], { readonly source: NamedValue['table']; readonly first: number }>
  >;
}

/**
 * Reports whether the request meets the conditions, apart from the time, `after`, `every`, `count` and
 * `probability`.
 * @param values the values of the names in the condition; undefined if it has no names
 */
export function matchesRequest(
  { line, device, unit, function: code, address, quantity }: Condition,
  values: readonly NamedValue[] | undefined,
  facts: RequestFacts,
): boolean {
  return (
    includes(line, facts.line.name) &&
    includes(device, facts.device) &&
    includesNumber(unit, facts.unitId) &&
    includesNumber(code, facts.functionCode) &&
    (address === undefined ||
      pairs(address).some(([first, last]) => facts.ranges.some((range) => touches(range, first, last)))) &&
    (values === undefined || values.some((value) => touchesValue(facts, value))) &&
    (quantity === undefined || facts.ranges.some((range) => includesNumber(quantity, range.quantity)))
  );
}

type Addresses = NonNullable<Condition['address']>;

/** Returns addresses as pairs of the first and the last one. */
export function pairs(wanted: Addresses): readonly (readonly [number, number])[] {
  if (typeof wanted === 'number') return [[wanted, wanted]];
  return isPair(wanted) ? [wanted] : wanted;
}

function isPair(wanted: Exclude<Addresses, number>): wanted is [number, number] {
  return typeof wanted[0] === 'number';
}

/** Reports whether the request reads or writes at least one register of the value. */
function touchesValue(
  { device, functionCode, ranges, stored }: RequestFacts,
  { address, quantity, ...value }: NamedValue,
): boolean {
  const asked = functionOf(functionCode)?.table;
  if (asked === undefined || device !== value.device) return false;
  const { source, first } = stored?.in[asked] ?? { source: asked, first: 0 };
  if (source !== value.table || address < first) return false;
  return ranges.some((range) => touches(range, address - first, address - first + quantity - 1));
}

function touches({ address, quantity }: AddressRange, first: number, last: number): boolean {
  return quantity > 0 && address <= last && address + quantity > first;
}

interface OfRule {
  readonly rule: FaultRule;
}

/** The rules for requests to one unit of one device with one function. The rules are cached for each such request. */
interface Group<Entry> {
  readonly stored: Stored | undefined;
  readonly entries: readonly Entry[];
  /**
   * The rules for a request, by `rangesKey`. Undefined if the addresses and quantities of a request make no
   * difference.
   */
  readonly byRanges: Map<number | string, readonly Entry[]> | undefined;
}

/**
 * How many results are cached for all lines and units together. Clients repeat their requests. A client that
 * sends a different request each time fills the memory no further than this, with references to at most 256
 * rules in each result.
 */
const MAX_KEPT = 16_384;

/**
 * Finds the rules for a request without checking each rule. Whether a rule applies to a request is the same
 * each time, because time, counts and probability are left out here. So the results are cached by line,
 * device, unit, function and addresses. Checking each of 256 rules would take longer than all the rest of a
 * reply.
 */
export class RuleMatcher<Entry extends OfRule> {
  readonly #entries: readonly Entry[];
  /**
   * The groups by line, by device, and by unit and function. A redefined line is a new object, and may
   * support other faults.
   */
  #lines = new WeakMap<RequestFacts['line'], Map<string, Map<number, Group<Entry>>>>();
  /** How many groups and results are cached. */
  #kept = 0;

  /** Creates the matcher. @param entries in the order in which their rules act */
  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
  }

  /**
   * Returns the entries whose rules apply to the request, in order. A line need support only one of a rule's
   * faults.
   */
  matching(facts: RequestFacts): readonly Entry[] {
    const { entries, byRanges } = this.#groupOf(facts);
    if (byRanges === undefined) return entries;
    const key = rangesKey(facts);
    const kept = byRanges.get(key);
    if (kept !== undefined) return kept;
    const found = entries.filter(({ rule }) => matchesRequest(rule.when, rule.values, facts));
    byRanges.set(key, found);
    this.#countKept();
    return found;
  }

  #countKept(): void {
    this.#kept++;
    if (this.#kept < MAX_KEPT) return;
    this.#lines = new WeakMap();
    this.#kept = 0;
  }

  #groupOf(facts: RequestFacts): Group<Entry> {
    let devices = this.#lines.get(facts.line);
    if (devices === undefined) {
      devices = new Map();
      this.#lines.set(facts.line, devices);
    }
    let groups = devices.get(facts.device);
    if (groups === undefined) {
      groups = new Map();
      devices.set(facts.device, groups);
    }
    const key = (facts.unitId << 8) | facts.functionCode;
    const present = groups.get(key);
    // The device may have had other manners before.
    if (present !== undefined && present.stored === facts.stored) return present;
    const group = this.#makeGroup(facts);
    groups.set(key, group);
    this.#countKept();
    return group;
  }

  #makeGroup(facts: RequestFacts): Group<Entry> {
    const entries = this.#entries.filter(({ rule }) => {
      const { line, device, unit, function: code } = rule.when;
      // If the line supports none of the rule's faults, the request must not use up the rule's count.
      const isAble =
        rule.faults.length === 0 || rule.faults.some(({ needs }) => lackOf(facts.line, needs) === undefined);
      const isMeant = !facts.isBroadcast || unit !== undefined;
      return isAble && isMeant && matchesRequest({ line, device, unit, function: code }, undefined, facts);
    });
    const readsRanges = entries.some(
      ({ rule: { when, values } }) =>
        when.address !== undefined || when.quantity !== undefined || values !== undefined,
    );
    return {
      stored: facts.stored,
      entries,
      byRanges: readsRanges ? new Map() : undefined,
    };
  }
}

/**
 * Returns a key that is equal for requests with equal ranges. Only function 23 has two ranges, and only its
 * requests need a text as the key.
 */
function rangesKey({ ranges }: RequestFacts): number | string {
  const [first, second] = ranges;
  if (first === undefined) return -1;
  const key = first.address * 0x10000 + first.quantity;
  if (second === undefined) return key;
  return ranges.map(({ address, quantity }) => `${address} ${quantity}`).join();
}
