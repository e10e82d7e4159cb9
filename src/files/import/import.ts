import { unknownName } from '../../common/schema/nearest.js';
import type { Imported } from './collected.js';
import { importCsv } from './csv/csv.js';
import { importEsphome } from './esphome.js';
import { importHomeAssistant } from './home-assistant/home-assistant.js';
import { importModbusExporter } from './modbus-exporter.js';
import { importModbuspal } from './modbuspal.js';
import { importSolarman } from './solarman.js';
import { importSunspec, isSunspec } from './sunspec/sunspec.js';
import { importTelegraf } from './telegraf.js';

/** A kind of file that can be imported, with its name in `--from`. */
interface FileKind {
  readonly name: string;
  /** True when a text looks like a file of this kind. */
  fits(text: string, file: string): boolean;
  /**
   * Reads the file.
   * @param device the name for a device that has none in the file
   * @returns what is wrong with the text, as a sentence
   */
  read(text: string, device: string): Imported | string;
}

const KINDS: readonly FileKind[] = [
  {
    name: 'telegraf',
    fits: (text) => /^\s*\[\[\s*inputs\.modbus(?:\.\w+)?\s*\]\]/m.test(text),
    read: importTelegraf,
  },
  {
    name: 'esphome',
    fits: (text) => /^modbus_controller:/m.test(text),
    read: importEsphome,
  },
  {
    name: 'modbus-exporter',
    fits: (text) => /^modules:/m.test(text) && /^\s*(?:- )?metricType:/m.test(text),
    read: importModbusExporter,
  },
  {
    name: 'solarman',
    fits: (text) => /^parameters:/m.test(text) && /^\s*(?:- )?registers:/m.test(text),
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
      /^\s*modbus:/m.test(text) || (/\.ya?ml$/i.test(file) && /^\s*(?:- )?\s*sensors:/m.test(text)),
    read: importHomeAssistant,
  },
  {
    name: 'csv',
    fits: (_, file) => /\.(?:csv|tsv|txt)$/i.test(file),
    read: importCsv,
  },
];

/**
 * Reads a file of another program.
 * @param from the kind of file; without it, the content decides
 * @returns what is wrong, as a sentence
 */
export function importText(text: string, file: string, from: string | undefined): Imported | string {
  const kind = KINDS.find(({ name, fits }) => (from === undefined ? fits(text, file) : name === from));
  const name = (file.split('/').at(-1) ?? '').replace(/\.[^.]*$/, '') || 'device';
  if (kind === undefined) {
    const kinds = KINDS.map((each) => each.name);
    if (from !== undefined) return unknownName('kind of file', from, kinds);
    return `its content does not say what it is; --from may be ${kinds.join(', ')}`;
  }
  const imported = kind.read(text, name);
  if (typeof imported === 'string') return imported;
  return imported.lines.length > 0 ? imported : `no registers found; ${noteList(imported)}`;
}

function noteList({ what, notes }: Imported): string {
  const [first] = notes;
  return first === undefined ? `read as ${what}` : `read as ${what}; ${first.location}: ${first.message}`;
}
