import { compact } from '../../../common/compact.js';
import { failure, type Result, success } from '../../../common/result.js';
import { command } from './scan.js';
import { OUTPUT_OPTIONS, type Output, text } from './values.js';

/** Write a native file from a file of another program. */
export interface ImportCommand extends Output {
  readonly kind: 'import';
  readonly file: string;
  /** Kind of the file; recognised by its content when absent. */
  readonly from?: string;
}

export const IMPORT = command({
  name: 'import',
  words: 'FILE',
  summary: 'write a file from a CSV table, Telegraf, Home Assistant, ESPHome, SunSpec …',
  details:
    'Reads a table of registers (CSV), or the configuration of a client: Telegraf, Home Assistant, ESPHome, modbus_exporter, Solarman, ModbusPal; or models of SunSpec, or a dump of them. Says what was not understood; exit 1 if nothing was.',
  options: {
    ...OUTPUT_OPTIONS,
    from: text(
      'KIND',
      'csv, telegraf, home-assistant, esphome, modbus-exporter, solarman, modbuspal or sunspec, when the content does not say what it is',
    ),
  },
  parse({ words: [file, ...more], values: { output, from, force = false } }): Result<ImportCommand> {
    if (file === undefined || more.length > 0) return failure('import takes one file');
    return success({ kind: 'import', file, ...compact({ output, from }), force });
  },
});
