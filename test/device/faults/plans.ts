import { createRequire } from 'node:module';
import fc from 'fast-check';
import { seededRandom } from '../../../src/common/random.js';
import { applyFaults } from '../../../src/device/faults/apply.js';
import { abilities } from '../../../src/device/faults/kind.js';
import { type FaultRule, ruleSchema } from '../../../src/device/faults/rule.js';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { plainReply, type ReplyPlan, type Step, silence } from '../../../src/modbus/protocol/reply-plan.js';
import { bytesOf, hexOf } from '../../modbus/protocol/hex.js';

/** modbus-serial has no types for them. */
const required = createRequire(import.meta.url);
const crc16 = required('modbus-serial/utils/crc16.js') as (bytes: Buffer) => number;
const lrc = required('modbus-serial/utils/lrc.js') as (bytes: Buffer) => number;

/** An RTU frame as hex, its CRC made by modbus-serial. */
export function rtu(content: string): string {
  const bytes = Buffer.from(bytesOf(content));
  const crc = crc16(bytes);
  return hexOf(Uint8Array.of(...bytes, crc & 0xff, crc >> 8));
}

/** An ASCII message as text, its LRC made by modbus-serial. */
export function message(content: string): string {
  const bytes = Buffer.from(bytesOf(content));
  return `:${hexOf(Uint8Array.of(...bytes, lrc(bytes))).toUpperCase()}\r\n`;
}

/** A rule named `tested`; throws when it is refused. */
export function ruleOf(faults: readonly unknown[], more: object = {}): FaultRule {
  return ruleSchema.parse({ name: 'tested', do: faults, ...more });
}

export interface Situation {
  readonly framing?: keyof typeof LINES;
  /** PDUs as hex. */
  readonly request?: string;
  /** Undefined for none: the plan is silent. */
  readonly response?: string | undefined;
  readonly previousReply?: string;
  readonly seed?: number;
  readonly characterTime?: number;
}

const LINES = {
  rtu: { framing: RTU, abilities: abilities('serial', 'rtu') },
  ascii: { framing: new AsciiFraming(), abilities: abilities('serial', 'ascii') },
  socket: { framing: SOCKET, abilities: abilities('tcp', 'socket') },
} as const;

const UNIT = 1;
const TRANSACTION = 0x1234;

/** Lets the faults act on the plain reply; the plan as `shown`, and why those that could not act could not. */
export function played(
  faults: readonly unknown[],
  situation: Situation = {},
): { steps: string[]; cannot: string[] } {
  const {
    framing: name = 'rtu',
    request = '03 0000 0002',
    seed = 1,
    characterTime = 2,
    previousReply,
  } = situation;
  const response = 'response' in situation ? situation.response : '03 04 0102 0304';
  const { framing, abilities } = LINES[name];
  const ids = { unitId: UNIT, transactionId: TRANSACTION };
  const plan =
    response === undefined ? silence('none') : plainReply(framing.encode({ ...ids, pdu: bytesOf(response) }));
  const acting = [{ rule: ruleOf(faults), random: seededRandom(seed, 1) }];
  const line = { name: 'bench', abilities };
  const { plan: changed, acted } = applyFaults(plan, acting, line, {
    ...ids,
    requestPdu: bytesOf(request),
    framing,
    characterTime,
    previousReply: previousReply === undefined ? undefined : bytesOf(previousReply),
    startTime: () => () => 0,
  });
  return { steps: shown(changed), cannot: acted.flatMap(({ notAchieved }) => notAchieved ?? []) };
}

/** A plan in short: a wait in ms and bytes for each step, `~` before a piece of the frame of the step before. */
export function shown(plan: ReplyPlan): string[] {
  if (plan.kind === 'silence') return ['silence'];
  return [
    ...(plan.early ? ['early'] : []),
    ...(plan.coalesce ? ['coalesce'] : []),
    ...plan.steps.map(shownStep),
  ];
}

function shownStep(step: Step): string {
  switch (step.kind) {
    case 'bytes':
      return `${step.waitMs} ${step.continues ? '~' : ''}${hexOf(step.bytes)}`;
    case 'break':
      return `${step.waitMs} break ${step.ms}`;
    case 'close':
      return `${step.waitMs} close ${step.how}`;
  }
}

const anyHex = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength }).map(hexOf);

const anyWord = fc.oneof(
  fc.nat(0xffff),
  fc.integer({ min: -0xffff, max: 0xffff }).map((by) => (by < 0 ? `${by}` : `+${by}`)),
);

/** What the parameters of each kind can be. */
export const PARAMETERS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  delay: fc.oneof(fc.nat(5000), fc.record({ ms: fc.nat(5000), jitter: fc.nat(5000) })),
  exception: fc.nat(255),
  silence: fc.constant(true),
  junk: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 9000 }), anyHex(1024)),
  pdu: anyHex(253),
  coalesce: fc.constant(true),
  split: fc.record({
    at: fc.oneof(fc.constantFrom('middle', 'each'), fc.integer({ min: 1, max: 300 })),
    gap: fc.constantFrom(0, 0.1, 3, 500),
  }),
  gap: fc.record({ after: fc.integer({ min: 1, max: 300 }), characters: fc.constantFrom(0, 1.5, 20) }),
  change: fc.oneof(
    fc.nat(100),
    fc.record({ percent: fc.nat(100), probability: fc.double({ min: 0, max: 1, noNaN: true }) }),
  ),
  corrupt: fc.integer({ min: 1, max: 2048 }),
  crc: fc.oneof(fc.constantFrom('invert', 'byte', 'zero', 'swap'), fc.nat(0xffff)),
  truncate: fc.integer({ min: -300, max: 300 }),
  drop: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.record({ at: fc.nat(300) })),
  insert: fc.oneof(
    fc.integer({ min: 1, max: 400 }),
    anyHex(400),
    fc.record({ at: fc.nat(300), bytes: anyHex(40) }),
  ),
  extend: fc.oneof(fc.integer({ min: 1, max: 400 }), anyHex(400)),
  noise: fc.oneof(fc.integer({ min: 1, max: 400 }), anyHex(400)),
  unit: fc.nat(255),
  function: fc.nat(255),
  byteCount: fc.nat(255),
  transaction: fc.oneof(fc.constantFrom('previous', 'swapped'), anyWord),
  mbap: fc.oneof(
    fc.record({ protocol: anyWord, length: anyWord }, { requiredKeys: ['protocol'] }),
    fc.record({ length: anyWord }),
  ),
  values: fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 125 }),
  duplicate: fc.record({ times: fc.integer({ min: 1, max: 20 }), gap: fc.constantFrom(0, 1, 250) }),
  stale: fc.constant(true),
  early: fc.constant(true),
  echo: fc.constantFrom<unknown>(true, { corrupt: 3 }, { truncate: 5 }, { drop: 1 }, { insert: '00' }),
  break: fc.nat(500),
  close: fc.oneof(
    fc.constantFrom('end', 'reset'),
    fc.record({ how: fc.constantFrom('end', 'reset'), after: fc.nat(300) }),
  ),
};
