import type { CompletionCommand } from './commands/plain.js';
import type { Described, OptionTable } from './commands/scan.js';
import { SERVE_OPTIONS } from './commands/serve.js';
import type { Extension } from './extension.js';
import { describedWith } from './help.js';

/** What a shell offers for a word: files, catalogue entries, or some words. */
type Offer = 'files' | 'entries' | readonly string[];

interface CompletedCommand {
  /** Name of the command; empty for the program without one. */
  readonly name: string;
  readonly summary: string;
  readonly offer: Offer;
  readonly options: readonly {
    readonly name: string;
    readonly short?: string | undefined;
    readonly help: string;
    /** Absent for an option without a value. */
    readonly offer?: Offer;
  }[];
}

/** This is fast: the program loads only the code that reads the catalogue. */
const ENTRIES = 'modbus-sim catalogue 2>/dev/null | sed "s/ .*//"';

/**
 * The script that lets a shell complete the program's commands, options and values. It uses the same tables
 * as the help.
 */
export function completion({ shell }: CompletionCommand, extensions: readonly Extension[]): string {
  const commands = describedWith(extensions);
  const help = { name: 'help', words: 'COMMAND', summary: 'explain a command and its options', options: {} };
  const parts = [
    { name: '', words: '', summary: '', options: SERVE_OPTIONS },
    ...commands,
    { ...help, choices: commands.map(({ name }) => name) },
  ];
  return { bash, zsh, fish }[shell](parts.map(partOf));
}

function partOf({
  name,
  words,
  choices,
  summary,
  options,
}: Omit<Described, 'details' | 'examples'>): CompletedCommand {
  const shown: OptionTable = {
    ...options,
    help: { type: 'boolean', short: 'h', read: () => true, help: 'explain the command' },
  };
  return {
    ...{ name, summary, offer: offerFor(words, choices) },
    options: Object.entries(shown).flatMap(([option, { short, value, choices: words, help }]) =>
      help === undefined
        ? []
        : { name: option, short, help, ...(value !== undefined && { offer: offerFor(value, words) }) },
    ),
  };
}

/** What to offer where the help has this word: `FILE`, `[FILE|DIR]`, `[ID]`, `N`. */
function offerFor(word: string, choices: readonly string[] = []): Offer {
  if (/\b(FILE|DIR|PATH)\b/.test(word)) return 'files';
  return /\bID\b/.test(word) ? 'entries' : choices;
}

function bash(parts: readonly CompletedCommand[]): string {
  const offering = (offer: Offer) => {
    if (offer === 'files') return '_modbus_sim_files';
    return `_modbus_sim_offer ${offer === 'entries' ? `"$(${ENTRIES})"` : `'${offer.join(' ')}'`}`;
  };
  const rows = parts.flatMap(({ name, offer, options }) => [
    ...options.flatMap(({ name: option, short, offer: value }) => {
      const names = [`'${name} --${option}'`, ...(short === undefined ? [] : [`'${name} -${short}'`])];
      return value === undefined ? [] : `    ${names.join(' | ')}) ${offering(value)} ;;`;
    }),
    `    '${name} '*)`,
    `      if [[ $word == -* ]]; then _modbus_sim_offer '${options.map((option) => `--${option.name}`).join(' ')}'`,
    `      else ${name === '' ? '_modbus_sim_offer "$commands"' : offering(offer)}; fi`,
    '      ;;',
  ]);
  return `# Completion of modbus-sim for bash.
_modbus_sim_offer() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }
_modbus_sim_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
_modbus_sim() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command= each
  local commands='${parts.flatMap(({ name }) => name || []).join(' ')}'
  ((COMP_CWORD > 1)) && for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ " $commands " == *" $each "* ]] && command=$each && break
  done
  case "$command $previous" in
${rows.join('\n')}
  esac
}
complete -F _modbus_sim modbus-sim
`;
}

function zsh(parts: readonly CompletedCommand[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const plain = (text: string) => text.replaceAll(/[[\]:]/g, String.raw`\$&`);
  const offering = (offer: Offer) => {
    if (offer === 'files') return '_files';
    return offer === 'entries' ? `{compadd -- $(${ENTRIES})}` : `(${offer.join(' ')})`;
  };
  const specs = ({ options }: CompletedCommand) =>
    options.flatMap(({ name, short, help, offer }) => {
      const value = offer === undefined ? '' : `:value:${offering(offer)}`;
      const names = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
      return names.map((each) => quoted(`${each}[${plain(help)}]${value}`));
    });
  const [program, ...named] = parts as [CompletedCommand, ...CompletedCommand[]];
  return `#compdef modbus-sim
_modbus_sim() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands=(${named.map(({ name, summary }) => quoted(`${name}:${plain(summary)}`)).join(' ')})
  _arguments -C ${[...specs(program), "'1: :->command'", "'*:: :->rest'"].join(' ')}
  case $state in
    command) _describe command commands ;;
    rest)
      case $words[1] in
${named.map((part) => `        ${part.name}) _arguments ${[...specs(part), quoted(`*:word:${offering(part.offer)}`)].join(' ')} ;;`).join('\n')}
      esac
      ;;
  esac
}
if [[ $funcstack[1] == _modbus_sim ]]; then _modbus_sim "$@"; else compdef _modbus_sim modbus-sim; fi
`;
}

function fish(parts: readonly CompletedCommand[]): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  const offering = (offer: Offer) => {
    if (offer === 'files') return '-r -F';
    return `-x${offer === 'entries' ? ` -a '(${ENTRIES})'` : offer.length > 0 ? ` -a '${offer.join(' ')}'` : ''}`;
  };
  const rows = parts.flatMap(({ name, summary, offer, options }) => {
    const when = name === '' ? '__fish_use_subcommand' : `'__fish_seen_subcommand_from ${name}'`;
    const words = offer === 'files' ? '-F' : offering(offer).replace('-x', '');
    return [
      ...(name === '' ? [] : [`-n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`]),
      ...(words === '' ? [] : [`-n ${when} ${words}`]),
      ...options.map(({ name: option, short, help, offer: value }) =>
        [
          `-n ${when} -l ${option} -d ${quoted(help)}`,
          ...(short === undefined ? [] : [`-s ${short}`]),
          ...(value === undefined ? [] : [offering(value)]),
        ].join(' '),
      ),
    ];
  });
  return `# Completion of modbus-sim for fish.\n${['-f', ...rows].map((row) => `complete -c modbus-sim ${row}\n`).join('')}`;
}
