import { quote } from '../../common/schema/problem.js';
import { loadNative } from '../../document/load.js';
import { type NativeFile, nativeText } from '../../document/native-file.js';

/**
 * The text of a native file without the parts that no file can express: a rule or a manner that `check` would
 * reject becomes a comment, so that the registers that were read are not lost with it.
 */
export function writableText(file: NativeFile): string {
  const dropped: string[] = [];
  const [faults, devices] = [[...(file.faults ?? [])], new Map(file.devices)];
  for (;;) {
    const text = nativeText({ ...file, devices, faults, remarks: [...file.remarks, ...dropped] });
    const loaded = loadNative(text, '.');
    if (loaded.ok) return text;
    const found = loaded.problems.find(({ path }) => partOf(path, devices) !== undefined);
    const part = found && partOf(found.path, devices);
    // Leave the rest to `check`, which reports every mistake.
    if (!found || !part) return text;
    if (part.kind === 'rule') {
      const [rule] = faults.splice(part.index, 1);
      dropped.push(
        `Left out, because a file can't express it (${found.message}): the rule ${JSON.stringify(rule)}`,
      );
    } else {
      const { [part.key]: lost, ...entry } = devices.get(part.device) as Record<string, unknown>;
      devices.set(part.device, entry);
      dropped.push(
        `Left out, because a file can't express it (${found.message}): ${part.key} of ${quote(part.device)}: ${JSON.stringify(lost)}`,
      );
    }
  }
}

type WritablePart =
  | { readonly kind: 'rule'; readonly index: number }
  | { readonly kind: 'key'; readonly device: string; readonly key: string };

/** The rule, or the device key, that a path leads into; undefined for registers, lines and anything else. */
function partOf(path: string, devices: ReadonlyMap<string, object>): WritablePart | undefined {
  const rule = /^faults\[(\d+)\]/.exec(path);
  if (rule) return { kind: 'rule', index: Number(rule[1]) };
  for (const [device, entry] of devices) {
    const key = path.startsWith(`devices.${device}.`) && path.slice(device.length + 9).match(/^\w+/)?.[0];
    if (key && key !== 'registers' && key in entry) return { kind: 'key', device, key };
  }
  return undefined;
}
