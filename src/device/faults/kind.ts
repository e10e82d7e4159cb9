import type { z } from 'zod';
import type { Random } from '../../common/random.js';
import { type Kind, kindOf } from '../../common/schema/parts.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import type { ReplyPlan } from '../../modbus/protocol/reply-plan.js';
import { type Budget, type Excess, sizeOf } from './budget.js';

/** What a fault knows about the reply that it changes. */
export interface FaultContext {
  readonly unitId: number;
  readonly transactionId: number;
  readonly requestPdu: Uint8Array;
  readonly framing: Framing;
  readonly random: Random;
  /** How many times the rule has acted, including this time. */
  readonly turn: number;
  /** The budget of the faults on this reply. The helpers of `plan.ts` spend from it. */
  readonly budget: Budget;
  /** The time of a character on the line, in ms; 0 if the line has no character time. */
  readonly characterTime: number;
  /** The reply to this client's previous request, as sent or as it should have been sent. */
  readonly previousReply: Uint8Array | undefined;
}

/** The changed plan, or the reason why the fault could not act. */
export type Applied = ReplyPlan | string;

/** One kind of fault. `apply` is pure: it maps a plan to a plan and takes all randomness from the context. */
interface FaultKind<Parameters> {
  /**
   * One or two sentences about what happens on the wire. The console and the document of the REST interface
   * show it.
   */
  readonly does: string;
  /**
   * The schema of the parameters in files and requests. Every value that it accepts must be safe to apply.
   */
  readonly schema: z.ZodType<Parameters>;
  /** The ability that the line must have. */
  readonly needs?: Ability;
  /** True if the fault keeps the request from reaching the device, so that nothing is executed. */
  readonly prevents?: boolean;
  readonly apply: (plan: ReplyPlan, parameters: Parameters, context: FaultContext) => Applied;
}

/** One entry of a rule's `do`: a kind with its parameters, ready to act. */
export interface Fault {
  readonly kind: string;
  readonly written: unknown;
  readonly needs: Ability | undefined;
  readonly prevents: boolean;
  apply(plan: ReplyPlan, context: FaultContext): Applied;
}

/** Creates an entry of a table of kinds. */
export function fault<Parameters>({
  does,
  schema,
  needs,
  prevents = false,
  apply,
}: FaultKind<Parameters>): Kind<Fault> & { readonly does: string } {
  const kind = kindOf(schema, (parameters, entry) => ({
    ...entry,
    needs,
    prevents,
    apply: (plan: ReplyPlan, context: FaultContext) => apply(plan, parameters, context),
  }));
  return { ...kind, does };
}

/**
 * Lets one fault change a plan within the budget. Returns the new plan, or why the fault can't act, or the
 * limit that it would exceed.
 */
export function act(fault: Fault, plan: ReplyPlan, line: FaultLine, context: FaultContext): Applied | Excess {
  const { budget } = context;
  const before = sizeOf(plan);
  budget.begin(before);
  const usedUp = budget.excess(before);
  if (usedUp) return usedUp;
  const applied = lackOf(line, fault.needs) ?? fault.apply(plan, context);
  return budget.excess(typeof applied === 'string' ? before : sizeOf(applied)) ?? applied;
}

/** An ability that only some lines have. A rule that needs it is refused for the others. */
export type Ability =
  | 'break'
  | 'close'
  | 'crc'
  | 'transaction'
  | 'mbap'
  | 'stream'
  | 'turnaround'
  | 'characterTime';

/** Why a line lacks the ability. The message puts this after "line x". */
const LACKS: Readonly<Record<Ability, string>> = {
  break: 'has no break state',
  close: 'has no connection to close',
  crc: 'has no CRC',
  transaction: 'has no transaction identifiers',
  mbap: 'has no MBAP header',
  stream: 'has no connection that could carry two replies',
  turnaround: 'has no turnaround to cut short',
  characterTime: 'has no character times',
};

/** What carries the bytes: a real serial port, a pseudo-terminal or a kind of socket. */
export type Medium = 'serial' | 'virtual' | 'tcp' | 'tls' | 'udp';

/** The abilities by medium. A pseudo-terminal carries bytes, but no break. */
const BY_MEDIUM: Readonly<Record<Medium, readonly Ability[]>> = {
  serial: ['turnaround', 'characterTime', 'break'],
  virtual: ['turnaround', 'characterTime'],
  tcp: ['close', 'stream'],
  tls: ['close', 'stream'],
  udp: [],
};

const BY_FRAMING: Readonly<Record<Framing['name'], readonly Ability[]>> = {
  rtu: ['crc'],
  ascii: ['crc'],
  socket: ['transaction', 'mbap'],
};

export function abilities(medium: Medium, framing: Framing['name']): ReadonlySet<Ability> {
  return new Set([...BY_MEDIUM[medium], ...BY_FRAMING[framing]]);
}

/** What faults need to know about a line. */
export interface FaultLine {
  readonly name: string;
  readonly abilities: ReadonlySet<Ability>;
}

/** Returns why a line can't do something, such as `line lan has no CRC`; undefined if it can. */
export function lackOf({ name, abilities }: FaultLine, needed: Ability | undefined): string | undefined {
  return needed === undefined || abilities.has(needed) ? undefined : `line ${name} ${LACKS[needed]}`;
}
