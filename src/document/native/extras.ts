import { z } from 'zod';
import { compact } from '../../common/compact.js';
import type { At } from '../../common/schema/at.js';
import { hexadecimal, identityText, isMapping, section } from '../../common/schema/parts.js';
import { expectedMessage } from '../../common/schema/problem.js';
import type { FileDefinition } from '../../device/files.js';
import type { ServerId } from '../../device/functions.js';
import { FIRST_EXTENDED_OBJECT } from '../../device/identification.js';
import type { FeedDefinition } from '../../device/queue-feed.js';
import { findMisbehaviour, type Misbehaviour } from '../catalogue.js';
import type { DeviceExtras, Identity } from '../configuration.js';
import type { OpenRecording } from '../recording-file.js';
import {
  exceptionStatusSchema,
  fedQueueSchema,
  fileSchema,
  identitySchema,
  queueSchema,
  serverIdSchema,
} from './device-schema.js';
import { mannersSchema } from './manners-schema.js';
import { readSignal } from './points.js';

const QUEUES = { what: 'FIFO queues by address', first: 0, last: 0xffff };

/**
 * Reads everything of a device but its registers: files, FIFO queues, server identifier, exception status.
 */
export function readExtras(device: At): DeviceExtras {
  const part = <Result>(key: string, read: (at: At) => Result | undefined) => {
    const at = device.key(key);
    return at.value === undefined ? undefined : read(at);
  };
  return compact({
    exceptionStatus: part('exceptionStatus', (at) => at.check(exceptionStatusSchema)),
    serverId: part('serverId', readServerId),
    files: part('files', readFiles),
    manners: part('manners', (at) => at.check(mannersSchema)) ?? likeOf(device)?.manners,
    queues: part('queues', (at) => readNumbered(at, QUEUES, readQueue)),
  });
}

/**
 * The entry of the catalogue that `like` of a device names. Reports a name that the catalogue does not have.
 */
function likeOf(device: At): Misbehaviour | undefined {
  const at = device.key('like');
  if (at.value === undefined) return undefined;
  const entry = typeof at.value === 'string' ? findMisbehaviour(at.value) : undefined;
  if (entry === undefined) return at.expected('an entry of the catalogue');
  if (!entry.ok) return at.wrong(entry.error);
  const { value } = entry;
  return value.line ? at.wrong(`${value.id} is about a line: write it as like of the line`) : value;
}

/** Reads the words of a queue; undefined for a queue that a signal feeds. */
function readQueue(at: At): readonly number[] | undefined {
  return isMapping(at.value) ? undefined : at.check(queueSchema);
}

/** Reads the FIFO queues of a device that signals feed. */
export function readFeeds(device: At, recordings: OpenRecording): FeedDefinition[] {
  const queues = device.key('queues').value;
  const fed = Object.entries(isMapping(queues) ? queues : {}).filter(([, content]) => isMapping(content));
  return fed.flatMap(([address]) => {
    const at = device.key('queues').key(address);
    const feed = at.check(fedQueueSchema);
    const signal = feed && readSignal(at.key('signal'), 'uint16', recordings);
    if (!signal) return [];
    if (signal.definition.kind === 'mqtt')
      at.key('signal').key('mqtt').wrong('a queue takes no values from a broker');
    const { every, seed } = feed;
    return [{ address: Number(address), every, signal: seed === undefined ? signal : { ...signal, seed } }];
  });
}

const binaryObject = section(
  { bytes: hexadecimal(244, 'an object', '01 02 ff') },
  { bytes: 'The object as hexadecimal text.' },
);

/** The documented form of an object of the identification. */
export const objectSchema = z.union([identityText, binaryObject]);

export function readIdentity(at: At): Identity {
  if (at.value === undefined) return {};
  const { extended, ...names } = at.check(identitySchema) ?? {};
  if (extended === undefined) return compact(names);
  const range = { what: 'objects by identifier', first: FIRST_EXTENDED_OBJECT, last: 0xff };
  const objects = readNumbered(at.key('extended'), range, readObject);
  return { ...compact(names), extended: objects };
}

/**
 * Reads an object of the identification: a text, or `{bytes: "01 02 ff"}`, because private objects may be
 * binary (Application Protocol V1.1b3, 6.21). @returns a character for each byte
 */
function readObject(at: At): string | undefined {
  if (!isMapping(at.value)) return at.check(identityText);
  const object = at.check(binaryObject);
  return object && Buffer.from(object.bytes).toString('latin1');
}

function readServerId(at: At): ServerId | undefined {
  const parsed = at.check(serverIdSchema);
  return parsed && { ...parsed, id: [parsed.id].flat() };
}

function readFiles(at: At): ReadonlyMap<number, FileDefinition> {
  return readNumbered(at, { what: 'files by number', first: 1, last: 0xffff }, (each) => {
    const file = each.check(fileSchema);
    if (!file) return undefined;
    if (file.values.length > file.records) {
      each.key('values').wrong(`expected at most ${file.records} words (records), got ${file.values.length}`);
    }
    return { records: file.records, writable: file.write, values: file.values };
  });
}

/** Reads a mapping whose keys are numbers of a range. */
function readNumbered<Content>(
  at: At,
  { what, first, last }: { what: string; first: number; last: number },
  read: (content: At) => Content | undefined,
): ReadonlyMap<number, Content> {
  const numbered = new Map<number, Content>();
  for (const [key, content] of at.entries(what) ?? []) {
    const number = Number(key);
    if (!/^(0|[1-9]\d{0,4})$/.test(key) || number < first || number > last) {
      content.wrong(expectedMessage(`a number from ${first} to ${last}`, key));
      continue;
    }
    const parsed = read(content);
    if (parsed !== undefined) numbered.set(number, parsed);
  }
  return numbered;
}
