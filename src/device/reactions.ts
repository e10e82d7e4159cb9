import { ExceptionCode } from '../modbus/protocol/function-code.js';
import type { LocalPoints, Point } from './point.js';
import type { ReactionContext } from './reactions/reaction.js';
import type { RegisterImage } from './registers/image.js';
import type { Table } from './registers/table.js';
import { nearestValue } from './registers/value.js';
import type { Pace, Signal } from './signals/signal.js';

/** What the values of a device do when they are written. */
export class Reactions {
  readonly #points: LocalPoints;
  readonly #holding: Table;
  readonly #named: (name: string) => Signal;
  readonly #pace: Pace;
  #busyUntil = Number.NEGATIVE_INFINITY;

  constructor(points: LocalPoints, holding: Table, named: (name: string) => Signal, pace: Pace) {
    this.#points = points;
    this.#holding = holding;
    this.#named = named;
    this.#pace = pace;
  }

  /** Forgets the past, on a restart. Reactions have no state: their later actions are scheduled. */
  reset(): void {
    this.#busyUntil = Number.NEGATIVE_INFINITY;
  }

  start(point: Point): void {
    const { reactions = [] } = point.definition;
    point.reactions = reactions.map((each) => each.start(this.#contextOf(point)));
  }

  /** True while the device refuses all writes. */
  get isBusy(): boolean {
    this.#points.advance();
    return this.#points.schedule.time < this.#busyUntil;
  }

  /**
   * Returns the exception that refuses a client's write of `words` starting at the cell at `address`;
   * undefined if the whole write is allowed. The lowest code wins: exception codes are in the order of the
   * checks (address, value, execution).
   */
  refusal(image: RegisterImage, address: number, words: readonly number[]): ExceptionCode | undefined {
    const isBusy = this.isBusy;
    const points = this.#points.between(image, address, words.length);
    const codes = points.flatMap((point) => {
      const { location, reactions, definition } = point;
      if (reactions.length === 0) return [];
      image.refresh(location.address, location.cells);
      const value = Number(image.valueWith(location, address, words)) * definition.scale;
      return reactions.flatMap((reaction) => reaction.refusal?.(value) ?? []);
    });
    if (isBusy || !this.#points.haveRoom(points)) codes.push(ExceptionCode.serverDeviceBusy);
    return codes.sort((a, b) => a - b)[0];
  }

  #contextOf(point: Point): ReactionContext {
    const points = this.#points;
    const { schedule } = points;
    const { type, scale } = point.definition;
    return {
      get value() {
        return points.valueNow(point);
      },
      stored: (number) => {
        const nearest = Number(nearestValue(type, number / scale).value);
        return (type === 'float32' ? Math.fround(nearest) : nearest) * scale;
      },
      named: this.#named,
      holding: (address) => this.#holdingValue(address),
      now: () => schedule.time,
      pace: this.#pace,
      show: (value) => store(point, value),
      set: (name, value) => {
        const target = points.named.get(name);
        if (target) this.#set(target, value);
      },
      later: (ms, act, names = []) => schedule.later(ms, act, 1 + points.causedBy(names)),
      timer: (ms, act) => schedule.later(ms, act, 0),
      whenWritten: (name, act) => points.named.get(name)?.watchers.push(act),
      busy: (ms) => {
        this.#busyUntil = Math.max(this.#busyUntil, schedule.time + ms);
      },
    };
  }

  #set(target: Point, value: number): void {
    const kept = target.reactions.reduce((next, { kept }) => kept?.(next) ?? next, value);
    store(target, kept);
    target.react();
  }

  #holdingValue(address: number): number {
    const { image, base } = this.#holding.window;
    const location = image.valueSpan(base + address);
    if (!location) return Number.NaN;
    image.refresh(location.address, location.cells);
    return (
      Number(image.valueAt(location)) * (this.#points.at(image, location.address)?.definition.scale ?? 1)
    );
  }
}

/** Stores a number in the unit of a value, as precisely as the type allows. */
function store(point: Point, number: number): void {
  const { image, location, definition } = point;
  const { value, fits } = nearestValue(definition.type, number / definition.scale);
  if (!fits) point.saturated++;
  image.setValue(location, value);
  image.noteWrite(location.address, location.cells, { by: 'reaction' });
}
