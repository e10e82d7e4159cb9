import { failure, type Result, success } from '../../common/result.js';
import { unknownName } from '../../common/schema/nearest.js';
import { type ImportExtras, type Imported, readYaml, sectionOf, sectionsOf } from './collected.js';
import { importCsv } from './csv/csv.js';
import { SAID_ROLES } from './csv/roles.js';
import { isMarkdown } from './csv/rows.js';
import { importEsphome } from './esphome.js';
import { importEvcc } from './evcc.js';
import { importHomeAssistant } from './home-assistant.js';
import { importModbusExporter } from './modbus-exporter.js';
import { importModbuspal } from './modbuspal.js';
import { importNodeRed } from './node-red.js';
import { importOpenhab } from './openhab.js';
import { importSolarman } from './solarman.js';
import { importSunspec, isSunspec } from './sunspec/sunspec.js';
import { importTelegraf } from './telegraf.js';
import { importWirenBoard } from './wiren-board.js';

/** A kind of file that can be imported, and its name in `--from`. */
interface FileKind {
  readonly name: string;
  /** True if a text looks like a file of this kind. */
  fits(text: string, file: string): boolean;
  /** Reads the file. @param device the name for a device that has no name in the file */
  read(text: string, device: string, extras?: ImportExtras): Result<Imported>;
}

const MODBUS_CONTROLLER = /^modbus_controller:|\bplatform:\s*["']?modbus_controller\b/m;

const KINDS: readonly FileKind[] = [
  {
    name: 'telegraf',
    fits: (text) => /^[ \t]*\[\[\s*inputs\.modbus(?:\.\w+)?\s*\]\]/m.test(text),
    read: importTelegraf,
  },
  {
    name: 'esphome',
    fits: (text) => MODBUS_CONTROLLER.test(text),
    read: importEsphome,
  },
  {
    name: 'evcc',
    fits: (text) => /^template:/m.test(text) && /^render:/m.test(text),
    read: importEvcc,
  },
  {
    name: 'wiren-board',
    fits: (text) => /"device_type"\s*:/.test(text) && /"(?:channels|parameters|reg_type)"|\{%/.test(text),
    read: importWirenBoard,
  },
  {
    name: 'node-red',
    fits: (text) => /"type"\s*:\s*"modbus(?:tcp)?-/.test(text),
    read: importNodeRed,
  },
  {
    name: 'openhab',
    fits: (text) => /^[ \t]*Bridge[ \t]+modbus:(?:tcp|serial):/m.test(text),
    read: importOpenhab,
  },
  {
    name: 'modbus-exporter',
    fits: (text) => /^modules:/m.test(text) && /^[ \t]*(?:- )?metricType:/m.test(text),
    read: importModbusExporter,
  },
  {
    name: 'solarman',
    fits: (text) => /^parameters:/m.test(text) && /^[ \t]*(?:- )?registers:/m.test(text),
    read: importSolarman,
  },
  {
    name: 'modbuspal',
    fits: (text, file) => /\.xmpp$/i.test(file) || /<modbuspal_project>/.test(text),
    read: importModbuspal,
  },
  {
    name: 'sunspec',
    fits: isSunspec,
    read: importSunspec,
  },
  {
    name: 'home-assistant',
    fits: (text, file) =>
      /^[ \t]*modbus:/m.test(text) || (/\.ya?ml$/i.test(file) && /^[ \t]*(?:- [ \t]*)?sensors:/m.test(text)),
    read: importHomeAssistant,
  },
  {
    name: 'csv',
    fits: (text, file) => /\.(?:csv|tsv|txt)$/i.test(file) || isMarkdown(text),
    read: importCsv,
  },
];

/** Unsupported files: how to recognise them, and what the user can do instead. */
const NOT_READ: readonly (readonly [has: readonly RegExp[], what: string])[] = [
  [[/^devices:/m, /^lines:/m], 'is already a modbus-sim file; serve it with --config'],
  [[/"server_list"\s*:/, /"device_list"\s*:/], 'is a pymodbus.simulator file; serve it with --json_file'],
  [[/\bmodbus:(?:tcp|serial|poller|data):/], 'is an openHAB configuration without its bridge'],
  [[/"modbus_?points"|"dataPoints"\s*:|"mbpoll"/], 'is the data point list of another program'],
  [[/^[ \t]*(?:from \w[\w.]* )?import \w+|^package \w+$/m], 'is program source code'],
];

/** Binary files by their first bytes: the command that reads them, or the format to save them in. */
const NO_TEXT: readonly (readonly [head: string, what: string])[] = [
  ['504b0304', 'is a workbook (.xlsx) or another archive; save the sheet with the registers as CSV'],
  ['d0cf11e0', 'is a workbook (.xls) or another Office file; save the sheet with the registers as CSV'],
  ['25504446', 'is a PDF; copy its table into a sheet, and save that as CSV'],
  ['0a0d0d0a', 'is a capture; read it with modbus-sim learn'],
  ['d4c3b2a1', 'is a capture; read it with modbus-sim learn'],
  ['a1b2c3d4', 'is a capture; read it with modbus-sim learn'],
];

/**
 * Decodes the text of a file: UTF-8, UTF-16 (what Excel saves as "Unicode text") or Windows-1252.
 */
export function decodedText(bytes: Uint8Array): Result<{ readonly text: string; readonly encoding: string }> {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  const known = NO_TEXT.find(([each]) => head.startsWith(each));
  if (known) return failure(known[1]);
  const zeros = bytes.subarray(0, 200).filter((byte) => byte === 0).length;
  const isUtf16 = /^(?:fffe|feff)/.test(head) || zeros > Math.min(bytes.length, 200) / 4;
  if (!isUtf16 && zeros > 0) return failure('is not a text file');
  const isBig = head.startsWith('feff') || (!head.startsWith('fffe') && bytes[0] === 0);
  const encodings = isUtf16 ? [isBig ? 'utf-16be' : 'utf-16le'] : ['utf-8', 'windows-1252'];
  for (const encoding of encodings) {
    try {
      return success({ text: new TextDecoder(encoding, { fatal: true }).decode(bytes), encoding });
    } catch {
      // Not valid in this encoding: try the next one.
    }
  }
  return failure('is not a text file');
}

/** The files in a Kubernetes ConfigMap, by name; undefined for anything else. */
function filesInConfigMap(text: string): readonly (readonly [name: string, text: string])[] | undefined {
  if (!/^kind:\s*["']?ConfigMap\b/m.test(text)) return undefined;
  const read = readYaml(text);
  const root = read.ok ? sectionsOf(read.value.value).find(({ kind }) => kind === 'ConfigMap') : undefined;
  const files = Object.entries(sectionOf(root?.data) ?? {});
  return files.flatMap(([name, content]) => (typeof content === 'string' ? [[name, content] as const] : []));
}

/**
 * Reads a file of another program, or the first such file in a ConfigMap.
 * @param from the kind of file; if absent, the content decides
 */
export function importText(
  text: string,
  file: string,
  from: string | undefined,
  extras: ImportExtras = {},
): Result<Imported> {
  const wrapped = filesInConfigMap(text);
  if (wrapped) {
    const all = wrapped.map(([name, content]) => ({ name, read: importText(content, name, from, extras) }));
    const found = all.find(({ read }) => read.ok) ?? all[0];
    if (!found) return failure('is a ConfigMap without a file in its data');
    return found.read.ok ? found.read : failure(`${found.name}: ${found.read.error}`);
  }
  // The file may only name values that an ESPHome package defines.
  const isEsphome =
    extras.packages?.some(([, each]) => MODBUS_CONTROLLER.test(each)) && /^esphome:/m.test(text);
  const kind = KINDS.find(({ name, fits }) =>
    from === undefined ? (isEsphome ? name === 'esphome' : fits(text, file)) : name === from,
  );
  const name = (file.split(/[/\\]/).at(-1) ?? '').replace(/\.[^.]*$/, '') || 'device';
  const kinds = KINDS.map((each) => each.name);
  if (kind === undefined) {
    if (from !== undefined) return failure(unknownName('kind of file', from, kinds));
    const [, what = "the kind of file can't be recognised from its content"] =
      NOT_READ.find(([has]) => has.every((each) => each.test(text))) ?? [];
    return failure(`${what}; --from may be ${kinds.join(', ')}`);
  }
  const isOfEsphome = (extras.packages?.length ?? 0) > 0 || (extras.substitutions?.size ?? 0) > 0;
  if (isOfEsphome && kind.name !== 'esphome')
    return failure(`is read as ${kind.name}; only ESPHome takes further files and --set`);
  const isOfTables =
    (extras.columns?.size ?? 0) > 0 || extras.base !== undefined || extras.table !== undefined;
  if (isOfTables && kind.name !== 'csv')
    return failure(`is read as ${kind.name}; only tables take --column, --base and --table`);
  const unknown = [...(extras.columns?.values() ?? [])].find(
    (role) => !SAID_ROLES.some((each) => each === role),
  );
  if (unknown !== undefined) return failure(unknownName('column', unknown, SAID_ROLES));
  const imported = kind.read(text, name, extras);
  if (!imported.ok || imported.value.lines.length > 0) return imported;
  return failure(`no registers found; ${noteList(imported.value)}`);
}

function noteList({ what, notes }: Imported): string {
  const [first] = notes;
  return first === undefined ? `read as ${what}` : `read as ${what}; ${first.location}: ${first.message}`;
}
