import { parseArgs } from 'node:util';
import { type Described, seeHelp } from '../../cli/command-line/commands/scan.js';
import { DEFAULT_URL, flag, REMOTE_OPTIONS } from '../../cli/command-line/commands/values.js';
import { failure, type Result, success } from '../../common/result.js';
import { expectedMessage } from '../../common/schema/problem.js';

/** URL and token of a running simulator. */
export interface RunningAt {
  readonly url: string;
  readonly token: string | undefined;
}

/** A request to `modbus-sim extcap`, from Wireshark or from the user who installs it there. */
export type ExtcapRequest =
  | { readonly what: 'interfaces'; readonly at: RunningAt }
  | { readonly what: 'dlts' }
  | { readonly what: 'options'; readonly url: string }
  | {
      readonly what: 'capture';
      readonly at: RunningAt;
      readonly form: string;
      /** Name of the interface, as `--extcap-interfaces` printed it. */
      readonly interface: string;
      /** Path of the pipe that the capture is written to. */
      readonly fifo: string;
    }
  /** @property directory where the program is installed; undefined: ask Wireshark for its own directory */
  | { readonly what: 'install'; readonly directory: string | undefined };

/**
 * The arguments that Wireshark passes (Wireshark Developer's Guide, 8.2), and the arguments of its dialog
 * (`verbs/extcap.ts`).
 */
const OF_WIRESHARK = {
  'extcap-interfaces': { type: 'boolean' },
  'extcap-dlts': { type: 'boolean' },
  'extcap-config': { type: 'boolean' },
  capture: { type: 'boolean' },
  'extcap-interface': { type: 'string' },
  'extcap-version': { type: 'string' },
  'extcap-capture-filter': { type: 'string' },
  fifo: { type: 'string' },
  form: { type: 'string' },
} as const;

const OWN = {
  install: flag("install the interfaces for Wireshark, in DIR or in Wireshark's own directory"),
  ...REMOTE_OPTIONS,
};

/** The help text, written for the user who installs the program in Wireshark. */
export const EXTCAP: Described = {
  name: 'extcap',
  words: '--install [DIR]',
  summary: 'show the lines of a running simulator as interfaces in Wireshark',
  details: `Set MODBUS_SIM_URL in the environment to the address of the simulator (default ${DEFAULT_URL}).`,
  examples: ['extcap --install'],
  options: OWN,
};

/**
 * Parses the arguments after `extcap`. `MODBUS_SIM_URL` and `MODBUS_SIM_TOKEN` in `env` say where the
 * simulator is, unless the arguments do.
 * @returns the request, or an error message
 */
export function parseExtcap(args: readonly string[], env: NodeJS.ProcessEnv): Result<ExtcapRequest> {
  const parsed = parse(args);
  if (!parsed.ok) return parsed;
  const { values, positionals } = parsed.value;
  const url = (values.url || env.MODBUS_SIM_URL || DEFAULT_URL).replace(/\/+$/, '');
  const at = { url, token: values.token || env.MODBUS_SIM_TOKEN || undefined };
  const { read, expected = '' } = REMOTE_OPTIONS.url;
  if (read(url) === undefined) return failure(`--url: ${expectedMessage(expected, url)}`);
  if (values.install) {
    if (positionals.length > 1) return failure('extcap --install takes one directory');
    return success({ what: 'install', directory: positionals[0] });
  }
  if (values['extcap-interfaces']) return success({ what: 'interfaces', at });
  if (values['extcap-dlts']) return success({ what: 'dlts' });
  if (values['extcap-config']) return success({ what: 'options', url });
  const { fifo, form = 'decoded', 'extcap-interface': name } = values;
  if (!values.capture)
    return failure('Wireshark runs extcap; to install it, run modbus-sim extcap --install');
  if (fifo === undefined || name === undefined)
    return failure('--capture needs --fifo and --extcap-interface');
  return success({ what: 'capture', at, form, interface: name, fifo });
}

function parse(args: readonly string[]) {
  try {
    return success(
      parseArgs({ args: [...args], options: { ...OF_WIRESHARK, ...OWN }, allowPositionals: true }),
    );
  } catch (error) {
    // The first sentence says what is wrong. The rest explains how to pass a value that begins with a hyphen.
    const [problem] = (error as Error).message.split('. ', 1);
    return failure(`extcap: ${problem} ${seeHelp('extcap')}`);
  }
}
