import { allOf, command, pairsOf, type Values } from '../../cli/command-line/commands/scan.js';
import { numberFrom, OUTPUT_OPTIONS, text, wordOf } from '../../cli/command-line/commands/values.js';
import { failure, type Result, success } from '../../common/result.js';

const OPTIONS = {
  ...OUTPUT_OPTIONS,
  from: text(
    'KIND',
    'csv, telegraf, home-assistant, esphome, evcc, wiren-board, node-red, openhab, modbus-exporter, solarman, modbuspal or sunspec, if the content does not show it',
  ),
  set: text('NAME=VALUE', 'an ESPHome substitution; can be repeated'),
  defaults: wordOf('whether default values of a table are as stored (default) or in the unit of the value', [
    'stored',
    'units',
  ]),
  column: text(
    'WHAT=HEADER',
    'what a table column contains, such as type=Datenformat; none=Note ignores a column; can be repeated',
  ),
  base: wordOf('how a table counts addresses: as on the wire, from 1, or as register numbers such as 40001', [
    'wire',
    '1',
    'entity',
  ]),
  table: wordOf('the register table for rows that do not name one', [
    'coils',
    'discrete',
    'input',
    'holding',
  ]),
  serial: text('PATH', 'the serial port of the line in the written file (default: TCP)'),
  port: numberFrom(
    'N',
    'the TCP port of the first line in the written file (default 5020)',
    'a port',
    [1, 65_535],
  ),
  unit: numberFrom('N', 'the unit identifier of the device', 'a unit', [1, 255]),
};

/** Convert a file of another program to a native file, using the options. */
export interface ImportCommand extends Values<typeof OPTIONS> {
  readonly file: string;
  /** Paths of ESPHome packages. */
  readonly packages: readonly string[];
  /** ESPHome substitutions, by name. */
  readonly substitutions: ReadonlyMap<string, string>;
  /** Roles of table columns, by header. */
  readonly columns: ReadonlyMap<string, string>;
}

export const IMPORT = command({
  name: 'import',
  words: 'FILE [PACKAGE...]',
  summary: 'write a file from CSV, Telegraf, Home Assistant, ESPHome, evcc, Node-RED or others',
  details:
    'Reads a register table (CSV); a client configuration: Telegraf, Home Assistant, ESPHome (with its packages), evcc, Wiren Board, Node-RED, modbus_exporter, Solarman, ModbusPal; or SunSpec models or a dump of them. Prints what it did not understand. Exit 1 if it understood nothing.',
  examples: ['import registers.csv -o meter.yaml', 'import telegraf.conf --serial /dev/ttyUSB0'],
  options: OPTIONS,
  parse({ words: [file, ...packages], options, values }): Result<ImportCommand> {
    if (file === undefined) return failure('import takes one file, followed by any ESPHome packages');
    if (values.serial !== undefined && values.port !== undefined)
      return failure("--port can't be used with --serial");
    for (const [option, form] of [
      ['set', 'NAME=VALUE'],
      ['column', 'WHAT=HEADER'],
    ] as const) {
      const wrong = allOf(options, option).find((each) => !/^\w+=/.test(each));
      if (wrong !== undefined) return failure(`--${option}: expected ${form}, got "${wrong}"`);
    }
    const substitutions = pairsOf(options, 'set');
    const columns = new Map(
      allOf(options, 'column').map((text) => [text.replace(/^\w+=/, ''), /^\w+/.exec(text)?.[0] ?? '']),
    );
    return success({ ...values, file, packages, substitutions, columns });
  },
});
