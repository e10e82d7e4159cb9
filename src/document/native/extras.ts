import type { z } from 'zod';
import { compact } from '../../common/compact.js';
import type { At } from '../../common/schema/at.js';
import { identityText, isMapping } from '../../common/schema/parts.js';
import { expectedMessage } from '../../common/schema/problem.js';
import type { FileDefinition } from '../../device/files.js';
import type { FeedDefinition } from '../../device/queue-feed.js';
import { findMisbehaviour, type Misbehaviour } from '../catalogue.js';
import type { DeviceExtras, Identity } from '../configuration.js';
import type { OpenRecording } from '../recording-file.js';
import {
  binaryObject,
  type deviceSections,
  FILES,
  fedQueueSchema,
  fileSchema,
  type identitySchema,
  OBJECTS,
  QUEUES,
  queueSchema,
} from './device-schema.js';
import { readSignal } from './points.js';

/** The keys of a device that go into its definition as written. */
type WrittenExtras = Pick<
  Partial<z.output<typeof deviceSections>>,
  'exceptionStatus' | 'serverId' | 'manners'
>;

/**
 * Reads everything in a device except its registers: files, FIFO queues, server identifier, exception status.
 * @param written the valid parts of the device's entry
 */
export function readExtras(device: At, written: WrittenExtras): DeviceExtras {
  const { exceptionStatus, serverId, manners = likeOf(device)?.manners } = written;
  const files = device.key('files');
  const queues = device.key('queues');
  return compact({
    ...{ exceptionStatus, serverId, manners },
    files: files.value === undefined ? undefined : readNumbered(files, FILES, readFile),
    queues: queues.value === undefined ? undefined : readNumbered(queues, QUEUES, readQueue),
  });
}

/** Returns the catalogue entry named in `like` of a device. Reports a name that is not in the catalogue. */
function likeOf(device: At): Misbehaviour | undefined {
  const at = device.key('like');
  if (at.value === undefined) return undefined;
  const entry = typeof at.value === 'string' ? findMisbehaviour(at.value) : undefined;
  if (entry === undefined) return at.expected('an entry of the catalogue');
  if (!entry.ok) return at.wrong(entry.error);
  const { value } = entry;
  return value.line ? at.wrong(`${value.id} is for lines: put like on the line`) : value;
}

/** Reads the words of a queue; undefined for a queue fed by a signal. */
function readQueue(at: At): readonly number[] | undefined {
  return isMapping(at.value) ? undefined : at.check(queueSchema);
}

/** Reads the FIFO queues of a device that are fed by signals. */
export function readFeeds(device: At, recordings: OpenRecording): FeedDefinition[] {
  const queues = device.key('queues').value;
  const fed = Object.entries(isMapping(queues) ? queues : {}).filter(([, content]) => isMapping(content));
  return fed.flatMap(([address]) => {
    const at = device.key('queues').key(address);
    const feed = at.check(fedQueueSchema);
    const signal = feed && readSignal(at.key('signal'), 'uint16', recordings);
    if (!signal) return [];
    if (signal.definition.kind === 'mqtt')
      at.key('signal').key('mqtt').wrong("a queue can't take values from a broker");
    const { every, seed } = feed;
    return [{ address: Number(address), every, signal: seed === undefined ? signal : { ...signal, seed } }];
  });
}

/** @param written the valid parts of it */
export function readIdentity(at: At, written: z.output<typeof identitySchema> | undefined): Identity {
  const { extended: _, ...names } = written ?? {};
  if (at.key('extended').value === undefined) return compact(names);
  return { ...compact(names), extended: readNumbered(at.key('extended'), OBJECTS, readObject) };
}

/**
 * Reads an object of the identification: a text, or `{bytes: "01 02 ff"}`, because private objects may be
 * binary (Application Protocol V1.1b3, 6.21). @returns one character per byte
 */
function readObject(at: At): string | undefined {
  if (!isMapping(at.value)) return at.check(identityText);
  const object = at.check(binaryObject);
  return object && Buffer.from(object.bytes).toString('latin1');
}

function readFile(at: At): FileDefinition | undefined {
  const file = at.check(fileSchema);
  if (!file) return undefined;
  const { records, write, values } = file;
  if (values.length > records)
    at.key('values').wrong(`expected at most ${records} words (records), got ${values.length}`);
  return { records, writable: write, values };
}

/** Reads a mapping whose keys are numbers in a range. */
function readNumbered<Content>(
  at: At,
  { what, first, last, pattern }: typeof FILES,
  read: (content: At) => Content | undefined,
): ReadonlyMap<number, Content> {
  const numbered = new Map<number, Content>();
  for (const [key, content] of at.entries(what) ?? []) {
    const parsed = pattern.test(key)
      ? read(content)
      : content.wrong(expectedMessage(`a number from ${first} to ${last}`, key));
    if (parsed !== undefined) numbered.set(Number(key), parsed);
  }
  return numbered;
}
