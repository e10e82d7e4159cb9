import { compact } from '../../../common/compact.js';
import { failure, type Result, success } from '../../../common/result.js';
import type { ConfigurationSource } from '../../../files/config/load.js';
import type { Values } from './scan.js';
import { flag, text } from './values.js';

/** The options that name a configuration. */
export const SOURCE_OPTIONS = {
  config: text('FILE', 'the configuration, YAML or JSON (default: the demo)'),
  json_file: text('FILE', 'a file of pymodbus.simulator instead'),
  modbus_server: text('NAME', 'which of its server_list (default: server, or the only one)'),
  modbus_device: text('NAME', 'which of its device_list (default: device, or the only one)'),
};

/** The option that puts all lines on free ports. */
export const FREE_PORTS_OPTION = {
  'free-ports': flag('use free ports and virtual serial lines, whatever the file says; they are printed'),
};

/**
 * The configuration that the options name; the demo when they name none.
 * @returns the source, or what is wrong, as a sentence
 */
export function sourceOf(
  values: Values<typeof SOURCE_OPTIONS & typeof FREE_PORTS_OPTION>,
): Result<ConfigurationSource> {
  const source = namedBy(values);
  return !source.ok || !values['free-ports'] ? source : success({ ...source.value, freePorts: true });
}

function namedBy(values: Values<typeof SOURCE_OPTIONS>): Result<ConfigurationSource> {
  if (values.json_file === undefined) {
    for (const option of ['modbus_server', 'modbus_device'] as const) {
      if (values[option] !== undefined)
        return failure(`--${option} chooses from a pymodbus file, which --json_file names`);
    }
    return values.config === undefined
      ? success({ kind: 'demo' })
      : success({ kind: 'native', file: values.config });
  }
  if (values.config !== undefined)
    return failure('--config and --json_file are two ways to configure, use one of them');
  return success(
    compact({
      kind: 'pymodbus' as const,
      file: values.json_file,
      server: values.modbus_server,
      device: values.modbus_device,
    }),
  );
}
