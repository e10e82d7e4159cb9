import { BLOCK } from '../../../common/capture-numbers.js';
import { counted } from '../../../common/words.js';
import { type Step, type StepReport, stepsOf } from '../../../modbus/protocol/reply-plan.js';
import { damageText } from '../decode.js';
import type { DamageEvent, FrameEvent, ReplyEvent, TrafficEvent, UnsolicitedEvent } from '../event.js';

/** How frames are shown: as they were on the wire, or each as UDP with Modbus RTU. */
export type FormName = 'wire' | 'decoded';

export const FORM_NAMES = ['wire', 'decoded'] as const satisfies readonly FormName[];

/** What a capture needs to know about a line besides its events. */
export interface CaptureLine {
  readonly name: string;
  readonly kind: 'serial' | 'tcp' | 'udp' | 'tls';
  /** Describes the line for its interface description. */
  describe(): string;
  /** The address that a socket listens on; absent for a serial line. */
  readonly host?: string;
  readonly port?: number;
}

/** The current lines. */
export interface CaptureLines {
  names(): Iterable<string>;
  get(name: string): CaptureLine | undefined;
}

export interface Packet {
  readonly link: LinkType;
  /** When the first byte was on the line, in ms since 1970. */
  readonly time: number;
  readonly bytes: Uint8Array;
  readonly comment: string | undefined;
}

/** Converts the events of a line into packets, in order. */
export type Form = (event: TrafficEvent, line: CaptureLine) => readonly Packet[];

/** Makes a packet from an event. @param at when its first byte was on the line, in ms of `performance.now()` */
export function packetOf(
  event: TrafficEvent,
  link: LinkType,
  at: number,
  bytes: Uint8Array,
  comments: readonly string[],
): Packet {
  const comment = comments.length === 0 ? undefined : comments.join('\n');
  return { link, time: event.time + (at - event.at), bytes, comment };
}

/** A completed step. Only unusual things get comments, so that they are easy to find in Wireshark. */

export interface DoneStep {
  readonly step: Step;
  /** When the step was done, in ms of `performance.now()`. */
  readonly at: number;
  /** Comments on what was unusual about the step. */
  readonly comments: readonly string[];
}

const KIND_COMMENTS: Readonly<Record<FrameEvent['kind'], string | undefined>> = {
  request: undefined,
  broadcast: 'broadcast: no reply',
  'foreign request': 'foreign: a request for a device that is not ours',
  'foreign response': 'foreign: the response of a device that is not ours',
  duplicate: 'duplicate: another device responded for one of our units',
  dropped: 'dropped: not executed, because replies were pending',
};

/** The comments on bytes that were received or sent unsolicited. */
export function receivedComments(event: FrameEvent | DamageEvent | UnsolicitedEvent): string[] {
  switch (event.kind) {
    case 'damaged':
      return [`damaged: ${damageText(event.bytes, event.framing)}`];
    case 'discarded':
      return ['discarded: no valid frame'];
    case 'unsolicited':
      return ['unsolicited: sent by the simulator without a request'];
    default: {
      const comment = KIND_COMMENTS[event.kind];
      return comment === undefined ? [] : [comment];
    }
  }
}

/**
 * The completed steps of a reply. The comments of the first step name the rules that acted; those of the last
 * step say what was not done.
 */
export function doneSteps(event: ReplyEvent): DoneStep[] {
  const { plan, report } = event;
  const steps = stepsOf(plan);
  const isSpecial = steps.length > 1 || event.acted.length > 0;
  const done: (DoneStep & { comments: string[] })[] = [];
  for (const [i, step] of steps.entries()) {
    const outcome = report.steps[i];
    if (outcome?.outcome !== 'achieved') continue;
    const comments = isSpecial ? [stepComment(event, i, outcome)] : [];
    done.push({ step, at: outcome.achievedAt, comments });
  }
  done[0]?.comments.unshift(...ruleComments(event));
  done.at(-1)?.comments.push(...notDone(event));
  return done;
}

/** Comments on why nothing of a reply was sent. */
export function silenceComments(event: ReplyEvent): string[] {
  const { plan } = event;
  const why = plan.kind === 'silence' ? [`no reply: ${plan.reason}`] : ['no reply', ...notDone(event)];
  return [...ruleComments(event), ...why];
}

function ruleComments({ acted, omittedFaults }: ReplyEvent): string[] {
  const comments = acted.map(({ rule, kind, notAchieved }) =>
    notAchieved === undefined ? `rule ${rule}: ${kind}` : `rule ${rule}: ${kind} did not act: ${notAchieved}`,
  );
  return omittedFaults === 0 ? comments : [...comments, `and ${counted(omittedFaults, 'more fault')}`];
}

function stepComment({ plan, requestedAt }: ReplyEvent, i: number, report: StepReport): string {
  const count = plan.kind === 'send' ? plan.steps.length : 0;
  const { plannedAt, achievedAt, uncertainty } = report;
  const which = count > 1 ? `step ${i + 1} of ${count}: ` : '';
  const atMost = uncertainty === undefined ? '' : `, at most ${microseconds(uncertainty)} later`;
  const planned = microseconds(plannedAt - requestedAt);
  return `${which}planned ${planned} after the request, achieved ${microseconds(achievedAt - requestedAt)}${atMost}`;
}

/** Comments on steps that were not done. Steps with the same reason are combined. */
function notDone({ report }: ReplyEvent): string[] {
  const counts = new Map<string, number>();
  for (const { outcome, reason = report.ended } of report.steps) {
    if (outcome === 'not achieved') counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return Array.from(
    counts,
    ([reason, count]) => `${counted(count, 'step was', 'steps were')} not carried out: ${reason}`,
  );
}

function microseconds(ms: number): string {
  return `${Math.round(ms * 1000)} µs`;
}

/*
 * Blocks of a pcapng file (draft-ietf-opsawg-pcapng), little-endian, with a function for each kind of block.
 * A file consists of a section header, a description of each interface, and packets.
 */

/** The link types that captures use, with their numbers from the tcpdump.org registry. */
const LINK_TYPES = {
  /** IPv4 or IPv6, without another header. */
  raw: 101,
  /** Bytes on a serial line after a header of 12 bytes (`serial-record.ts`). */
  serial: 250,
} as const;

export type LinkType = keyof typeof LINK_TYPES;

const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
const MAJOR_VERSION = 1;

const OPTION_COMMENT = 1;
const OPTION_INTERFACE_NAME = 2;
const OPTION_INTERFACE_DESCRIPTION = 3;
const OPTION_APPLICATION = 4;

/** The bytes around the content of a block: type and length before it, and the length again after it. */
const AROUND_BLOCK = 12;
const TWO_TO_32 = 2 ** 32;
/** Maximum number of characters in an option's text. Longer text is cut. */
const MAX_TEXT = 16 * 1024;

/** @param application the program that writes the file */
export function sectionHeader(application: string): Uint8Array {
  const fixed = words(BYTE_ORDER_MAGIC, MAJOR_VERSION, 0xffffffff, 0xffffffff);
  return block(BLOCK.sectionHeader, fixed, [[OPTION_APPLICATION, application]]);
}

/**
 * Describes an interface. Interfaces are numbered from 0 in the order of their descriptions. The times of
 * their packets are in µs.
 */
export function interfaceDescription(linkType: LinkType, name: string, description: string): Uint8Array {
  return block(BLOCK.interfaceDescription, words(LINK_TYPES[linkType], 0), [
    [OPTION_INTERFACE_NAME, name],
    [OPTION_INTERFACE_DESCRIPTION, description],
  ]);
}

/** @param time in ms since 1970 */
export function enhancedPacket(
  interfaceId: number,
  time: number,
  bytes: Uint8Array,
  comment?: string,
): Uint8Array {
  const { length } = bytes;
  const fixed = new Uint8Array(20 + padded(length));
  fixed.set(words(interfaceId, ...timestamp(time), length, length));
  fixed.set(bytes, 20);
  return block(BLOCK.enhancedPacket, fixed, comment === undefined ? [] : [[OPTION_COMMENT, comment]]);
}

/** Says that nothing happened on an interface up to `time`, in ms since 1970. */
export function interfaceStatistics(interfaceId: number, time: number): Uint8Array {
  return block(BLOCK.interfaceStatistics, words(interfaceId, ...timestamp(time)), []);
}

type Option = readonly [code: number, text: string];

function block(type: number, fixed: Uint8Array, options: readonly Option[]): Uint8Array {
  const texts = options.map(([code, text]) => [code, UTF8.encode(text.slice(0, MAX_TEXT))] as const);
  let size = AROUND_BLOCK + fixed.length;
  for (const [, text] of texts) size += 4 + padded(text.length);
  if (texts.length > 0) size += 4;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, type, true);
  view.setUint32(4, size, true);
  bytes.set(fixed, 8);
  let at = 8 + fixed.length;
  for (const [code, text] of texts) {
    view.setUint16(at, code, true);
    view.setUint16(at + 2, text.length, true);
    bytes.set(text, at + 4);
    at += 4 + padded(text.length);
  }
  view.setUint32(size - 4, size, true);
  return bytes;
}

const UTF8 = new TextEncoder();

function words(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of values.entries()) view.setUint32(4 * i, value, true);
  return bytes;
}

/** A time in µs since 1970, upper half first. */
function timestamp(ms: number): [upper: number, lower: number] {
  const us = Math.round(ms * 1000);
  return [Math.floor(us / TWO_TO_32), us % TWO_TO_32];
}

/** The length with padding: every field in a block is padded to a multiple of four bytes. */
function padded(length: number): number {
  return (length + 3) & ~3;
}
