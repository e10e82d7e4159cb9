import { quote } from './problem.js';

const LONGEST_COMPARED = 40;
const MOST_LISTED = 32;
/**
 * The maximum number of known names compared. A file with thousands of wrong names has thousands of mistakes,
 * and each is compared with all known names.
 */
const MOST_COMPARED = 1000;

/** Returns `unknown KIND "name"`, with the name that was probably meant and the known names. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const listed = known
    .slice(0, MOST_LISTED)
    .map((each) => (/^[\w* -]{1,60}$/.test(each) ? each : quote(each)));
  if (known.length > MOST_LISTED) listed.push('…');
  const hint = meant === undefined ? '' : `, did you mean ${quote(meant)}?`;
  return `unknown ${kind} ${quote(name)}${hint} (known: ${listed.join(', ') || 'none'})`;
}

/**
 * Names that other programs and manuals use for things in this program's files, without case and separators.
 * The first one that is known at a place is meant.
 */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    uint16: 'u16 word ushort unsigned unsigned16 uint',
    int16: 'i16 s16 short signed signed16 int integer',
    uint32: 'u32 dword ulong unsigned32',
    int32: 'i32 s32 long dint signed32',
    uint64: 'u64 qword ulonglong',
    int64: 'i64 s64 longlong lint',
    float32: 'f32 float real single',
    float64: 'f64 double lreal',
    string: 'str text ascii char chars',
    write: 'writable writeable rw readwrite readonly ro access',
    address: 'register registers reg addr offset start',
    quantity: 'count size number',
    value: 'default initial init val values',
    scale: 'factor multiplier gain scaling',
    type: 'datatype format',
    wordOrder: 'endian endianness swap wordswap',
    baudRate: 'baud baudrate speed bitrate rate',
    dataBits: 'bytesize bits databits',
    path: 'port device dev tty com',
    host: 'ip bind listen address interface',
    units: 'slave slaves slaveid unit unitid id ids device devices server',
    unit: 'slave slaveid unitid id',
    unsolicited: 'unasked',
    observer: 'witness',
    none: 'n no off',
    even: 'e',
    odd: 'o',
    server: 'slave',
    monitor: 'listen sniff passive',
    socket: 'tcp mbap',
    discrete: 'discreteinputs di',
    coils: 'coil do digitaloutputs',
    holding: 'holdingregisters hr',
    input: 'inputregisters ir',
    serial: 'rtu port uart',
    lines: 'ports buses connections servers',
    devices: 'device slaves servers',
    api: 'rest http web',
  }).reduce((names, [meant, others]) => {
    for (const other of others.split(' ')) names.set(other, [...(names.get(other) ?? []), meant]);
    return names;
  }, new Map<string, string[]>()),
);

/**
 * Returns the known name that `name` most likely stands for: a synonym, a name of which at most a third of
 * the letters differ, or a known name that begins with it.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_COMPARED) return undefined;
  const wanted = plain(name);
  const meant = synonymOf(name, known);
  if (meant !== undefined) return meant;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known.slice(0, MOST_COMPARED)) {
    if (candidate.length > LONGEST_COMPARED) continue;
    const distance = editDistance(wanted, plain(candidate), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ?? (name.length < 3 ? undefined : known.find((each) => plain(each).startsWith(wanted)));
}

/** Returns the known name for the synonym `name`; undefined if there is none. */
export function synonymOf(name: string, known: readonly string[]): string | undefined {
  return SYNONYMS.get(plain(name))?.find((each) => known.includes(each));
}

/** Removes case and separators, the most common mistakes: baud_rate is baudRate. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[_\s-]/g, '');
}

/**
 * Returns the Damerau distance (optimal string alignment): the number of letters to insert, delete or
 * replace, and of neighbours to swap. Keeps three rows of the table at a time. If the distance is `most` or
 * more, the result is at least `most`.
 */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) >= most) return most;
  let above: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? above[j - 2] : undefined;
      next.push(
        Math.min(
          replaced,
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          (swapped ?? Number.POSITIVE_INFINITY) + 1,
        ),
      );
    }
    // Later rows have no number below the smallest one in these two rows.
    if (Math.min(...row) >= most && Math.min(...next) >= most) return most;
    [above, row] = [row, next];
  }
  return row[b.length] as number;
}
