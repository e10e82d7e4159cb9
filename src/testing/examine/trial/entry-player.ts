import type { Misbehaviour } from '../../../config/catalogue.js';
import { needConnections } from '../../../config/native/manners-schema.js';
import type { Device } from '../../../device/device.js';
import type { Manners } from '../../../device/manners.js';
import { lackOf } from '../../../faults/ability.js';
import { type FaultRule, lineProblems, ruleSchema } from '../../../faults/rule.js';
import type { Random } from '../../../random.js';
import type { Line } from '../../../simulator/line.js';
import { durationText } from '../../scenario/words.js';
import type { OwnRule } from '../heard/exchange.js';
import type { OwnRules } from './own-rules.js';

/** Manners that a device has for a while, and those that it had before. */
interface Lent {
  readonly before: Manners | undefined;
  readonly now: Manners;
}

/** What an entry does may begin so late at most, in ms. */
const LATEST_MS = 60_000;
/** A device that minds how soon a client connects again has to be left twice. */
const CLOSED = 2;

/** Plays entries of the catalogue on a line, one at a time. Whoever begins one must see to it that it ends. */
export class EntryPlayer {
  readonly #line: Line;
  readonly #unitId: number | undefined;
  readonly #rules: OwnRules;
  readonly #lent = new Map<Device, Lent>();
  #put: readonly OwnRule[] = [];

  /** @param unitId only the device of this unit misbehaves; all devices of the line when undefined */
  constructor(line: Line, unitId: number | undefined, rules: OwnRules) {
    this.#line = line;
    this.#unitId = unitId;
    this.#rules = rules;
  }

  /** Why this line can't carry an entry, as a part of a sentence; undefined when it can. */
  whyNot(entry: Misbehaviour): string | undefined {
    const { bus } = this.#line;
    if (entry.line !== undefined) {
      return 'it needs other settings of the line, which an examination leaves as they are';
    }
    if (this.needsConnections(entry) && lackOf(bus.line, 'close')) {
      return `it is about connections, and line ${bus.line.name} has none`;
    }
    for (const rule of this.rulesOf(entry)) {
      const [problem] = lineProblems(rule, [bus.line]);
      if (problem) return problem.message;
      const from =
        Math.min(...(rule.schedule ?? [{}]).map((window) => window.from ?? 0)) + (rule.when.from ?? 0);
      if (from > LATEST_MS) return `it begins only ${durationText(from)} after it was armed`;
    }
    return undefined;
  }

  /** The fault rules of an entry as they are on this line. */
  rulesOf({ id, faults }: Misbehaviour): FaultRule[] {
    return faults.map((written) => ruleSchema.parse({ ...written, name: id, when: this.#when(written) }));
  }

  /** Whether an entry is about connections, so that the client has to be made to open new ones. */
  needsConnections(entry: Misbehaviour): boolean {
    const isAboutThem = ({ when }: FaultRule) => when.connected !== undefined || when.nth !== undefined;
    return needConnections(entry.manners ?? {}).length > 0 || this.rulesOf(entry).some(isAboutThem);
  }

  /**
   * Lets the devices misbehave. Where that needs new connections, two are closed.
   * @param about the check
   * @param random gives the rules their seeds, whatever the entry says
   * @returns the rules of the entry
   */
  begin(entry: Misbehaviour, about: string, random: Random): readonly OwnRule[] {
    for (const device of entry.manners ? this.#devices : []) {
      const before = device.manners;
      device.manners = { ...before, ...entry.manners };
      this.#lent.set(device, { before, now: device.manners });
    }
    const put = entry.faults.map((written) => {
      const { name: _name, when: _when, seed: _seed, do: faults = [], ...more } = written;
      const seed = random.below(2 ** 31);
      const wanted = { when: this.#when(written), faults: [faults].flat() as object[], seed, more };
      return this.#rules.put(about, wanted);
    });
    this.#put = put;
    if (this.needsConnections(entry)) {
      const when = { line: this.#line.name, count: CLOSED };
      this.#put = [...put, this.#rules.put(about, { when, faults: [{ close: 'end' }], seed: 0 })];
    }
    return put;
  }

  /** Takes everything back. Manners that somebody else has set meanwhile stay. Does nothing when nothing is played. */
  end(): void {
    for (const rule of this.#put) this.#rules.remove(rule);
    this.#put = [];
    for (const [device, { before, now }] of this.#lent) if (device.manners === now) device.manners = before;
    this.#lent.clear();
  }

  get #devices(): Iterable<Device> {
    if (this.#unitId === undefined) return this.#line.bus.devices;
    const device = this.#line.bus.deviceAt(this.#unitId);
    return device ? [device] : [];
  }

  #when({ when }: Readonly<Record<string, unknown>>): object {
    const unit = this.#unitId === undefined ? {} : { unit: this.#unitId };
    return { ...unit, ...(when as object | undefined), line: this.#line.name };
  }
}
