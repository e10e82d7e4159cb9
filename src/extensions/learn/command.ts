import { command, type Values } from '../../cli/command-line/commands/scan.js';
import {
  DEFAULT_URL,
  flag,
  OUTPUT_OPTIONS,
  REMOTE_OPTIONS,
  text,
} from '../../cli/command-line/commands/values.js';
import { compact } from '../../common/compact.js';
import { failure, type Result, success } from '../../common/result.js';

const OPTIONS = {
  ...OUTPUT_OPTIONS,
  scenario: text('FILE', 'also write a scenario that expects the same requests from a client'),
  'as-recorded': flag('reproduce when values changed and how long replies took'),
  loop: flag('with --as-recorded: start again at the end'),
  verify: flag('send the same requests to the learned devices, even if there are 20,000 or more'),
  'no-verify': flag('do not send the requests again'),
  line: text('NAME', 'the line of the running simulator'),
  ...REMOTE_OPTIONS,
};

/** Write a native file from the logs of clients and servers. */
export interface LearnCommand extends Pick<Values<typeof OPTIONS>, 'output' | 'force' | 'scenario'> {
  readonly files: readonly string[];
  /** The running simulator and the line whose traffic is read; undefined if only files are read. */
  readonly from?: { readonly url: string; readonly token?: string; readonly line: string };
  /** Whether to send the learned devices the requests in the log; undefined: depends on their number. */
  readonly verify?: boolean;
  /** How to replay the log as recorded; undefined: values by reads, and usual reply times. */
  readonly recorded?: { readonly loop: boolean };
}

export const LEARN = command({
  name: 'learn',
  words: 'FILE...',
  summary: 'write a file with devices that reproduce a log or a capture',
  details:
    'Reads logs of clients and servers (pymodbus, libmodbus, hexadecimal lines) and captures (pcap, pcapng). With --line it reads the traffic of a line of a running simulator. Then it sends the same requests to the learned devices, and says how many replies are the same.',
  examples: ['learn client.log -o meter.yaml', 'learn --line bench --url http://127.0.0.1:8080'],
  options: OPTIONS,
  parse({ words: files, values, token: tokenInEnvironment }): Result<LearnCommand> {
    const { output, scenario, force, line, url, token } = values;
    if (files.length === 0 && line === undefined) return failure('learn needs one or more files, or --line');
    if (line === undefined && (url ?? token) !== undefined)
      return failure('--url and --token are for --line');
    if (scenario !== undefined && output === undefined)
      return failure('--scenario needs -o, which names the bench for the scenario');
    const { verify: asks, 'no-verify': asksNot } = values;
    if (asks && asksNot) return failure('--verify and --no-verify exclude each other');
    const verify = asksNot ? false : asks;
    const { 'as-recorded': isAsRecorded = false, loop = false } = values;
    if (loop && !isAsRecorded) return failure('--loop is for --as-recorded');
    const recorded = isAsRecorded ? { loop } : undefined;
    const from =
      line === undefined
        ? undefined
        : { url: url ?? DEFAULT_URL, line, ...compact({ token: token ?? tokenInEnvironment }) };
    return success({ files, ...compact({ output, scenario, force, from, verify, recorded }) });
  },
});
