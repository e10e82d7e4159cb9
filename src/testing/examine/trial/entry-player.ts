import type { Random } from '../../../common/random.js';
import { lackOf } from '../../../device/faults/kind.js';
import { type FaultRule, lineProblems, ruleSchema } from '../../../device/faults/rule.js';
import type { Misbehaviour } from '../../../files/config/catalogue.js';
import { needConnections } from '../../../files/config/native/manners-schema.js';
import type { Line } from '../../../simulator/line.js';
import { durationText } from '../../scenario/words.js';
import type { OwnRule } from '../heard/exchange.js';
import type { OwnRules } from './rules.js';

/** How late after it was armed an entry may begin, in ms. */
const LATEST_MS = 60_000;
/**
 * How many connections are closed. A device that minds how soon a client connects again has to be left twice.
 */
const CLOSED = 2;

/** Plays one entry of the catalogue on a line. */
export class EntryPlayer {
  readonly #entry: Misbehaviour;
  readonly #line: Line;
  readonly #unitId: number | undefined;
  /** The fault rules of the entry as they are on this line. */
  readonly rules: readonly FaultRule[];

  /** @param unitId the unit whose device misbehaves; all devices of the line when undefined */
  constructor(entry: Misbehaviour, line: Line, unitId: number | undefined) {
    this.#entry = entry;
    this.#line = line;
    this.#unitId = unitId;
    this.rules = entry.faults.map((written) =>
      ruleSchema.parse({ ...written, name: entry.id, when: this.#when(written) }),
    );
  }

  /** Says why this line can't carry the entry, as a part of a sentence; undefined when it can. */
  get whyNot(): string | undefined {
    const { bus } = this.#line;
    if (this.#entry.line !== undefined) {
      return 'it needs other settings of the line, which an examination leaves as they are';
    }
    if (this.needsConnections && lackOf(bus.line, 'close')) {
      return `it is about connections, and line ${bus.line.name} has none`;
    }
    for (const rule of this.rules) {
      const [problem] = lineProblems(rule, [bus.line]);
      if (problem) return problem.message;
      const from =
        Math.min(...(rule.schedule ?? [{}]).map((window) => window.from ?? 0)) + (rule.when.from ?? 0);
      if (from > LATEST_MS) return `it begins only ${durationText(from)} after it was armed`;
    }
    return undefined;
  }

  /** True when the entry is about connections, so that the client has to open new ones. */
  get needsConnections(): boolean {
    const isAboutThem = ({ when }: FaultRule) => when.connected !== undefined || when.nth !== undefined;
    return needConnections(this.#entry.manners ?? {}).length > 0 || this.rules.some(isAboutThem);
  }

  /** The fault rules as a file writes them; when new connections are needed, with one that closes connections. */
  get written(): readonly { readonly name?: unknown; readonly when: object; readonly do?: object }[] {
    const rules = this.#entry.faults.map((written) => ({ ...written, when: this.#when(written) }));
    if (!this.needsConnections) return rules;
    return [...rules, { when: { line: this.#line.name, count: CLOSED }, do: { close: 'end' } }];
  }

  /**
   * Lets the devices misbehave. When that needs new connections, two connections are closed.
   * @param about name of the check
   * @param random gives the rules their seeds, whatever the entry says
   * @returns the rules of the entry, and `end`, which takes everything back except manners that somebody else
   *   has set meanwhile
   */
  begin(own: OwnRules, about: string, random: Random): { rules: readonly OwnRule[]; end: () => void } {
    const { faults, manners } = this.#entry;
    const lent = manners ? Array.from(this.#devices, (device) => device.lendManners(manners)) : [];
    const put = this.written.map((rule, i) =>
      own.put(about, { ...rule, seed: i < faults.length ? random.below(2 ** 31) : 0 }),
    );
    const rules = put.slice(0, faults.length);
    const end = () => {
      for (const rule of put) own.remove(rule);
      for (const giveBack of lent) giveBack();
    };
    return { rules, end };
  }

  get #devices() {
    if (this.#unitId === undefined) return this.#line.bus.devices;
    const device = this.#line.bus.deviceAt(this.#unitId);
    return device ? [device] : [];
  }

  #when({ when }: Readonly<Record<string, unknown>>): object {
    const unit = this.#unitId === undefined ? {} : { unit: this.#unitId };
    return { ...unit, ...(when as object | undefined), line: this.#line.name };
  }
}
