/**
 * Converts the output of `modbus-sim --help` to a manual page in roff. A heading is a line without
 * indentation, an entry is a term and its text with two spaces in between, and further indented lines
 * continue the text.
 * @param {string} help
 * @param {{version: string, date: string}} about date as 2026-01-31
 */
export function manPage(help, { version, date }) {
  const [title = '', ...lines] = help.trimEnd().split('\n');
  const [name = '', purpose = ''] = title.split(': ');
  return [
    `.TH ${name.toUpperCase()} 1 ${date} "${name} ${version}" "User Commands"`,
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(purpose)}`,
    '.SH SYNOPSIS',
    `.B ${escaped(name)}`,
    '[\\fICOMMAND\\fR] [\\fIOPTION\\fR]...',
    '.SH COMMANDS',
    ...lines.flatMap(paragraph),
    ...FOOTER,
    '',
  ].join('\n');
}

const FOOTER = [
  '.SH SIGNALS',
  '.TP',
  'SIGTERM, SIGINT',
  'end the program within 2 s, with exit code 0',
  '.TP',
  'SIGHUP',
  'under a service manager (NOTIFY_SOCKET), reload the configuration, like modbus\\-sim reload; otherwise the same as SIGTERM',
  '.SH FILES',
  '.TP',
  '/etc/modbus\\-sim/config.yaml',
  'the configuration of modbus\\-sim.service',
  '.TP',
  '/etc/modbus\\-sim/NAME.yaml',
  'the configuration of modbus\\-sim@NAME.service',
  '.TP',
  '/etc/modbus\\-sim/token',
  'the token that clients of these services must send',
  '.TP',
  '/dev/modbus\\-sim/',
  'stable names for USB adapters, by serial number and by USB socket',
  '.SH SEE ALSO',
  '.BR mbpoll (1),',
  '.BR systemctl (1)',
];

/**
 * @param {string} line
 * @returns {string[]}
 */
function paragraph(line) {
  if (line === '') return [];
  const entry = /^ {2}(\S.*?) {2,}(\S.*)$/.exec(line);
  if (entry) return ['.TP', `.B ${escaped(entry[1] ?? '')}`, escaped(entry[2] ?? '')];
  if (/^ {2}\S/.test(line)) return ['.TP', `.B ${escaped(line.trim())}`];
  if (line.startsWith(' ')) return [escaped(line.trim())];
  return [`.SH ${escaped(line.toUpperCase())}`];
}

/**
 * Otherwise hyphens would become typographic ones, and a dot at the beginning of a line a request.
 * @param {string} text
 */
function escaped(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1');
}
