import type { FileDefinition } from '../../device/files.js';
import { FIRST_EXTENDED_OBJECT } from '../../device/identification.js';
import type { ServerId } from '../../device/server.js';
import { check, identityText, namedEntries, sectionOf } from '../../schema/parts.js';
import { expectedMessage, type Issue, type Path } from '../../schema/problem.js';
import { compact } from '../compact.js';
import type { DeviceExtras, Identity } from '../configuration.js';
import { exceptionStatusSchema, fileSchema, identitySchema, queueSchema, serverIdSchema } from './schema.js';

/** Everything of a device but its registers: files, FIFO queues, server identifier, exception status. */
export function readExtras(device: unknown, path: Path, issues: Issue[]): DeviceExtras {
  const part = <Result>(key: string, read: (value: unknown, path: Path) => Result | undefined) => {
    const value = sectionOf(device, key);
    return value === undefined ? undefined : read(value, [...path, key]);
  };
  return compact({
    exceptionStatus: part('exceptionStatus', (value, at) => check(exceptionStatusSchema, value, at, issues)),
    serverId: part('serverId', (value, at) => readServerId(value, at, issues)),
    files: part('files', (value, at) => readFiles(value, at, issues)),
    queues: part('queues', (value, at) =>
      readNumbered(
        value,
        { what: 'FIFO queues by address', first: 0, last: 0xffff },
        at,
        issues,
        (content, place) => check(queueSchema, content, place, issues),
      ),
    ),
  });
}

export function readIdentity(value: unknown, path: Path, issues: Issue[]): Identity {
  if (value === undefined) return {};
  const { extended, ...names } = check(identitySchema, value, path, issues) ?? {};
  if (extended === undefined) return compact(names);
  const range = { what: 'objects by identifier', first: FIRST_EXTENDED_OBJECT, last: 0xff };
  const objects = readNumbered(extended, range, [...path, 'extended'], issues, (content, place) =>
    check(identityText, content, place, issues),
  );
  return { ...compact(names), extended: objects };
}

function readServerId(value: unknown, path: Path, issues: Issue[]): ServerId | undefined {
  const parsed = check(serverIdSchema, value, path, issues);
  return parsed && { ...parsed, id: [parsed.id].flat() };
}

function readFiles(value: unknown, path: Path, issues: Issue[]): ReadonlyMap<number, FileDefinition> {
  const range = { what: 'files by number', first: 1, last: 0xffff };
  return readNumbered(value, range, path, issues, (content, place) => {
    const file = check(fileSchema, content, place, issues);
    if (!file) return undefined;
    if (file.values.length > file.records) {
      const message = `expected at most ${file.records} words (records), got ${file.values.length}`;
      issues.push({ path: [...place, 'values'], message });
    }
    return { records: file.records, writable: file.write, values: file.values };
  });
}

/** A mapping whose keys are numbers of a range. */
function readNumbered<Content>(
  value: unknown,
  { what, first, last }: { what: string; first: number; last: number },
  path: Path,
  issues: Issue[],
  read: (content: unknown, path: Path) => Content | undefined,
): ReadonlyMap<number, Content> {
  const numbered = new Map<number, Content>();
  for (const [key, content] of namedEntries(value, what, path, issues) ?? []) {
    const number = Number(key);
    if (!/^(0|[1-9]\d{0,4})$/.test(key) || number < first || number > last) {
      issues.push({
        path: [...path, key],
        message: expectedMessage(`a number from ${first} to ${last}`, key),
      });
      continue;
    }
    const parsed = read(content, [...path, key]);
    if (parsed !== undefined) numbered.set(number, parsed);
  }
  return numbered;
}
