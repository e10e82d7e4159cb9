import { command, type Values } from '../../cli/command-line/commands/scan.js';
import { OUTPUT_OPTIONS, text } from '../../cli/command-line/commands/values.js';
import { failure, type Result, success } from '../../common/result.js';

const OPTIONS = {
  ...OUTPUT_OPTIONS,
  output: {
    ...text('FILE', 'write the page to this file (default: next to the input, with .html added)'),
    short: 'o',
  },
};

/** Write a page that shows the traffic in a file. */
export interface ViewCommand extends Values<typeof OPTIONS> {
  readonly file: string;
}

export const VIEW = command({
  name: 'view',
  words: 'FILE',
  summary: 'write a page that shows a report, a capture or recorded traffic in a browser',
  details:
    'Reads a report (HTML), a capture (pcapng, pcap) or traffic as NDJSON (traffic.file, GET /api/v1/traffic?format=ndjson), up to 16 MiB, and writes one HTML file: the console with the report, or with the last 50,000 frames or events. The page needs no simulator and no network. Prints its path.',
  examples: ['view bus.pcapng', 'view traffic-000001.ndjson -o incident.html'],
  options: OPTIONS,
  parse({ words: [file, ...more], values }): Result<ViewCommand> {
    return file === undefined || more.length > 0
      ? failure('view takes one file')
      : success({ ...values, file });
  },
});
