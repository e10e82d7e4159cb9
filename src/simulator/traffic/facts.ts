import { hex } from '../../modbus/protocol/bytes.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { type AddressRange, addressRanges } from '../../modbus/protocol/pdu.js';
import { sentBytes, sentFrames } from '../../modbus/protocol/reply-plan.js';
import { type Facts, GOOD, type MoreFacts, type Written } from '../filter/filter.js';
import { type Decoded, decodeEvent, type ReadEvent, requestPduOf } from './decode.js';
import { writtenBy } from './decode-request.js';
import { DIRECTION_OF, type FrameEvent, type ReplyEvent, type TrafficEvent } from './event.js';
import type { Outline } from './kept-events.js';
import { micros } from './words.js';

/** The location of a named value in a device, in the addresses that clients use. */
export interface NamedPlace extends AddressRange {
  readonly device: string;
  readonly table: string;
  /** The number for the value in the words from an address on; undefined if these contain only a part of it. */
  readonly numberIn: (words: readonly number[], address: number) => number | undefined;
}

/** The properties of devices that filters need and the traffic does not contain. */
export interface DevicesInFilters {
  readonly deviceOf: (line: string, unitId: number, host: string | undefined) => string | undefined;
  /** The places of each name in the filter. */
  readonly places: ReadonlyMap<string, readonly NamedPlace[]>;
}

/** The facts about an event that are known before it is read. */
export function factsOfOutline({ line, kind, time, unitId, functionCode }: Outline): Facts {
  const code = functionCode === undefined ? undefined : functionCode & ~EXCEPTION_FLAG;
  return {
    line,
    kind,
    direction: DIRECTION_OF[kind],
    timeUs: micros(time),
    unit: unitId,
    functionCode: code,
  };
}

/** Consecutive registers or coils. */
interface CellBlock {
  readonly address: number;
  readonly words: readonly number[];
}

/** The facts about an event that has been read. @param devices absent if no filter can test devices */
export class EventFacts implements MoreFacts {
  readonly #event: TrafficEvent;
  readonly #read: ReadEvent;
  readonly #devices: DevicesInFilters | undefined;
  #known: Decoded | undefined;
  #blocksKnown: readonly CellBlock[] | undefined;

  constructor(event: TrafficEvent, read: ReadEvent, devices?: DevicesInFilters) {
    [this.#event, this.#read, this.#devices] = [event, read, devices];
  }

  get client(): string | undefined {
    return 'client' in this.#event ? this.#event.client : undefined;
  }

  get host(): string | undefined {
    return 'host' in this.#event ? this.#event.host : undefined;
  }

  get rules(): readonly string[] {
    return this.#event.kind === 'reply' ? this.#event.acted.map(({ rule }) => rule) : [];
  }

  ranges(): readonly AddressRange[] {
    const pdu = requestPduOf(this.#event, this.#read);
    return pdu ? addressRanges(pdu) : [];
  }

  device(): string | undefined {
    const event = this.#event;
    return 'unitId' in event ? this.#devices?.deviceOf(event.line, event.unitId, event.host) : undefined;
  }

  exception(): number | undefined {
    const event = this.#event;
    if (event.kind !== 'reply' && event.kind !== 'foreign response' && event.kind !== 'duplicate')
      return undefined;
    const pdu = responsePduOf(event);
    if (pdu === undefined) return undefined;
    return (pdu[0] as number) & EXCEPTION_FLAG ? pdu[1] : GOOD;
  }

  problem(): 'ordered' | 'unordered' | undefined {
    return this.#event.kind === 'reply' ? this.#problemOf(this.#event) : undefined;
  }

  #problemOf({ acted, plan, report }: ReplyEvent): 'ordered' | 'unordered' | undefined {
    if (acted.length > 0) return 'ordered';
    const isWhole = plan.kind === 'send' && report.ended === 'complete';
    return isWhole && (this.exception() ?? GOOD) === GOOD ? undefined : 'unordered';
  }

  lateUs(): number | undefined {
    const event = this.#event;
    if (event.kind === 'foreign response') return event.answers && micros(event.answers.after);
    if (event.kind !== 'reply' || sentBytes(event.plan, event.report).length === 0) return undefined;
    return micros(event.at - event.requestedAt);
  }

  isAbout(name: string): boolean {
    const ranges = this.ranges();
    return this.#placesOf(name).some(({ address, quantity }) =>
      ranges.some((asked) => address < asked.address + asked.quantity && asked.address < address + quantity),
    );
  }

  numbers(name: string): readonly number[] {
    const places = this.#placesOf(name);
    if (places.length === 0) return [];
    this.#blocksKnown ??= this.#blocks();
    const blocks = this.#blocksKnown;
    return places.flatMap(({ numberIn }) =>
      blocks.flatMap(({ address, words }) => numberIn(words, address) ?? []),
    );
  }

  written(): Written | undefined {
    const pdu = requestPduOf(this.#event, this.#read);
    return pdu && writtenBy(pdu);
  }

  bytes(): string {
    const event = this.#event;
    const bytes =
      event.kind === 'reply' ? sentBytes(event.plan, event.report) : 'bytes' in event ? [event.bytes] : [];
    return bytes.map((each) => hex(each).replaceAll(' ', '')).join('');
  }

  text(): string {
    return this.#decoded.text;
  }

  get #decoded(): Decoded {
    this.#known ??= decodeEvent(this.#event, this.#read);
    return this.#known;
  }

  /** The places of a name in the event's table and device. */
  #placesOf(name: string): readonly NamedPlace[] {
    const event = this.#event;
    const table =
      'functionCode' in event ? functionOf(event.functionCode & ~EXCEPTION_FLAG)?.table : undefined;
    const found = this.#devices?.places.get(name) ?? [];
    const device = found.length === 0 ? undefined : this.device();
    return found.filter((place) => place.table === table && place.device === device);
  }

  /** The registers or coils in the event: what a request writes, or what a response returns or confirms. */
  #blocks(): readonly CellBlock[] {
    const event = this.#event;
    const { message, written } = this.#decoded;
    const isResponse = event.kind === 'reply' || event.kind === 'foreign response';
    const pdu = isResponse ? undefined : requestPduOf(event, this.#read);
    const asked = pdu ? writtenBy(pdu) : written;
    const { address, values } = message ?? {};
    return [
      ...(asked?.values ? [{ address: asked.address, words: asked.values }] : []),
      ...(isResponse && values && address !== undefined ? [{ address, words: values }] : []),
    ];
  }
}

/** The PDU of a response. For a reply, of the first frame sent, if it is valid. */
function responsePduOf(event: ReplyEvent | FrameEvent): Uint8Array | undefined {
  if (event.kind !== 'reply') return event.framing.fields(event.bytes)?.pdu;
  const [frame] = sentFrames(event.plan, event.report);
  return frame && event.framing.decode(frame)?.pdu;
}
