import { setTimeout as sleep } from 'node:timers/promises';
import { Progress } from '../../cli/verbs/progress.js';
import { complain, NOT_DONE, note, OK, STOPPED } from '../../cli/verbs/say.js';
import { STOP_SIGNALS } from '../../cli/verbs/stop-signal.js';
import { fileProblem, writeNativeFile } from '../../cli/verbs/write-files.js';
import { failure, type Result } from '../../common/result.js';
import { keyOf } from '../../document/native/real.js';
import { newClient } from '../../modbus/client/client.js';
import { writeClone } from '../../testing/survey/write.js';
import type { Imported } from '../import/collected.js';
import { importText } from '../import/import.js';
import { readDecoded } from '../import/verb.js';
import { cloneDevices } from './clone.js';
import type { CloneCommand } from './command.js';

/** Reads real devices, and writes a native file that answers as they do. */
export async function clone(command: CloneCommand): Promise<number> {
  const { target, output, force = false } = command;
  const unwritable = output === undefined ? undefined : fileProblem(output, force);
  if (unwritable !== undefined) return complain(unwritable);
  const map = command.map === undefined ? undefined : readMap(command.map);
  if (map && !map.ok) return complain(map.error, NOT_DONE);
  const client = newClient(target);
  let isStopped = false;
  // A second signal of the same kind ends the program at once.
  for (const signal of STOP_SIGNALS) {
    process.once(signal, () => {
      isStopped = true;
      void client.close();
    });
  }
  const progress = new Progress({ terminal: 100, file: 5000 });
  const { clone, absent } = await cloneDevices(client, command, map?.value, {
    sleep: (ms) => sleep(ms).then(() => {}),
    isStopped: () => isStopped,
    progress: (text) => progress.show(text),
  });
  progress.clear();
  await client.close();
  for (const line of absent) note(line);
  const stopped = `${keyOf(target)}: stopped early`;
  if (clone.devices.length === 0)
    return isStopped
      ? complain(`${stopped}; nothing was written`, STOPPED)
      : complain(`${keyOf(target)}: no device was found; nothing was written`);
  for (const { unit, survey, unfinished } of clone.devices) {
    const found = survey.tables.filter(({ values }) => values.size > 0);
    const tables = found.map(({ table, values }) => `${values.size} ${table}`).join(', ') || 'no registers';
    note(`unit ${unit}: ${tables}${unfinished === undefined ? '' : `; read only in part: ${unfinished}`}`);
  }
  const code = writeNativeFile(writeClone(clone), command);
  return isStopped && code === OK
    ? complain(`${stopped}; the file contains what was read so far`, STOPPED)
    : code;
}

function readMap(file: string): Result<Imported> {
  const read = readDecoded(file);
  if (!read.ok) return read;
  const imported = importText(read.value.text, file, undefined);
  if (!imported.ok) return failure(`${file}: ${imported.error}`);
  const isByAddress = imported.value.lines.some(({ devices }) =>
    devices.some(({ values }) => values.length > 0),
  );
  return isByAddress ? imported : failure(`${file}: ${imported.value.what} does not list values by address`);
}
