import type { z } from 'zod';
import type { At } from '../../common/schema/at.js';
import type { Path } from '../../common/schema/problem.js';
import type { ExceptionCode } from '../../modbus/protocol/function-code.js';
import type { ValueType } from '../registers/cell-type.js';
import type { Pace, Signal } from '../signals/signal.js';

/** The reaction of one value to a write. Values are in the unit of the register; NaN for text. */
export interface Reaction {
  /** Returns the exception that refuses a client's write of this value; undefined if the write is allowed. */
  refusal?(value: number): ExceptionCode | undefined;
  /**
   * Reacts to a write. Call this after the value was written, by a client, by an operator or by another
   * reaction.
   */
  written?(): void;
  /** Called whenever the device has started, or its clock continues from a different time. */
  begun?(): void;
  /** Returns the number to store when another reaction sets the value to `next`. */
  kept?(next: number): number;
  /** Returns the signal that replaces the signal of the value. */
  around?(signal: Signal): Signal;
}

/** The environment of a reaction, passed when the reaction is created for a value. */
export interface ReactionContext {
  readonly value: number;
  /** Returns the nearest number that the register can hold. */
  stored(number: number): number;
  /**
   * Returns a value by name: `voltage` of the same device, or `other.voltage`. Every name in `uses` exists.
   */
  named(name: string): Signal;
  /** Returns the value that begins at an address of the holding registers, in its unit. */
  holding(address: number): number;
  /** Returns the time of the device's clock, in ms. */
  now(): number;
  /** How closely a reaction may sample a signal. */
  readonly pace: Pace;
  /** Changes the value itself, without any reaction. */
  show(value: number): void;
  /** Sets a value of the same device, and runs its reactions. */
  set(name: string, value: number): void;
  /**
   * Runs `act` `ms` of the device's clock later.
   * @param names the values that it sets
   */
  later(ms: number, act: () => void, names?: readonly string[]): () => void;
  /**
   * Runs `act` `ms` of the device's clock later, without counting as a pending change. A reaction has at most
   * one such timer at a time.
   */
  timer(ms: number, act: () => void): () => void;
  /** Runs `act` after each write to another value of the same device. Every name in `uses` exists. */
  whenWritten(name: string, act: () => void): void;
  /** Makes the device refuse all writes for `ms` of its clock. */
  busy(ms: number): void;
}

/** The entry that contains a reaction. */
export interface ReactingEntry {
  readonly table: string;
  readonly type: ValueType;
  readonly scale: number;
  readonly writable: boolean;
  /** The key that makes the value change without a write, if any. */
  readonly movedBy: 'signal' | 'follows' | 'action' | undefined;
  readonly reactions: readonly string[];
}

/** Another value that a reaction reads or sets, and the parameter that names it. */
export interface Use {
  /** How it is used. Writes to a `watched` value trigger the reaction. */
  readonly as: 'read' | 'watched' | 'set' | 'holding register';
  /** The value: a name, or a number for an address of the holding registers. */
  readonly target: string | number;
  readonly path: Path;
}

/** The minimum and the maximum; no limit when absent. */
interface Limits {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

interface ReactionKind<Parameters> {
  readonly schema: z.ZodType<Parameters>;
  /** The row of docs/reactions.md: how the reaction is written, and what it does. */
  readonly doc: { readonly entry: string; readonly effect: string };
  /** Returns why an entry can't have the reaction; undefined if it can. */
  whyUnfit(entry: ReactingEntry, parameters: Parameters): string | undefined;
  /** Returns the other values that the reaction reads or sets. */
  readonly uses?: (parameters: Parameters) => readonly Use[];
  /** Returns how many later changes a write schedules, without those that follow from them; none if absent. */
  readonly causes?: (parameters: Parameters) => number;
  readonly limits?: (parameters: Parameters) => Limits;
  readonly start: (parameters: Parameters, context: ReactionContext) => Reaction;
}

/** A checked reaction of an entry: a kind with its parameters, ready to be started. */
export interface ReactionDefinition {
  readonly kind: string;
  readonly uses: readonly Use[];
  readonly causes: number;
  /** The values that the reaction accepts, in the unit of the entry; absent if it accepts all. */
  readonly limits?: Limits;
  start(context: ReactionContext): Reaction;
}

/** Creates an entry of a table of kinds. */
export function reaction<Parameters>({
  schema,
  doc,
  whyUnfit,
  uses,
  causes,
  limits,
  start,
}: ReactionKind<Parameters>) {
  return {
    doc,
    schema,
    /** Reads the reaction at `at`. Undefined if it has mistakes, which are then reported. */
    read(at: At, kind: string, entry: ReactingEntry): ReactionDefinition | undefined {
      const parameters = at.check(schema);
      if (parameters === undefined) return undefined;
      const unfit = whyUnfit(entry, parameters);
      if (unfit !== undefined) return at.wrong(unfit);
      return {
        kind,
        uses: uses?.(parameters) ?? [],
        causes: causes?.(parameters) ?? 0,
        ...(limits && { limits: limits(parameters) }),
        start: (context) => start(parameters, context),
      };
    },
  };
}

/** Returns why a reaction does not fit an entry that clients can't write. */
export function unlessWritable({ table, writable }: ReactingEntry): string | undefined {
  if (table !== 'coils' && table !== 'holding') {
    return 'expected a coil or a holding register: clients can’t write to the other tables';
  }
  return writable ? undefined : 'needs write: true in this entry: clients can’t write it otherwise';
}

/** Returns why a reaction does not fit an entry that is not a coil. */
export function unlessCoil({ table }: ReactingEntry): string | undefined {
  return table === 'coils' ? undefined : `expected a coil, got an entry of ${table}`;
}

/** Returns why a reaction that compares numbers does not fit an entry. */
export function unlessNumber({ type }: ReactingEntry): string | undefined {
  return type === 'string' ? 'expected a number, got a text entry' : undefined;
}
